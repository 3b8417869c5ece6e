import { connectAsync } from 'mqtt'
import type { Server } from '../../server/index.ts'
import type { InstrumentRecord } from './instruments.ts'
import { call, type RegisteredInstrument } from './service.ts'

/** Sends the records of one instrument to the server. */
export interface Door {
  /** Maximum number of concurrent writes while the history is sent. */
  readonly writesInFlight: number
  /** Resolves when the records are durable or, over MQTT, have been refused. @throws Error naming the cause of a failure */
  write(records: readonly InstrumentRecord[]): Promise<void>
  close(): Promise<void>
}

export async function openDoor(server: Server, instrument: RegisteredInstrument): Promise<Door> {
  return instrument.door === 'MQTT'
    ? await mqttDoor(server.mqttUrl, instrument)
    : httpDoor(server.url, instrument)
}

/** Sends a POST for each write. Several writes may be under way at the same time. */
function httpDoor(url: string, { thingToken }: RegisteredInstrument): Door {
  return {
    writesInFlight: 16,
    write: async values => {
      await call(`${url}/v2/things/${thingToken}`, { method: 'POST', body: JSON.stringify({ values }) })
    },
    close: async () => {},
  }
}

/** Sends a QoS 1 PUBLISH for each write, pipelined on one connection. */
async function mqttDoor(url: string, { thingToken }: RegisteredInstrument): Promise<Door> {
  const client = await connectAsync(url, { username: thingToken, reconnectPeriod: 0 })
  // When the connection closes, pending writes fail at once: the demo does not wait for the server to come back.
  client.once('close', () => client.end(true))
  return {
    writesInFlight: 64,
    write: async values => {
      await client.publishAsync(`things/${thingToken}/write`, JSON.stringify({ values }), { qos: 1 })
    },
    close: () => client.endAsync(),
  }
}
