import { generate } from 'mqtt-packet'
import type { MqttWrites, Version } from './writes.ts'

export interface Identity {
  readonly clientId: string
  readonly username?: string
  readonly password?: string
  readonly version?: Version
  /** Of version 5: seconds that the session outlasts a connection that breaks. Default 0. */
  readonly sessionExpiry?: number
}

/**
 * Everything that is sent and received in the course of a window, encoded before it is needed. A batch is what has one ack:
 * at QoS 1 a publish; at QoS 0 half a window and a PINGREQ behind it, whose answer says that the server has read them all.
 */
export interface ReadyBatches {
  readonly count: number
  /** Of each batch. */
  readonly publishes: number
  /** All batches, one behind the other. */
  readonly bytes: Buffer
  /** Goes in the place of the first batch when that is sent for the first time: it has the topic of an alias. */
  readonly opening: Buffer
  /** The acks of all batches, in the same order. */
  readonly acks: Buffer
}

/** The session ends with the connection. */
export function disconnectPacket({ version = 4 }: Pick<Identity, 'version'>): Buffer {
  return generate(
    { cmd: 'disconnect', reasonCode: 0, properties: { sessionExpiryInterval: 0 } },
    { protocolVersion: version },
  )
}

/** Without keep alive, with a new session. */
export function connectPacket(identity: Identity): Buffer {
  const { clientId, username, password, version = 4, sessionExpiry = 0 } = identity
  return generate({
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: version,
    clean: true,
    keepalive: 0,
    clientId,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password: Buffer.from(password) }),
    ...(version === 5 && { properties: { sessionExpiryInterval: sessionExpiry } }),
  })
}

/**
 * @returns the length of the CONNACK that was received, 0 if it is not complete
 * @throws Error if it refuses
 */
export function takeConnack({ clientId }: Identity, bytes: Buffer, length: number): number {
  const [type, bodyLength = 0, , code] = bytes
  if (length < 4) return 0
  if (type !== 0x20 || code !== 0) throw new Error(`${clientId}: refused with CONNACK ${code}`)
  return length < 2 + bodyLength ? 0 : 2 + bodyLength
}

export function subscribePacket(
  filters: readonly string[],
  qos: 0 | 1,
  version: Version = 4,
  subscriptionIdentifier?: number,
): Buffer {
  const subscriptions = filters.map(topic => ({ topic, qos }))
  const properties = subscriptionIdentifier === undefined ? {} : { subscriptionIdentifier }
  return generate({ cmd: 'subscribe', messageId: 1, subscriptions, properties }, { protocolVersion: version })
}

type Publishes = Pick<MqttWrites, 'payload' | 'qos' | 'window' | 'version' | 'properties' | 'isAliased'>

/** @param topics in turn; an alias is one topic's */
export function readyBatches(topics: readonly string[], publishes: Publishes): ReadyBatches {
  const { payload, qos, window, version = 4, isAliased = false } = publishes
  const properties = { ...publishes.properties, ...(isAliased && { topicAlias: 1 }) }
  const publish = (index: number, hasTopic: boolean) => {
    const topic = hasTopic ? (topics[index % topics.length] ?? '') : ''
    const message = { topic, payload, qos, messageId: qos === 0 ? 0 : index + 1, dup: false, retain: false }
    return generate({ cmd: 'publish', ...message, properties }, { protocolVersion: version })
  }
  const ofPings = Math.ceil(window / 2)
  const batch = (index: number, opens: boolean) =>
    qos === 1
      ? publish(index, opens || !isAliased)
      : Buffer.concat([
          ...repeat(ofPings, place => publish(place, (opens && place === 0) || !isAliased)),
          generate({ cmd: 'pingreq' }),
        ])
  const ack = (index: number) =>
    qos === 1 ? generate({ cmd: 'puback', messageId: index + 1 }) : generate({ cmd: 'pingresp' })
  const count = qos === 1 ? window : 2
  return {
    count,
    publishes: qos === 1 ? 1 : ofPings,
    bytes: Buffer.concat(repeat(count, index => batch(index, false))),
    opening: batch(0, true),
    acks: Buffer.concat(repeat(count, ack)),
  }
}

function repeat(count: number, make: (index: number) => Buffer): Buffer[] {
  return Array.from({ length: count }, (_, index) => make(index))
}
