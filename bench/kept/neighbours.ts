import { createThing, type Thing } from '../../test/helpers/http-client.ts'
import { connectAccepted } from '../../test/helpers/mqtt-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { openLink } from '../../test/soak/mqtt-link.ts'
import { bodyOf, writeSteadily } from '../load/doors.ts'
import { leaveSessions, thingOn } from './stage.ts'

const topic = 'tele/neighbour'
const rates = { writes: 50, messages: 10 }

/** What a neighbour got while another principal kept all that it may. */
export interface Neighbourhood {
  readonly acked: number
  /** Not acked: the connection was closed, or 30 s passed. */
  readonly refused: number
  /** Of an ack, milliseconds. */
  readonly longest: number
}

/** A thing that publishes at QoS 1, so many times a second, until the call of what this returns. */
async function publishSteadily(
  { mqttUrl: url }: ServerProcess,
  { thingToken: password }: Thing,
  rate: number,
  messageOf: (place: number) => readonly [topic: string, payload: string],
): Promise<() => Promise<Neighbourhood>> {
  const link = await openLink({ url, clientId: 'neighbour', password })
  const counts = { acked: 0, refused: 0, longest: 0 }
  let sent = 0
  let isOver = false
  const publish = async () => {
    const begin = performance.now()
    await link.publish(...messageOf(sent++)).then(
      () => counts.acked++,
      () => counts.refused++,
    )
    counts.longest = Math.max(counts.longest, performance.now() - begin)
  }
  const publishing = writeSteadily(
    rate,
    () => !isOver,
    publish,
    () => {},
  )
  return async () => {
    isOver = true
    await publishing
    await link.destroy()
    return counts
  }
}

/** A thing that writes 50 readings a second. */
export async function writeReadings(server: ServerProcess): Promise<() => Promise<Neighbourhood>> {
  const thing = await createThing(server)
  const write = (place: number) => [`things/${thing.thingId}/write`, bodyOf('n', place)] as const
  return await publishSteadily(server, thing, rates.writes, write)
}

/** A thing that publishes ten messages a second for a session of its own that is away; `found` is how many that finds. */
export async function keepMessages(
  server: ServerProcess,
): Promise<() => Promise<Neighbourhood & { readonly found: number }>> {
  const thing = await thingOn(server)
  const [away] = await leaveSessions(server, thing, [topic])
  const end = await publishSteadily(server, thing, rates.messages, place => [topic, String(place)])
  return async () => {
    const counts = await end()
    const texts = new Set<string>()
    let onComplete = () => {}
    const complete = new Promise<void>(resolve => (onComplete = resolve))
    const onMessage = ({ payload }: { readonly payload: Buffer }) => {
      texts.add(String(payload))
      if (texts.size === counts.acked) onComplete()
    }
    const client = await connectAccepted({ url: server.mqttUrl, ...away, clean: false, onMessage })
    await Promise.race([complete, client.closed])
    await client.disconnect()
    return { ...counts, found: texts.size }
  }
}
