import { type AskedFilter, publishFlags, types } from './packet.ts'

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
/** Flags of PUBREL, SUBSCRIBE and UNSUBSCRIBE (MQTT-3.6.1-1, -3.8.1-1, -3.10.1-1). */
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

/** @param returnCode 0 to 5 (MQTT-3.2.2-5) */
export function encodeConnack(returnCode: number, sessionPresent = false): Buffer {
  return Buffer.of(types.connack << 4, 2, sessionPresent ? 1 : 0, returnCode)
}

/** @param type packet type of an ack */
export function encodeAck(type: number, messageId: number): Buffer {
  const flags = type === types.pubrel ? reserved : 0
  return Buffer.of((type << 4) | flags, 2, messageId >> 8, messageId & 0xff)
}

/** @param codes the granted QoS of each filter, or 128 if it is refused (MQTT-3.8.4-5) */
export function encodeSuback(messageId: number, codes: readonly number[]): Buffer {
  const packet = packetOf(types.suback << 4, 2 + codes.length)
  packet.set(codes, packet.writeUInt16BE(messageId, packet.length - codes.length - 2))
  return packet
}

export function encodeSubscribe(messageId: number, asked: readonly AskedFilter[]): Buffer {
  const filters = asked.map(({ topic }) => topic)
  const levels = asked.map(({ qos }) => qos)
  return encodeFilters((types.subscribe << 4) | reserved, messageId, filters, levels)
}

export function encodeUnsubscribe(messageId: number, filters: readonly string[]): Buffer {
  return encodeFilters((types.unsubscribe << 4) | reserved, messageId, filters)
}

/** @param levels the requested QoS of each filter; undefined for UNSUBSCRIBE */
function encodeFilters(
  firstByte: number,
  messageId: number,
  filters: readonly string[],
  levels?: readonly number[],
): Buffer {
  const lengths = filters.map(filter => Buffer.byteLength(filter))
  const remaining = lengths.reduce((sum, length) => sum + 2 + length + (levels ? 1 : 0), 2)
  const packet = packetOf(firstByte, remaining)
  let offset = packet.writeUInt16BE(messageId, packet.length - remaining)
  for (const [place, filter] of filters.entries()) {
    offset = packet.writeUInt16BE(lengths[place] ?? 0, offset)
    offset += packet.write(filter, offset)
    if (levels) offset = packet.writeUInt8(levels[place] ?? 0, offset)
  }
  return packet
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
