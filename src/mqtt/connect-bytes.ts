import { MalformedPacket } from './malformed-packet.ts'
import type { PacketReader } from './packet-reader.ts'

/** Names of the protocol by the levels that go with them: MQTT 3.1 and 3.1.1. */
const levels: ReadonlyMap<string, number> = new Map([
  ['MQIsdp', 3],
  ['MQTT', 4],
])
/** The highest level that there is; what is above it is no MQTT. */
const highestLevel = 5
const connackUnacceptableLevel = Buffer.from([0x20, 2, 0, 1])

const flagBits = { reserved: 0x01, will: 0x04, willRetain: 0x20, password: 0x40, username: 0x80 } as const

/** @throws MalformedPacket with CONNACK 1 as its answer for a level that is not served (MQTT-3.1.2-2; contract §7) */
export function assertConnect(reader: PacketReader): void {
  assertProtocol(reader)
  const flags = reader.byte()
  assertFlags(flags)
  // The keep-alive may be any number.
  reader.number()
  // The client id may be empty.
  reader.text()
  if (flags & flagBits.will) {
    reader.text()
    reader.binary()
  }
  if (flags & flagBits.username) reader.text()
  if (flags & flagBits.password) reader.binary()
  if (!reader.isAtEnd) throw new MalformedPacket('bytes follow the CONNECT')
}

function assertProtocol(reader: PacketReader): void {
  const served = levels.get(reader.text().toString())
  if (served === undefined) throw new MalformedPacket('the protocol name is invalid (MQTT-3.1.2-1)')
  const level = reader.byte()
  if (level === served) return
  const answer = level <= highestLevel ? connackUnacceptableLevel : undefined
  throw new MalformedPacket('the protocol level is not supported', answer)
}

function assertFlags(flags: number): void {
  const willQos = (flags >> 3) & 3
  if (flags & flagBits.reserved) throw new MalformedPacket('a reserved flag is set (MQTT-3.1.2-3)')
  if (willQos === 3) throw new MalformedPacket('the QoS of the will is 3 (MQTT-3.1.2-14)')
  if (!(flags & flagBits.will) && (willQos > 0 || flags & flagBits.willRetain)) {
    throw new MalformedPacket('will flags are set without a will (MQTT-3.1.2-11)')
  }
  if (flags & flagBits.password && !(flags & flagBits.username)) {
    throw new MalformedPacket('there is a password without a username (MQTT-3.1.2-22)')
  }
}
