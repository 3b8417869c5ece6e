import { headerAt, qosOf, typeOf } from './header.ts'
import { types } from './packet.ts'

/** The whole packets that bytes begin with, each as it is on the wire, and what is left of the bytes. @throws MalformedPacket */
export function splitPackets(bytes: Buffer): { readonly packets: readonly Buffer[]; readonly rest: Buffer } {
  const packets: Buffer[] = []
  let place = 0
  for (;;) {
    const header = headerAt(bytes, place)
    const end = header ? header.start + header.length : Number.POSITIVE_INFINITY
    if (end > bytes.length) return { packets, rest: bytes.subarray(place) }
    packets.push(bytes.subarray(place, end))
    place = end
  }
}

/** The packet id of a whole packet; 0: it has none. */
export function messageIdOf(packet: Buffer): number {
  const header = headerAt(packet, 0)
  if (!header || header.length < 2) return 0
  const { firstByte, start } = header
  if (typeOf(firstByte) !== types.publish) return packet.readUInt16BE(start)
  return qosOf(firstByte) === 0 ? 0 : packet.readUInt16BE(start + 2 + packet.readUInt16BE(start))
}
