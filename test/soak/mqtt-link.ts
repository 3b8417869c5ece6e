import { connectAccepted, type Message, type MqttClient } from '../helpers/mqtt-client.ts'

export interface LinkSetup {
  /** `mqtt://<host>:<port>` or `ws://<host>:<port>/mqtt`. */
  readonly url: string
  readonly clientId: string
  /** A thing token or the admin key. */
  readonly password: string
  /** Default true. */
  readonly clean?: boolean
  /** How fast it reads, over TCP only. Default: as fast as it can. */
  readonly bytesPerSecond?: number
  readonly onMessage?: (message: Message) => void
}

/** Connects a client that keeps nothing of what it received. @throws ConnectRefused @throws Error without CONNACK */
export function openLink({ onMessage = () => {}, ...setup }: LinkSetup): Promise<MqttClient> {
  return connectAccepted({ username: 'load', deadline: 30_000, onMessage, ...setup })
}
