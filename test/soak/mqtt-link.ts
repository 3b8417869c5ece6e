import { connectAccepted, type Message, type MqttClient } from '../helpers/mqtt-client.ts'
import { sessionIn, type Version } from '../helpers/mqtt-versions.ts'

export interface LinkSetup {
  /** `mqtt://<host>:<port>` or `ws://<host>:<port>/mqtt`. */
  readonly url: string
  /** Default 4. */
  readonly version?: Version
  readonly clientId: string
  /** A thing token or the admin key. */
  readonly password: string
  /** Whether it keeps its session. Default false. */
  readonly isPersistent?: boolean
  /** How fast it reads, over TCP only. Default: as fast as it can. */
  readonly bytesPerSecond?: number
  readonly onMessage?: (message: Message) => void
}

/**
 * Connects a client that keeps nothing of what it received; in version 5 the server may use topic aliases.
 *
 * @throws ConnectRefused @throws Error without CONNACK
 */
export function openLink({
  onMessage = () => {},
  version = 4,
  isPersistent = false,
  ...setup
}: LinkSetup): Promise<MqttClient> {
  const { properties, ...session } = sessionIn(version, isPersistent)
  const topics = new Map<number, string>()
  return connectAccepted({
    ...{ username: 'load', deadline: 30_000, ...session, ...setup },
    ...(properties && { properties: { ...properties, topicAliasMaximum: 16 } }),
    onMessage: message => {
      const { topicAlias } = message.properties ?? {}
      if (topicAlias !== undefined) {
        if (message.topic !== '') topics.set(topicAlias, message.topic)
        message.topic = topics.get(topicAlias) ?? ''
      }
      onMessage(message)
    },
  })
}
