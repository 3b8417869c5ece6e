import { assertConnect } from './connect-bytes.ts'
import { MalformedPacket } from './malformed-packet.ts'
import { PacketReader } from './packet-reader.ts'
import { publishHeader } from './publish-packet.ts'

/**
 * What MQTT 3.1.1 asks of the packets of a client and the parser of Aedes does not check, or checks too late: it reads
 * past the end of a packet, takes what only a server may send, and makes U+FFFD of what is no UTF-8.
 */

const types = {
  connect: 1,
  publish: 3,
  puback: 4,
  pubrec: 5,
  pubrel: 6,
  pubcomp: 7,
  subscribe: 8,
  unsubscribe: 10,
  pingreq: 12,
  disconnect: 14,
} as const

/** By packet type, the flags in the first byte (table 2.2); of PUBLISH they have a meaning. */
const fixedFlags: ReadonlyMap<number, number> = new Map<number, number>([
  [types.connect, 0],
  [types.puback, 0],
  [types.pubrec, 0],
  [types.pubrel, 2],
  [types.pubcomp, 0],
  [types.subscribe, 2],
  [types.unsubscribe, 2],
  [types.pingreq, 0],
  [types.disconnect, 0],
])

/** By packet type, the length of those that are all alike. */
const fixedLengths: ReadonlyMap<number, number> = new Map<number, number>([
  [types.puback, 2],
  [types.pubrec, 2],
  [types.pubrel, 2],
  [types.pubcomp, 2],
  [types.pingreq, 0],
  [types.disconnect, 0],
])

const wildcards = [0x23, 0x2b] as const
/** Most bytes before the payload of a PUBLISH: the topic with its length, and the packet identifier. */
const longestHead = 2 + 65_535 + 2

/**
 * @param isFirst whether no packet came before on the connection
 * @throws MalformedPacket
 */
export function assertFirstByte(firstByte: number, isFirst: boolean): void {
  const type = firstByte >> 4
  if ((type === types.connect) !== isFirst) {
    throw new MalformedPacket('CONNECT must be the first packet, and only the first (MQTT-3.1.0-1, -2)')
  }
  if (isPublish(firstByte)) {
    const problem = publishFlagsProblem(firstByte)
    if (problem !== undefined) throw new MalformedPacket(problem)
  } else if (fixedFlags.get(type) !== (firstByte & 0x0f)) {
    throw new MalformedPacket(
      'a client may not send this packet, or its reserved flags are wrong (MQTT-2.2.2-2)',
    )
  }
}

export function isPublish(firstByte: number): boolean {
  return firstByte >> 4 === types.publish
}

/** What is wrong with the flags of a PUBLISH; undefined: nothing. */
export function publishFlagsProblem(firstByte: number): string | undefined {
  const qos = qosOf(firstByte)
  if (qos === 3) return 'the QoS is 3 (MQTT-3.3.1-4)'
  if (qos === 0 && firstByte & publishHeader.duplicate) return 'DUP is set at QoS 0 (MQTT-3.3.1-2)'
  return undefined
}

/** QoS of a PUBLISH; 3 is none. */
export function qosOf(firstByte: number): number {
  return (firstByte >> 1) & 3
}

/**
 * @param length what the packet announces, bytes, spelled in as many of four bytes as the client likes (MQTT-2.2.3)
 * @throws MalformedPacket
 */
export function assertLength(firstByte: number, length: number): void {
  const fixed = fixedLengths.get(firstByte >> 4)
  if (fixed !== undefined && length !== fixed)
    throw new MalformedPacket('the packet has a wrong length for its type')
}

/** How many bytes of the content `assertWellFormed` has to see: a payload may be anything. */
export function examinedLength(firstByte: number, length: number): number {
  return isPublish(firstByte) ? Math.min(length, longestHead) : length
}

/**
 * Looks at the content of a packet, of which `assertFirstByte` and `assertLength` have seen the beginning.
 *
 * @param content what is behind the fixed header, up to `examinedLength`
 * @throws MalformedPacket
 */
export function assertWellFormed(firstByte: number, content: Buffer): void {
  const reader = new PacketReader(content)
  switch (firstByte >> 4) {
    case types.connect:
      assertConnect(reader)
      break
    case types.publish:
      assertPublish(reader, qosOf(firstByte))
      break
    case types.subscribe:
      assertSubscribe(reader)
      break
    case types.unsubscribe:
      assertUnsubscribe(reader)
      break
    default:
      if (content.length > 0) reader.packetId()
  }
}

function assertPublish(reader: PacketReader, qos: number): void {
  const topic = reader.topic()
  if (wildcards.some(wildcard => topic.includes(wildcard))) {
    throw new MalformedPacket('the topic of a PUBLISH contains a wildcard (MQTT-3.3.2-2)')
  }
  if (qos > 0) reader.packetId()
}

function assertSubscribe(reader: PacketReader): void {
  reader.packetId()
  do {
    reader.topic()
    if (reader.byte() > 2) throw new MalformedPacket('the requested QoS is invalid (MQTT-3.8.3-4)')
  } while (!reader.isAtEnd)
}

function assertUnsubscribe(reader: PacketReader): void {
  reader.packetId()
  // At least one (MQTT-3.10.3-2): past the end there is none.
  do reader.topic()
  while (!reader.isAtEnd)
}
