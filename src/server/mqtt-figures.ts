import type { Duplex } from 'node:stream'
import type { Reason } from '../errors.ts'
import { ThingwireError } from '../errors.ts'
import { Tally } from './metrics/tally.ts'

/** What the MQTT door of the server counts of its connections. */
export class MqttFigures {
  /** Open now, by how they came in. */
  readonly connections = { mqtt: 0, websocket: 0 }
  /** CONNECTs that were answered, by the return code of CONNACK. */
  readonly connects = new Tally<string>(['0', '1', '2', '3', '4', '5'])
  /** Connections that did not end in order, by the reason if it is one of the catalogue. */
  readonly brokenOff = new Tally<Reason | 'other'>(['other'])

  /** A connection is handed to the broker. */
  opened(connection: Duplex, kind: 'mqtt' | 'websocket'): void {
    this.connections[kind]++
    connection.once('close', () => {
      this.connections[kind]--
    })
  }

  connected(returnCode: number): void {
    this.connects.add(String(returnCode))
  }

  broken(error: Error): void {
    this.brokenOff.add(error instanceof ThingwireError ? error.reason : 'other')
  }
}
