import { connectAsync } from 'mqtt'
import { type ActivatedThing, call } from './thing.ts'
import type { VoyageRecord } from './voyage.ts'

/** One way into the service, as a device uses it. */
export interface Door {
  /** How it is called in what the demo prints. */
  readonly name: string
  /** What says that a write is durable. */
  readonly acknowledgement: string
  /** How many writes the device has under way at once. */
  readonly writesInFlight: number
  /** Resolves when the records are durable. @throws Error naming what went wrong */
  write(records: readonly VoyageRecord[]): Promise<void>
  close(): Promise<void>
}

/** A POST for each write, several at once. */
export function httpDoor(url: string, { thingToken }: ActivatedThing): Door {
  return {
    name: 'HTTP',
    acknowledgement: '201',
    writesInFlight: 16,
    write: async values => {
      await call(`${url}/v2/things/${thingToken}`, { method: 'POST', body: JSON.stringify({ values }) })
    },
    close: async () => {},
  }
}

/** A QoS 1 PUBLISH for each write, pipelined on one connection. */
export async function mqttDoor(url: string, { thingToken }: ActivatedThing): Promise<Door> {
  const client = await connectAsync(url, { username: thingToken, reconnectPeriod: 0 })
  // The demo does not wait for a server that is gone: writes under way fail.
  client.once('close', () => client.end(true))
  return {
    name: 'MQTT QoS 1',
    acknowledgement: 'PUBACK',
    writesInFlight: 64,
    write: async values => {
      await client.publishAsync(`things/${thingToken}/write`, JSON.stringify({ values }), { qos: 1 })
    },
    close: () => client.endAsync(),
  }
}
