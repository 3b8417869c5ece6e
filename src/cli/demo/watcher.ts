import { EventEmitter, once } from 'node:events'
import { connectAsync } from 'mqtt'
import type { InstrumentRecord } from './instruments.ts'
import { asSent, type GivenRecord } from './service.ts'
import { positionKey } from './voyage.ts'

/** How long it waits for the next message, milliseconds. */
const patience = 30_000

/** What someone who watches all things is sent while they write. */
export interface Watcher {
  /** The readings of a thing, in the order in which they arrived. */
  readingsOf(thingId: string): readonly InstrumentRecord[]
  /** The positions that things have had: one that came too late to be a position is not there. */
  readonly positions: readonly InstrumentRecord[]
  /** Resolves when what has arrived is all. @throws Error when nothing arrives any more */
  until(isAll: () => boolean): Promise<void>
  close(): Promise<void>
}

/** Subscribes to every value at QoS 1, over WebSocket as a page in a browser does. */
export async function openWatcher(webSocketUrl: string, sessionToken: string): Promise<Watcher> {
  const readings = new Map<string, InstrumentRecord[]>()
  const positions: InstrumentRecord[] = []
  const arrivals = new EventEmitter()
  const credentials = { username: 'watcher', password: sessionToken }
  const client = await connectAsync(webSocketUrl, { ...credentials, reconnectPeriod: 0 })
  const readingsOf = (thingId: string) => {
    const known = readings.get(thingId) ?? []
    readings.set(thingId, known)
    return known
  }
  client.on('message', (topic, payload) => {
    const record = asSent(JSON.parse(payload.toString()) as GivenRecord)
    const [, thingId = ''] = topic.split('/')
    const those = record.key === positionKey ? positions : readingsOf(thingId)
    those.push(record)
    arrivals.emit('record')
  })
  await client.subscribeAsync('things/+/values/#', { qos: 1 })
  return {
    readingsOf,
    positions,
    until: async isAll => {
      while (!isAll()) await once(arrivals, 'record', { signal: AbortSignal.timeout(patience) })
    },
    close: () => client.endAsync(),
  }
}
