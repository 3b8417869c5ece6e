import { EventEmitter, once } from 'node:events'
import { connectAsync } from 'mqtt'
import { type ActivatedThing, asSent, type GivenRecord } from './thing.ts'
import { positionKey, type VoyageRecord } from './voyage.ts'

/** How long it waits for the next message, milliseconds. */
const patience = 30_000

/** What someone who watches the boat is sent while it sails. */
export interface Watcher {
  /** The readings, in the order in which they arrived. */
  readonly readings: readonly VoyageRecord[]
  /** The positions that the boat has had: one that came too late to be its position is not there. */
  readonly positions: readonly VoyageRecord[]
  /** Resolves when what has arrived is all. @throws Error when nothing arrives any more */
  until(isAll: () => boolean): Promise<void>
  close(): Promise<void>
}

/** Subscribes to everything of the thing at QoS 1, over WebSocket as a page in a browser does. */
export async function openWatcher(webSocketUrl: string, { thingToken }: ActivatedThing): Promise<Watcher> {
  const readings: VoyageRecord[] = []
  const positions: VoyageRecord[] = []
  const arrivals = new EventEmitter()
  const client = await connectAsync(webSocketUrl, { username: thingToken, reconnectPeriod: 0 })
  client.on('message', (_topic, payload) => {
    const record = asSent(JSON.parse(payload.toString()) as GivenRecord)
    const those = record.key === positionKey ? positions : readings
    those.push(record)
    arrivals.emit('record')
  })
  await client.subscribeAsync(`things/${thingToken}/values/#`, { qos: 1 })
  return {
    readings,
    positions,
    until: async isAll => {
      while (!isAll()) await once(arrivals, 'record', { signal: AbortSignal.timeout(patience) })
    },
    close: () => client.endAsync(),
  }
}
