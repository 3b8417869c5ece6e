import { connectAsync } from 'mqtt'
import type { Server } from '../../server/index.ts'
import type { InstrumentRecord } from './instruments.ts'
import { call, type RegisteredInstrument } from './service.ts'

/** The way of one instrument into the service. */
export interface Door {
  /** How many writes the device has under way at once where it sends what it has kept. */
  readonly writesInFlight: number
  /** Resolves when the records are durable, or over MQTT refused. @throws Error naming what went wrong */
  write(records: readonly InstrumentRecord[]): Promise<void>
  close(): Promise<void>
}

export async function openDoor(server: Server, instrument: RegisteredInstrument): Promise<Door> {
  return instrument.door === 'MQTT'
    ? await mqttDoor(server.mqttUrl, instrument)
    : httpDoor(server.url, instrument)
}

/** A POST for each write, several at once. */
function httpDoor(url: string, { thingToken }: RegisteredInstrument): Door {
  return {
    writesInFlight: 16,
    write: async values => {
      await call(`${url}/v2/things/${thingToken}`, { method: 'POST', body: JSON.stringify({ values }) })
    },
    close: async () => {},
  }
}

/** A QoS 1 PUBLISH for each write, pipelined on one connection. */
async function mqttDoor(url: string, { thingToken }: RegisteredInstrument): Promise<Door> {
  const client = await connectAsync(url, { username: thingToken, reconnectPeriod: 0 })
  // The demo does not wait for a server that is gone: writes under way fail.
  client.once('close', () => client.end(true))
  return {
    writesInFlight: 64,
    write: async values => {
      await client.publishAsync(`things/${thingToken}/write`, JSON.stringify({ values }), { qos: 1 })
    },
    close: () => client.endAsync(),
  }
}
