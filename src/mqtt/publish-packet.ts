/** A PUBLISH that the server sends (MQTT-3.3). */
export interface OutgoingPublish {
  readonly topic: string
  readonly payload: Uint8Array
  readonly isRetained: boolean
  /** QoS 1 with this packet id, 1..65535; undefined: QoS 0. */
  readonly messageId: number | undefined
  /** Whether it was sent before under this packet id (MQTT-3.3.1-1). */
  readonly isDuplicate: boolean
}

/** First byte of a PUBLISH (MQTT-2.2, MQTT-3.3.1). */
export const publishHeader = { publish: 0x30, duplicate: 0x08, qos1: 0x02, retained: 0x01 }

/** The packet as it goes on the wire. In one piece: it is made for every subscriber of every message. */
export function encodePublish(publish: OutgoingPublish): Buffer {
  const { topic, payload, isRetained, messageId, isDuplicate } = publish
  const topicLength = Buffer.byteLength(topic)
  const remaining = 2 + topicLength + (messageId === undefined ? 0 : 2) + payload.length
  const packet = Buffer.allocUnsafe(1 + bytesOfLength(remaining) + remaining)
  packet[0] =
    publishHeader.publish |
    (isDuplicate ? publishHeader.duplicate : 0) |
    (messageId === undefined ? 0 : publishHeader.qos1) |
    (isRetained ? publishHeader.retained : 0)
  let offset = writeLength(packet, remaining)
  offset = packet.writeUInt16BE(topicLength, offset)
  offset += packet.write(topic, offset)
  if (messageId !== undefined) offset = packet.writeUInt16BE(messageId, offset)
  packet.set(payload, offset)
  return packet
}

/** The remaining length is written in groups of seven bits, least first (MQTT-2.2.3). */
function bytesOfLength(length: number): number {
  return length < 0x80 ? 1 : length < 0x4000 ? 2 : length < 0x200000 ? 3 : 4
}

function writeLength(packet: Buffer, length: number): number {
  let offset = 1
  let rest = length
  for (; rest >= 0x80; rest >>>= 7) packet[offset++] = (rest & 0x7f) | 0x80
  packet[offset++] = rest
  return offset
}
