import type { Fields } from './fields.ts'
import { type Connect, MalformedPacket } from './packet.ts'

/** Names of the protocol with the levels that go with them: MQTT 3.1 and 3.1.1. */
const levels: ReadonlyMap<string, Connect['protocolVersion']> = new Map([
  ['MQIsdp', 3],
  ['MQTT', 4],
])
/** CONNACK return code (MQTT-3.1.2-2). */
const unacceptableLevel = 1

const flagBits = {
  reserved: 0x01,
  will: 0x04,
  willQos: 0x18,
  willRetain: 0x20,
  password: 0x40,
  username: 0x80,
}

/**
 * Of MQTT 3.1, flags are set back in the packet that 3.1.1 forbids and 3.1 does not use: who is given the packet reads it as 3.1.1.
 *
 * @throws MalformedPacket with CONNACK 1 as its answer for a protocol that is not served, by its level or its name
 * (MQTT-3.1.2-1, -2; contract §7.1)
 */
export function decodeConnect(fields: Fields): Connect {
  const protocolVersion = protocolOf(fields)
  const isOld = protocolVersion === 3
  const fromFlags = fields.rest()
  let flags = fields.byte()
  if (isOld) flags = withoutUnused(flags)
  assertFlags(flags)
  const keepalive = fields.number()
  // The client id, which may be empty.
  fields.text()
  if (flags & flagBits.will) {
    fields.text()
    fields.binary()
  }
  // In 3.1 the length counts more than the flags of a username or password that is missing (3.1, section 3.1).
  if (isOld && fields.isAtEnd) flags &= ~(flagBits.username | flagBits.password)
  if (flags & flagBits.username) fields.text()
  if (isOld && fields.isAtEnd) flags &= ~flagBits.password
  if (flags & flagBits.password) fields.binary()
  if (!fields.isAtEnd) throw new MalformedPacket('bytes follow the CONNECT')
  fromFlags[0] = flags
  return { cmd: 'connect', protocolVersion, keepalive }
}

function protocolOf(fields: Fields): Connect['protocolVersion'] {
  const level = levels.get(fields.text())
  // Nothing behind the level is looked at: in another protocol it may mean anything.
  if (fields.byte() !== level) {
    throw new MalformedPacket('the protocol is neither MQTT 3.1 nor 3.1.1', unacceptableLevel)
  }
  return level
}

/** Flags of MQTT 3.1: the lowest has no meaning there, nor have those of a will without a will. */
function withoutUnused(flags: number): number {
  const used = flags & ~flagBits.reserved
  return flags & flagBits.will ? used : used & ~(flagBits.willQos | flagBits.willRetain)
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
