import type { Fields } from './fields.ts'
import { type Connect, MalformedPacket, type QoS, type Will } from './packet.ts'

/** Names of the protocol with the levels that go with them: MQTT 3.1 and 3.1.1. */
const levels: ReadonlyMap<string, Connect['protocolVersion']> = new Map([
  ['MQIsdp', 3],
  ['MQTT', 4],
])
/** CONNACK return code (MQTT-3.1.2-2). */
const unacceptableLevel = 1

const flagBits = { reserved: 0x01, clean: 0x02, will: 0x04, willRetain: 0x20, password: 0x40, username: 0x80 }

/**
 * @throws MalformedPacket with CONNACK 1 as its answer for a protocol that is not served, by its level or its name
 * (MQTT-3.1.2-1, -2; contract §7.1)
 */
export function decodeConnect(fields: Fields): Connect {
  const protocolVersion = protocolOf(fields)
  const flags = fields.byte()
  assertFlags(flags)
  const keepalive = fields.number()
  // May be empty.
  const clientId = fields.text()
  const will = flags & flagBits.will ? willOf(fields, flags) : undefined
  const username = flags & flagBits.username ? fields.text() : undefined
  const password = flags & flagBits.password ? fields.binary() : undefined
  if (!fields.isAtEnd) throw new MalformedPacket('bytes follow the CONNECT')
  const clean = (flags & flagBits.clean) !== 0
  return { cmd: 'connect', protocolVersion, clean, keepalive, clientId, username, password, will }
}

function protocolOf(fields: Fields): Connect['protocolVersion'] {
  const version = levels.get(fields.text())
  // Nothing behind the level is looked at: in another protocol it may mean anything.
  if (fields.byte() !== version) {
    throw new MalformedPacket('the protocol is neither MQTT 3.1 nor 3.1.1', unacceptableLevel)
  }
  return version
}

function willOf(fields: Fields, flags: number): Will {
  const topic = fields.text()
  const payload = fields.binary()
  return { topic, payload, qos: willQosOf(flags) as QoS, retain: (flags & flagBits.willRetain) !== 0 }
}

function willQosOf(flags: number): number {
  return (flags >> 3) & 3
}

function assertFlags(flags: number): void {
  const willQos = willQosOf(flags)
  if (flags & flagBits.reserved) throw new MalformedPacket('a reserved flag is set (MQTT-3.1.2-3)')
  if (willQos === 3) throw new MalformedPacket('the QoS of the will is 3 (MQTT-3.1.2-14)')
  if (!(flags & flagBits.will) && (willQos > 0 || flags & flagBits.willRetain)) {
    throw new MalformedPacket('will flags are set without a will (MQTT-3.1.2-11)')
  }
  if (flags & flagBits.password && !(flags & flagBits.username)) {
    throw new MalformedPacket('there is a password without a username (MQTT-3.1.2-22)')
  }
}
