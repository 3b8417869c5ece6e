import mqttPacket from 'mqtt-packet'
import type { Fields } from './fields.ts'
import { qosOf, typeOf } from './header.ts'
import { ConnectRefused } from './outcomes.ts'
import {
  type Ack,
  type AskedFilter,
  type ClientKind,
  type Connect,
  type Disconnect,
  MalformedPacket,
  type Packet,
  type Properties,
  type Publish,
  publishFlags,
  type QoS,
  type Subscribe,
  types,
  type Unsubscribe,
} from './packet.ts'
import { readProperties } from './properties.ts'

/** Reason codes with which a client may acknowledge a message (MQTT5-2.4). */
const reasonsOf: Readonly<Record<Ack['cmd'], readonly number[]>> = {
  puback: [0, 0x10, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99],
  pubrec: [0, 0x10, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99],
  pubrel: [0, 0x92],
  pubcomp: [0, 0x92],
}
/** Reason codes with which a client may disconnect (MQTT5-3.14.2.1). */
const reasonsOfDisconnect = [0, 0x04, 0x80, 0x81, 0x82, 0x83, 0x90, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99]
const noProperties: Properties = {}
/** Reason codes from here on are failures (MQTT5-2.4). */
const firstFailure = 0x80

/**
 * Decodes a packet of MQTT 5 behind its fixed header.
 *
 * @throws MalformedPacket `malformed` where the bytes are no such packet, `protocol_error` where they are one that may not be sent
 */
export function decode5(firstByte: number, fields: Fields): Packet {
  const packet = decode(firstByte, fields)
  if (!fields.isAtEnd) throw new MalformedPacket('bytes follow the packet')
  return packet
}

function decode(firstByte: number, fields: Fields): Packet {
  switch (typeOf(firstByte)) {
    case types.publish:
      return decodePublish(firstByte, fields)
    case types.puback:
      return decodeAck('puback', fields)
    case types.pubrec:
      return decodeAck('pubrec', fields)
    case types.pubrel:
      return decodeAck('pubrel', fields)
    case types.pubcomp:
      return decodeAck('pubcomp', fields)
    case types.subscribe:
      return decodeSubscribe(fields)
    case types.unsubscribe:
      return decodeUnsubscribe(fields)
    case types.pingreq:
      return { cmd: 'pingreq' }
    case types.disconnect:
      return decodeDisconnect(fields)
    default:
      throw new MalformedPacket('a client may not send this packet', 'protocol_error')
  }
}

function decodePublish(firstByte: number, fields: Fields): Publish {
  const topic = fields.text()
  const qos = qosOf(firstByte) as QoS
  const messageId = qos > 0 ? packetId(fields) : 0
  const properties = readProperties(fields, 'publish')
  if (/[+#]/.test(topic)) {
    throw new MalformedPacket('the topic of a PUBLISH contains a wildcard (MQTT5-3.3.2-2)', 'protocol_error')
  }
  if (topic === '' && properties.topicAlias === undefined)
    throw new MalformedPacket('a PUBLISH has neither topic nor topic alias (MQTT5-3.3.2.1)', 'protocol_error')
  return {
    cmd: 'publish',
    topic,
    payload: fields.takeRest(),
    qos,
    dup: (firstByte & publishFlags.duplicate) !== 0,
    retain: (firstByte & publishFlags.retain) !== 0,
    messageId,
    properties,
  }
}

/** Without a reason code the ack means success; without a length there are no properties (MQTT5-3.4.2.1). */
function decodeAck(cmd: Ack['cmd'], fields: Fields): Ack {
  const messageId = packetId(fields)
  const { reasonCode } = reasonAnd(cmd, fields, reasonsOf[cmd])
  return reasonCode < firstFailure ? { cmd, messageId } : { cmd, messageId, isRefusal: true }
}

/** Only a DISCONNECT with the reason code 0 discards the will (MQTT5-3.1.2-10). */
function decodeDisconnect(fields: Fields): Disconnect {
  const { reasonCode, properties } = reasonAnd('disconnect', fields, reasonsOfDisconnect)
  return { cmd: 'disconnect', keepsWill: reasonCode !== 0, sessionExpiry: properties.sessionExpiry }
}

function reasonAnd(packet: Ack['cmd'] | 'disconnect', fields: Fields, reasons: readonly number[]) {
  const reasonCode = fields.isAtEnd ? 0 : fields.byte()
  if (!reasons.includes(reasonCode))
    throw new MalformedPacket('the reason code is none of this packet', 'protocol_error')
  return { reasonCode, properties: fields.isAtEnd ? noProperties : readProperties(fields, packet) }
}

function decodeSubscribe(fields: Fields): Subscribe {
  const messageId = packetId(fields)
  const { subscriptionIdentifier } = readProperties(fields, 'subscribe')
  const subscriptions: AskedFilter[] = []
  while (!fields.isAtEnd) subscriptions.push(decodeFilter(fields))
  if (subscriptions.length === 0)
    throw new MalformedPacket('a SUBSCRIBE has no filter (MQTT5-3.8.3-2)', 'protocol_error')
  return { cmd: 'subscribe', messageId, subscriptions, subscriptionIdentifier }
}

function decodeFilter(fields: Fields): AskedFilter {
  const topic = fields.topic()
  const options = fields.byte()
  if (options & 0xc0) throw new MalformedPacket('reserved options of a filter are set (MQTT5-3.8.3-5)')
  const [qos, retainHandling] = [options & 3, (options >> 4) & 3]
  const noLocal = (options & 4) !== 0
  if (qos === 3 || retainHandling === 3)
    throw new MalformedPacket(
      'the QoS or the retain handling of a filter is 3 (MQTT5-3.8.3.1)',
      'protocol_error',
    )
  if (noLocal && topic.startsWith('$share/'))
    throw new MalformedPacket('No Local is set for a shared subscription (MQTT5-3.8.3-4)', 'protocol_error')
  return {
    topic,
    qos: qos as QoS,
    noLocal,
    retainAsPublished: (options & 8) !== 0,
    retainHandling: retainHandling as 0 | 1 | 2,
  }
}

function decodeUnsubscribe(fields: Fields): Unsubscribe {
  const messageId = packetId(fields)
  readProperties(fields, 'unsubscribe')
  const unsubscriptions: string[] = []
  while (!fields.isAtEnd) unsubscriptions.push(fields.topic())
  if (unsubscriptions.length === 0)
    throw new MalformedPacket('an UNSUBSCRIBE has no filter (MQTT5-3.10.3-2)', 'protocol_error')
  return { cmd: 'unsubscribe', messageId, unsubscriptions }
}

function packetId(fields: Fields): number {
  const messageId = fields.number()
  if (messageId === 0)
    throw new MalformedPacket('the packet identifier is 0 (MQTT5-2.2.1-3)', 'protocol_error')
  return messageId
}

interface Will {
  readonly topic: string
  readonly payload: Buffer
  readonly qos: QoS
  readonly retain: boolean
  readonly properties: Properties
}

/** @param fields behind the protocol level @throws MalformedPacket */
export function decodeConnect5(fields: Fields): {
  readonly connect: Connect
  readonly properties: Properties
} {
  const flags = fields.byte()
  if (flags & 1) throw new MalformedPacket('a reserved flag is set (MQTT5-3.1.2-3)')
  const [hasWill, willQos] = [(flags & 4) !== 0, (flags >> 3) & 3]
  if (willQos === 3) throw new MalformedPacket('the QoS of the will is 3 (MQTT5-3.1.2-12)')
  if (!hasWill && flags & 0x38)
    throw new MalformedPacket('will flags are set without a will (MQTT5-3.1.2-11)')
  const keepalive = fields.number()
  const properties = readProperties(fields, 'connect')
  if (properties.authenticationData && properties.authenticationMethod === undefined)
    throw new MalformedPacket('authentication data without a method (MQTT5-3.1.2.11.10)', 'protocol_error')
  const clientId = fields.text()
  const will = hasWill ? decodeWill(flags, fields) : undefined
  const username = flags & 0x80 ? fields.text() : undefined
  const password = flags & 0x40 ? fields.binary() : undefined
  if (!fields.isAtEnd) throw new MalformedPacket('bytes follow the CONNECT')
  const { sessionExpiry = 0 } = properties
  const connect: Connect = {
    cmd: 'connect',
    keepalive,
    startsClean: (flags & 2) !== 0,
    sessionExpiry,
    refusal: kind => refusalOf(kind, properties),
    ...(will && { willProperties: will.properties }),
    forBroker: mqttPacket.generate({
      ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clientId, keepalive },
      // Without an id, only a clean session is valid in 3.1.1. The door decides about the session.
      clean: sessionExpiry === 0 || clientId === '',
      ...(will && { will: { ...will, properties: {} } }),
      // In 3.1.1 there is no password without a username.
      ...((username !== undefined || password) && { username: username ?? '' }),
      ...(password && { password }),
    }),
  }
  return { connect, properties }
}

function refusalOf(kind: ClientKind, { authenticationMethod }: Properties): ConnectRefused | undefined {
  if (kind === 'host') return new ConnectRefused('version', 'MQTT 5 needs a credential of Thingwire')
  if (authenticationMethod === undefined) return undefined
  return new ConnectRefused('authentication_method', 'no authentication method is served: use a password')
}

function decodeWill(flags: number, fields: Fields): Will {
  const properties = readProperties(fields, 'will')
  const topic = fields.topic()
  if (/[+#]/.test(topic))
    throw new MalformedPacket('the topic of the will contains a wildcard (MQTT5-3.3.2-2)', 'protocol_error')
  const qos = ((flags >> 3) & 3) as QoS
  return { topic, payload: fields.binary(), qos, retain: (flags & 0x20) !== 0, properties }
}
