import type { Fields } from './fields.ts'
import { type Connect, MalformedPacket } from './packet.ts'

/** Names of the protocol with the levels that go with them: MQTT 3.1 and 3.1.1. */
const levels: ReadonlyMap<string, number> = new Map([
  ['MQIsdp', 3],
  ['MQTT', 4],
])
/** CONNACK return code (MQTT-3.1.2-2). */
const unacceptableLevel = 1

const flagBits = { reserved: 0x01, will: 0x04, willRetain: 0x20, password: 0x40, username: 0x80 }

/**
 * @throws MalformedPacket with CONNACK 1 as its answer for a protocol that is not served, by its level or its name
 * (MQTT-3.1.2-1, -2; contract §7.1)
 */
export function decodeConnect(fields: Fields): Connect {
  assertProtocol(fields)
  const flags = fields.byte()
  assertFlags(flags)
  const keepalive = fields.number()
  // The client id, which may be empty.
  fields.text()
  if (flags & flagBits.will) {
    fields.text()
    fields.binary()
  }
  if (flags & flagBits.username) fields.text()
  if (flags & flagBits.password) fields.binary()
  if (!fields.isAtEnd) throw new MalformedPacket('bytes follow the CONNECT')
  return { cmd: 'connect', keepalive }
}

function assertProtocol(fields: Fields): void {
  const level = levels.get(fields.text())
  // Nothing behind the level is looked at: in another protocol it may mean anything.
  if (fields.byte() !== level) {
    throw new MalformedPacket('the protocol is neither MQTT 3.1 nor 3.1.1', unacceptableLevel)
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
