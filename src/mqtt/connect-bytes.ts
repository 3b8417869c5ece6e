import { MalformedPacket } from './malformed-packet.ts'
import type { PacketReader } from './packet-reader.ts'

/** Names of the protocol with the levels that go with them: MQTT 3.1 and 3.1.1. */
const levels: ReadonlyMap<string, number> = new Map([
  ['MQIsdp', 3],
  ['MQTT', 4],
])
const connackUnacceptableLevel = Buffer.from([0x20, 2, 0, 1])

const flagBits = { reserved: 0x01, will: 0x04, willRetain: 0x20, password: 0x40, username: 0x80 } as const

/**
 * @throws MalformedPacket with CONNACK 1 as its answer for a protocol that is not served, by its level or its name
 * (MQTT-3.1.2-1, -2; contract §7.1)
 */
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
  const name = reader.text().toString()
  const level = reader.byte()
  // Nothing behind the level is looked at: in another protocol it may mean anything.
  if (levels.get(name) !== level) {
    throw new MalformedPacket('the protocol is neither MQTT 3.1 nor 3.1.1', connackUnacceptableLevel)
  }
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
