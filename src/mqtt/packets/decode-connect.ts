import mqttPacket from 'mqtt-packet'
import type { Fields } from './fields.ts'
import { ConnectRefused } from './outcomes.ts'
import { type ClientKind, type Connect, MalformedPacket, type Properties, type QoS } from './packet.ts'
import { readProperties } from './properties.ts'

/** Protocol levels by protocol name: MQTT 3.1; MQTT 3.1.1 and 5. */
const levels: ReadonlyMap<string, readonly number[]> = new Map([
  ['MQIsdp', [3]],
  ['MQTT', [4, 5]],
])

/** A persistent session of 3.1 or 3.1.1 is kept as long as the server keeps one. */
const asLongAsPossible = 0xffff_ffff

const flagBits = {
  reserved: 0x01,
  clean: 0x02,
  will: 0x04,
  willQos: 0x18,
  willRetain: 0x20,
  password: 0x40,
  username: 0x80,
}

/** @returns 3 for MQTT 3.1, 4 for MQTT 3.1.1, 5 @throws MalformedPacket `version` (MQTT-3.1.2-1, -2; contract §7.1) */
export function levelOf(fields: Fields): number {
  const known = levels.get(fields.text())
  const level = fields.byte()
  // Another protocol may define the bytes after the level differently, so they are not decoded.
  if (!known?.includes(level))
    throw new MalformedPacket('the protocol is not MQTT 3.1, 3.1.1 or 5', 'version')
  return level
}

/**
 * Decodes a CONNECT. Clears flags that MQTT 3.1 ignores and 3.1.1 forbids: Aedes parses every CONNECT by the rules of 3.1.1.
 *
 * @param fields behind the protocol level @param level 3 for MQTT 3.1, 4 for MQTT 3.1.1, 5
 * @returns the properties of MQTT 5 beside the packet @throws MalformedPacket
 */
export function decodeConnect(fields: Fields, level: number) {
  const [isOld, is5] = [level === 3, level === 5]
  const fromFlags = fields.rest()
  let flags = fields.byte()
  if (isOld) flags = withoutUnused(flags)
  assertFlags(flags, is5)
  const keepalive = fields.number()
  const properties: Properties = is5 ? readProperties(fields, 'connect') : {}
  if (properties.authenticationData && properties.authenticationMethod === undefined)
    throw new MalformedPacket('authentication data without a method (MQTT5-3.1.2.11.10)', 'protocol_error')
  const clientId = fields.text()
  const will = flags & flagBits.will ? decodeWill(flags, fields, is5) : undefined
  // In MQTT 3.1, a packet may end before the username or password although the flag for it is set (MQTT 3.1, section 3.1).
  if (isOld && fields.isAtEnd) flags &= ~(flagBits.username | flagBits.password)
  const username = flags & flagBits.username ? fields.text() : undefined
  if (isOld && fields.isAtEnd) flags &= ~flagBits.password
  const password = flags & flagBits.password ? fields.binary() : undefined
  if (!fields.isAtEnd) throw new MalformedPacket('bytes follow the CONNECT')
  fromFlags[0] = flags
  const startsClean = (flags & flagBits.clean) !== 0
  const expiryOf3 = startsClean ? 0 : asLongAsPossible
  const sessionExpiry = is5 ? (properties.sessionExpiry ?? 0) : expiryOf3
  const connect: Connect = { cmd: 'connect', keepalive, startsClean, sessionExpiry, refusal }
  if (!is5) return { connect, properties }
  const forBroker = mqttPacket.generate({
    ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clientId, keepalive },
    // Without an id, only a clean session is valid in 3.1.1. The door decides about the session.
    clean: sessionExpiry === 0 || clientId === '',
    ...(will && { will: { ...will, properties: {} } }),
    // In 3.1.1 there is no password without a username.
    ...((username !== undefined || password) && { username: username ?? '' }),
    ...(password && { password }),
  })
  const ofWill = will && { willProperties: will.properties }
  return { connect: { ...connect, ...ofWill, forBroker }, properties }

  function refusal(kind: ClientKind): ConnectRefused | undefined {
    if (is5 && kind === 'host') return new ConnectRefused('version', 'MQTT 5 needs a credential of Thingwire')
    if (properties.authenticationMethod !== undefined)
      return new ConnectRefused('authentication_method', 'no authentication method is served: use a password')
    if (is5 || startsClean || kind === 'host') return undefined
    // Such a session could not be resumed: the client does not learn the id that it gets, or has no sessions.
    if (clientId === '') return new ConnectRefused('client_id', 'a persistent session needs a client id')
    if (kind === 'principal') return undefined
    return new ConnectRefused('no_credential', 'a persistent session needs a credential')
  }
}

/** In 3.1 and 3.1.1 the door judges the topic. */
function decodeWill(flags: number, fields: Fields, is5: boolean) {
  const properties = is5 ? readProperties(fields, 'will') : {}
  const topic = is5 ? fields.topic() : fields.text()
  if (is5 && /[+#]/.test(topic))
    throw new MalformedPacket('the topic of the will contains a wildcard (MQTT5-3.3.2-2)', 'protocol_error')
  const qos = ((flags >> 3) & 3) as QoS
  const retain = (flags & flagBits.willRetain) !== 0
  return { topic, payload: fields.binary(), qos, retain, properties }
}

/** Clears flags without a meaning in MQTT 3.1: the lowest flag, and the will flags if there is no will. */
function withoutUnused(flags: number): number {
  const used = flags & ~flagBits.reserved
  return flags & flagBits.will ? used : used & ~(flagBits.willQos | flagBits.willRetain)
}

function assertFlags(flags: number, is5: boolean): void {
  const willQos = (flags >> 3) & 3
  if (flags & flagBits.reserved) throw new MalformedPacket('a reserved flag is set (MQTT-3.1.2-3)')
  if (willQos === 3) throw new MalformedPacket('the QoS of the will is 3 (MQTT-3.1.2-14)')
  if (!(flags & flagBits.will) && (willQos > 0 || flags & flagBits.willRetain))
    throw new MalformedPacket('will flags are set without a will (MQTT-3.1.2-11)')
  if (!is5 && flags & flagBits.password && !(flags & flagBits.username))
    throw new MalformedPacket('there is a password without a username (MQTT-3.1.2-22)')
}
