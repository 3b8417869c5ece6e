import type { IPublishPacket } from 'mqtt-packet'
import type { ConnectOptions, MqttAddress, Payload, PublishOptions } from './mqtt-client.ts'

/** By protocol level. */
export const versionNames = { 4: 'MQTT 3.1.1', 5: 'MQTT 5' } as const
export type Version = keyof typeof versionNames

/** Half of a cast each: the version of the client with this number. */
export function versionOf(number: number): Version {
  return number % 2 === 0 ? 4 : 5
}

/** Of a session that stays, seconds. */
const expiry = 86_400

/** How a client connects that keeps its session, or that has none beyond the connection. */
export function sessionIn(
  version: Version,
  isPersistent: boolean,
): Pick<MqttAddress & ConnectOptions, 'protocolVersion' | 'clean' | 'properties'> {
  if (version === 4) return { protocolVersion: version, clean: !isPersistent }
  // Without an expiry the session ends with the connection, even though the client asks for it again.
  const properties = isPersistent ? { sessionExpiryInterval: expiry } : {}
  return { protocolVersion: version, clean: false, properties }
}

/** A write, as it is published in its version. */
export interface VersionedWrite {
  readonly body: Payload
  /** In version 5 the write id, which goes in a User Property. Else it stands in the body. */
  readonly id?: string
}

/** How the client of one connection puts its writes: in version 5 half of them with a topic alias. */
export class WriteForm {
  readonly #version: Version
  readonly #aliases = new Map<string, number>()

  constructor(version: Version) {
    this.#version = version
  }

  /** The topic as it is sent, and the properties, to be sent in this order. */
  of(topic: string, { id }: VersionedWrite): { topic: string } & Pick<PublishOptions, 'properties'> {
    if (this.#version === 4) return { topic }
    const properties: IPublishPacket['properties'] = id === undefined ? {} : { userProperties: { id } }
    if (Math.random() < 0.5) return { topic, properties }
    const known = this.#aliases.get(topic)
    const topicAlias = known ?? this.#aliases.size + 1
    this.#aliases.set(topic, topicAlias)
    return { topic: known === undefined ? topic : '', properties: { ...properties, topicAlias } }
  }
}
