import type { ServerProcess } from '../helpers/server-process.ts'
import type { LiveClient, LiveSubscriber, Subscribing } from './live-client.ts'

type QoS = 0 | 1 | 2

export interface Outgoing {
  readonly topic: string
  readonly payload: string | Buffer
  readonly qos: QoS
  /** Default: false. */
  readonly retain?: boolean
}

/** What a subscriber may ask for besides. */
export interface DrivenSubscribing extends Subscribing {
  /** Whether the session of its client id, too, begins anew and ends with the connection. Default: false. */
  readonly clean?: boolean
  readonly will?: Outgoing & { readonly payload: string }
  /** How payloads are put into the inbox. Default: utf8. */
  readonly encoding?: 'utf8' | 'hex'
}

export interface DrivenSubscriber extends LiveSubscriber {
  /** What SUBACK says of each filter: its QoS, or 128 for a refused one. */
  readonly granted: readonly number[]
  /** Ends the connection without a DISCONNECT. */
  kill(): Promise<void>
}

/** A subscriber that tells more of itself than every live client can. */
export interface DrivenClient extends LiveClient {
  subscribe(server: ServerProcess, subscribing: DrivenSubscribing): Promise<DrivenSubscriber>
}

/** Both sides of one client program or library, as a test has it publish and subscribe. */
export interface ClientDriver {
  readonly name: 'mosquitto' | 'paho' | 'mqtt.js'
  readonly subscribe: DrivenClient['subscribe']
  /**
   * Publishes in order, and resolves when everything of QoS 1 and 2 is acknowledged and the client is gone.
   *
   * @param token of a thing
   */
  publish(server: ServerProcess, token: string, messages: readonly Outgoing[]): Promise<void>
}
