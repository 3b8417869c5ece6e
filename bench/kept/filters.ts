import { Changes } from '../../test/helpers/changes.ts'
import type { JudgedLines } from '../../test/helpers/judged-lines.ts'
import {
  connectAccepted,
  encodePackets,
  isOf,
  type MqttClient,
  publishPacket,
} from '../../test/helpers/mqtt-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { median, rotated } from '../program.ts'
import { openStage, publisherOn, thingOn } from './stage.ts'

const topic = 'tele/d0/STATE'
const messages = 5_000
const rounds = 5
const filtersAtOnce = 500
/** Milliseconds. */
const deadline = 120_000
/** Times as long as for a client with one filter. */
const bound = 1.5

/** 2,000 filters, of which the first alone matches the topic. */
const manyFilters = [
  ...Array.from({ length: 1_000 }, (_, place) => `tele/d${place}/STATE`),
  ...Array.from({ length: 500 }, (_, place) => `tele/+/x${place}`),
  ...Array.from({ length: 500 }, (_, place) => `tele/w${place}/#`),
]
const sides = { 'one filter': [topic], '2,000 filters': manyFilters }

/** Time of 5,000 messages to a client with 2,000 filters, beside a client with one, in alternate rounds. */
export async function judgeFilters(judged: JudgedLines): Promise<void> {
  const { server } = await openStage()
  const publisher = await publisherOn(server)
  for (const clean of [true, false]) {
    const times: Record<string, number[]> = { 'one filter': [], '2,000 filters': [] }
    for (let round = 0; round <= rounds; round++) {
      for (const [side, filters] of rotated(Object.entries(sides), round)) {
        const took = await deliverTo(filters, clean, server, publisher)
        // What V8 compiles first is no side's.
        if (round > 0) times[side]?.push(took)
      }
    }
    const [one = Number.NaN, many = Number.NaN] = Object.values(times).map(median)
    judged.line(
      many / one <= bound,
      `${messages} messages to a ${clean ? 'clean' : 'persistent'} session with 2,000 filters: ` +
        `${many.toFixed(0)} ms, with one ${one.toFixed(0)} ms; ratio ${(many / one).toFixed(2)} (bound ${bound})`,
    )
  }
  await server.stop()
}

/** @returns milliseconds from the first publish until the client has all */
async function deliverTo(
  filters: readonly string[],
  clean: boolean,
  server: ServerProcess,
  publisher: MqttClient,
): Promise<number> {
  const { thingToken: username } = await thingOn(server)
  const client = { url: server.mqttUrl, username, clientId: 'subscriber' }
  let received = 0
  const changes = new Changes()
  const onMessage = () => {
    received++
    changes.tell()
  }
  const subscriber = await connectAccepted({ ...client, clean, onMessage })
  for (let from = 0; from < filters.length; from += filtersAtOnce) {
    const some = filters.slice(from, from + filtersAtOnce)
    await subscriber.subscribeTo(...some.map(filter => ({ topic: filter, qos: 1 }) as const))
  }
  const bytes = encodePackets(
    ...Array.from({ length: messages }, (_, n) => publishPacket(topic, 'on', { messageId: n + 1 })),
  )
  const begin = performance.now()
  publisher.sendBytes(bytes)
  if (!(await changes.until(() => received === messages, deadline)))
    throw new Error(`only ${received} messages`)
  const took = performance.now() - begin
  await publisher.next(isOf('puback', messages))
  await subscriber.takeLeave()
  // The session ends: it is owed nothing of later rounds.
  await (await connectAccepted({ ...client, clean: true })).takeLeave()
  return took
}
