import { MalformedPacket, publishFlags, types } from './packet.ts'

/** The fixed header of a packet (MQTT-2.2). */
export interface Header {
  readonly firstByte: number
  /** Index of the first byte of the content. */
  readonly start: number
  /** Announced length of the content, bytes. */
  readonly length: number
}

/** The required flags (table 2.2) of each packet type that a client may send, except PUBLISH, and its length in bytes, if fixed. */
const fixed = new Map<number, { readonly flags: number; readonly length?: number }>([
  [types.connect, { flags: 0 }],
  [types.puback, { flags: 0, length: 2 }],
  [types.pubrec, { flags: 0, length: 2 }],
  [types.pubrel, { flags: 2, length: 2 }],
  [types.pubcomp, { flags: 0, length: 2 }],
  [types.subscribe, { flags: 2 }],
  [types.unsubscribe, { flags: 2 }],
  [types.pingreq, { flags: 0, length: 0 }],
  [types.disconnect, { flags: 0, length: 0 }],
])

/** Number of bits by which the fourth byte of a length is shifted. A length has at most four bytes (MQTT-2.2.3). */
const lastShift = 21

/**
 * The header of the packet that begins at index `place`; undefined if the header is incomplete. A sender may encode a length in
 * more bytes than necessary, up to four bytes.
 *
 * @throws MalformedPacket if the length has more than four bytes
 */
export function headerAt(bytes: Buffer, place: number): Header | undefined {
  const firstByte = bytes[place]
  if (firstByte === undefined) return undefined
  let start = place + 1
  let length = 0
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[start++]
    if (byte === undefined) return undefined
    length |= (byte & 0x7f) << shift
    if (byte < 0x80) return { firstByte, start, length }
    if (shift === lastShift) throw new MalformedPacket('the length has more than four bytes (MQTT-2.2.3)')
  }
}

/** @param isFirst whether this is the first packet of the connection @throws MalformedPacket */
export function assertFirstByte(firstByte: number, isFirst: boolean): void {
  const type = typeOf(firstByte)
  if ((type === types.connect) !== isFirst) {
    const rule = 'CONNECT must be the first packet, and only the first (MQTT-3.1.0-1, -2)'
    throw new MalformedPacket(rule, 'protocol_error')
  }
  if (type === types.publish) {
    const qos = qosOf(firstByte)
    if (qos === 3) throw new MalformedPacket('the QoS is 3 (MQTT-3.3.1-4)')
    if (qos === 0 && firstByte & publishFlags.duplicate)
      throw new MalformedPacket('DUP is set at QoS 0 (MQTT-3.3.1-2)')
  } else if (type === 0 || (fixed.get(type)?.flags ?? 0) !== (firstByte & 0x0f)) {
    throw new MalformedPacket('the type or the flags of the packet are reserved (MQTT-2.2.2-2)')
  } else if (!fixed.has(type)) {
    throw new MalformedPacket('a client may not send this packet', 'protocol_error')
  }
}

/**
 * Converts the first byte of an MQTT 3.1 packet to MQTT 3.1.1. In 3.1, a repeated SUBSCRIBE, UNSUBSCRIBE or PUBREL has DUP set,
 * which 3.1.1 forbids. In all other packets except PUBLISH, 3.1 ignores the flags (MQTT 3.1, section 2.1).
 */
export function withoutUnusedFlags(firstByte: number): number {
  const type = typeOf(firstByte)
  if (type === types.publish && qosOf(firstByte) === 0) return firstByte & ~publishFlags.duplicate
  const flags = fixed.get(type)?.flags
  return flags === undefined ? firstByte : (type << 4) | flags
}

/** Options of the server that limit the length of a packet. */
export type SizeOption = 'maxPacketSize' | 'sourcePacketSize'

/** @param longest maximum accepted length, bytes @param option sets `longest` @throws MalformedPacket */
export function assertLength({ length }: Header, longest: number, option: SizeOption): void {
  if (length > longest)
    throw new MalformedPacket(`a packet of ${length} bytes is over ${option}, ${longest}`, 'too_large')
}

/** The lengths of acks and signals are fixed in MQTT 3.1 and 3.1.1. @throws MalformedPacket */
export function assertFixedLength({ firstByte, length }: Header): void {
  const expected = fixed.get(typeOf(firstByte))?.length
  if (expected !== undefined && length !== expected)
    throw new MalformedPacket('the packet has the wrong length for its type')
}

/** In MQTT 5, a length has no more bytes than necessary. @param place index of the packet @throws MalformedPacket */
export function assertShortest({ start, length }: Header, place: number): void {
  const bytes = start - place - 1
  if (bytes > 1 && length < 1 << (7 * (bytes - 1)))
    throw new MalformedPacket('the length has more bytes than necessary (MQTT5-1.5.5-1)')
}

export function typeOf(firstByte: number): number {
  return firstByte >> 4
}

/** QoS of a PUBLISH. The value 3 is invalid. */
export function qosOf(firstByte: number): number {
  return (firstByte >> 1) & 3
}
