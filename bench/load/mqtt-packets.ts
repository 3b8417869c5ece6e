import { generate } from 'mqtt-packet'

export interface Identity {
  readonly clientId: string
  readonly username?: string
  readonly password?: string
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
  /** The acks of all batches, in the same order. */
  readonly acks: Buffer
}

export const disconnectPacket = generate({ cmd: 'disconnect' })

/** Without keep alive, with a clean session. */
export function connectPacket({ clientId, username, password }: Identity): Buffer {
  return generate({
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: 4,
    clean: true,
    keepalive: 0,
    clientId,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password: Buffer.from(password) }),
  })
}

export function subscribePacket(topic: string, qos: 0 | 1): Buffer {
  return generate({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic, qos }] })
}

export function readyBatches(topic: string, payload: string, qos: 0 | 1, window: number): ReadyBatches {
  const publish = (messageId: number) =>
    generate({ cmd: 'publish', topic, payload, qos, messageId, dup: false, retain: false })
  if (qos === 0) {
    const publishes = Math.ceil(window / 2)
    const batch = Buffer.concat([...repeat(publishes, () => publish(0)), generate({ cmd: 'pingreq' })])
    const acks = Buffer.concat(repeat(2, () => generate({ cmd: 'pingresp' })))
    return { count: 2, publishes, bytes: Buffer.concat([batch, batch]), acks }
  }
  const bytes = Buffer.concat(repeat(window, index => publish(index + 1)))
  const acks = Buffer.concat(repeat(window, index => generate({ cmd: 'puback', messageId: index + 1 })))
  return { count: window, publishes: 1, bytes, acks }
}

function repeat(count: number, make: (index: number) => Buffer): Buffer[] {
  return Array.from({ length: count }, (_, index) => make(index))
}
