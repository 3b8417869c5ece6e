import { EventEmitter, once } from 'node:events'
import { connectAsync } from 'mqtt'
import type { InstrumentRecord } from './instruments.ts'
import { asSent, type GivenRecord } from './service.ts'
import { positionKey } from './voyage.ts'

/** How long to wait for the next message, milliseconds. */
const patience = 30_000

/** Collects what a subscriber to all things receives while the things write. */
export interface Watcher {
  /** The readings of a thing, in the order in which they arrived. */
  readingsOf(thingId: string): readonly InstrumentRecord[]
  /** The positions of things, in order of arrival, without records that were too late to become a thing's position. */
  readonly positions: readonly InstrumentRecord[]
  /** Resolves when `isAll` returns true. @throws Error if no message arrives for `patience` milliseconds */
  until(isAll: () => boolean): Promise<void>
  close(): Promise<void>
}

/** Subscribes to every value at QoS 1, over WebSocket, like a page in a browser. */
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
