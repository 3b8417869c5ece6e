import mqttPacket, { type Packet as OtherPacket } from 'mqtt-packet'
import { publishFlags, types } from './packet.ts'

/** A PUBLISH that the server sends (MQTT-3.3). */
export interface OutgoingPublish {
  readonly topic: string
  readonly payload: Uint8Array
  readonly isRetained: boolean
  /** QoS 1 with this packet id, 1 to 65,535; undefined for QoS 0. */
  readonly messageId: number | undefined
  /** Subscription identifier of MQTT 5; 0: none, as if absent. */
  readonly identifier?: number
  /** Correlation Data of MQTT 5. */
  readonly correlationData?: Buffer | undefined
  /** DUP: whether the message was sent before under this packet id (MQTT-3.3.1-1). */
  readonly isDuplicate: boolean
}

const qos1 = 0x02
/** Flags of PUBREL (MQTT-3.6.1-1). */
const reserved = 0x02

export const pingreq: Uint8Array = Uint8Array.of(types.pingreq << 4, 0)
export const pingresp: Uint8Array = Uint8Array.of(types.pingresp << 4, 0)
export const disconnect: Uint8Array = Uint8Array.of(types.disconnect << 4, 0)

/**
 * Allocates only one buffer, for speed: this is called for every message and every subscriber.
 *
 * @param properties in MQTT 5, with their length in front
 */
export function encodePublish(publish: OutgoingPublish, properties?: Uint8Array): Buffer {
  const { topic, payload, isRetained, messageId, isDuplicate } = publish
  const topicLength = Buffer.byteLength(topic)
  const idLength = messageId === undefined ? 0 : 2
  const remaining = 2 + topicLength + idLength + (properties?.length ?? 0) + payload.length
  const firstByte =
    (types.publish << 4) |
    (isDuplicate ? publishFlags.duplicate : 0) |
    (messageId === undefined ? 0 : qos1) |
    (isRetained ? publishFlags.retain : 0)
  const packet = packetOf(firstByte, remaining)
  let offset = packet.length - remaining
  offset = packet.writeUInt16BE(topicLength, offset)
  offset += packet.write(topic, offset)
  if (messageId !== undefined) offset = packet.writeUInt16BE(messageId, offset)
  if (properties) {
    packet.set(properties, offset)
    offset += properties.length
  }
  packet.set(payload, offset)
  return packet
}

/** @param type packet type of an ack */
export function encodeAck(type: number, messageId: number): Buffer {
  const flags = type === types.pubrel ? reserved : 0
  return Buffer.of((type << 4) | flags, 2, messageId >> 8, messageId & 0xff)
}

/** Encodes a packet that is not on the way of a message. @param protocolVersion of MQTT 3.1.1 or 5 */
export function encode(packet: OtherPacket, protocolVersion: 4 | 5): Buffer {
  return mqttPacket.generate(packet, { protocolVersion })
}

/** A fixed header and room for `length` bytes. The length is encoded in 7-bit groups, least significant first (MQTT-2.2.3). */
function packetOf(firstByte: number, length: number): Buffer {
  const packet = Buffer.allocUnsafe(1 + bytesOfLength(length) + length)
  packet[0] = firstByte
  let offset = 1
  let rest = length
  for (; rest >= 0x80; rest >>>= 7) packet[offset++] = (rest & 0x7f) | 0x80
  packet[offset] = rest
  return packet
}

function bytesOfLength(length: number): number {
  return length < 0x80 ? 1 : length < 0x4000 ? 2 : length < 0x200000 ? 3 : 4
}
