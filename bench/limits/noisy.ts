import { setTimeout as delay } from 'node:timers/promises'
import type { Thing } from '../../test/helpers/http-client.ts'
import { HttpConnection, reasonOf } from '../../test/helpers/http-connection.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { openLink } from '../../test/soak/mqtt-link.ts'
import { bodyOf } from '../load/doors.ts'

export type Door = 'MQTT' | 'HTTP'

export interface Load {
  readonly server: ServerProcess
  readonly thing: Thing
  /** Writes a second. */
  readonly rate: number
  /** Milliseconds. */
  readonly duration: number
  /** The number in the next write. */
  readonly nextValue: () => number
}

/** What came of a load. */
export interface Outcome {
  /** When the first was sent, on the clock of the acks. */
  readonly begin: number
  readonly sent: number
  /** Writes that were acknowledged: their number, and when that was; in the order of the acks. */
  readonly acked: readonly {
    readonly value: number
    readonly at: number
    readonly afterMilliseconds: number
  }[]
  /** Numbers of the writes that were refused with 429. */
  readonly refused: readonly number[]
  /** Answers that are none of the contract's. */
  readonly unexpected: readonly string[]
}

/** Milliseconds between two packs of writes. */
const beat = 1
const httpConnections = 50

export const key = 'n'
export const makeNoise: Readonly<Record<Door, (load: Load) => Promise<Outcome>>> = {
  MQTT: overMqtt,
  HTTP: overHttp,
}

/** At QoS 1, on one connection, which is broken off at the end: what is not acknowledged then, is not owed. */
async function overMqtt(load: Load): Promise<Outcome> {
  const { server, thing, nextValue } = load
  const password = thing.thingToken
  const link = await openLink({ url: server.mqttUrl, clientId: 'noisy', password })
  const acked: Outcome['acked'][number][] = []
  const sending: Promise<void>[] = []
  const { begin, sent } = await steadily(load, () => {
    const value = nextValue()
    const sentAt = performance.now()
    const publishing = link.publish(`things/${thing.thingId}/write`, bodyOf(key, value))
    const noted = publishing.then(() => {
      const at = performance.now()
      acked.push({ value, at, afterMilliseconds: at - sentAt })
    })
    sending.push(noted.catch(() => {}))
  })
  void link.destroy()
  await Promise.all(sending)
  return { begin, sent, acked, refused: [], unexpected: [] }
}

async function overHttp(load: Load): Promise<Outcome> {
  const { server, thing, nextValue } = load
  const connection = new HttpConnection(server.url, httpConnections)
  const acked: Outcome['acked'][number][] = []
  const refused: number[] = []
  const unexpected: string[] = []
  const sending: Promise<void>[] = []
  const { begin, sent } = await steadily(load, () => {
    const value = nextValue()
    const sentAt = performance.now()
    const answering = connection.post(`/v2/things/${thing.thingToken}`, bodyOf(key, value))
    const noted = answering.then(answer => {
      const at = performance.now()
      const { status, headers } = answer
      const [reason, retryAfter] = [reasonOf(answer), Number(headers['retry-after'] ?? 0)]
      if (status === 201) acked.push({ value, at, afterMilliseconds: at - sentAt })
      else if (status === 429 && reason === 'write_rate_exceeded' && retryAfter >= 1) refused.push(value)
      else unexpected.push(`${status} ${reason}, retry after ${retryAfter}`)
    })
    sending.push(noted.catch((error: unknown) => void unexpected.push(String(error))))
  })
  await Promise.all(sending)
  connection.close()
  return { begin, sent, acked, refused, unexpected }
}

/** @returns when it was called first, and how often */
async function steadily({ rate, duration }: Load, send: () => void) {
  const begin = performance.now()
  let sent = 0
  for (let passed = 0; passed < duration; passed = performance.now() - begin) {
    for (const due = (passed * rate) / 1_000; sent < due; sent++) send()
    await delay(beat)
  }
  return { begin, sent }
}
