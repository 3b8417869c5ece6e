import type { Fields } from './fields.ts'
import { qosOf, typeOf } from './header.ts'
import {
  type Ack,
  type AskedFilter,
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
  puback: [0, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99],
  pubrec: [0, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99],
  pubrel: [0, 0x92],
  pubcomp: [0, 0x92],
}
/** Reason codes with which a client may disconnect (MQTT5-3.14.2.1). */
const reasonsOfDisconnect = [0, 0x04, 0x80, 0x81, 0x82, 0x83, 0x90, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99]
/** By type, from PUBACK on. */
const acks = ['puback', 'pubrec', 'pubrel', 'pubcomp'] as const
/** Reason codes from here on are failures (MQTT5-2.4). */
const firstFailure = 0x80

const wildcards = /[+#]/

/**
 * Decodes a packet other than CONNECT and PUBLISH behind its fixed header.
 *
 * @param is5 whether the version is MQTT 5
 * @throws MalformedPacket `malformed` where the bytes are no such packet, `protocol_error` where they are one that may not be sent
 */
export function decodePacket(firstByte: number, fields: Fields, is5: boolean): Packet {
  const packet = decode(typeOf(firstByte), fields, is5)
  if (!fields.isAtEnd) throw new MalformedPacket('bytes follow the packet')
  return packet
}

function decode(type: number, fields: Fields, is5: boolean): Packet {
  switch (type) {
    case types.subscribe:
      return decodeSubscribe(fields, is5)
    case types.unsubscribe:
      return decodeUnsubscribe(fields, is5)
    case types.pingreq:
      return { cmd: 'pingreq' }
    case types.disconnect:
      return is5 ? decodeDisconnect(fields) : { cmd: 'disconnect' }
    default:
      return decodeAck(acks[type - types.puback] ?? 'puback', fields, is5)
  }
}

export function decodePublish(firstByte: number, fields: Fields, is5: boolean): Publish {
  const topic = fields.text()
  const messageId = qosOf(firstByte) > 0 ? fields.packetId() : 0
  const properties = is5 ? readProperties(fields, 'publish') : undefined
  if (wildcards.test(topic))
    throw new MalformedPacket('the topic of a PUBLISH contains a wildcard (MQTT-3.3.2-2)', 'protocol_error')
  if (topic === '' && properties?.topicAlias === undefined)
    throw new MalformedPacket('a topic is empty (MQTT-4.7.3-1)', 'protocol_error')
  const publish = publishOf(firstByte, topic, messageId, fields.rest())
  return properties ? { ...publish, properties } : publish
}

export function publishOf(firstByte: number, topic: string, messageId: number, payload: Buffer): Publish {
  return {
    cmd: 'publish',
    topic,
    payload,
    qos: qosOf(firstByte) as QoS,
    dup: (firstByte & publishFlags.duplicate) !== 0,
    retain: (firstByte & publishFlags.retain) !== 0,
    messageId,
  }
}

/** Without a reason code the ack means success; without a length there are no properties (MQTT5-3.4.2.1). */
function decodeAck(cmd: Ack['cmd'], fields: Fields, is5: boolean): Ack {
  const messageId = fields.packetId()
  const reasonCode = is5 ? reasonAnd(cmd, fields, reasonsOf[cmd]).reasonCode : 0
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
  const properties: Properties = fields.isAtEnd ? {} : readProperties(fields, packet)
  return { reasonCode, properties }
}

function decodeSubscribe(fields: Fields, is5: boolean): Subscribe {
  const messageId = fields.packetId()
  const subscriptionIdentifier = is5 ? readProperties(fields, 'subscribe').subscriptionIdentifier : undefined
  const subscriptions: AskedFilter[] = []
  while (!fields.isAtEnd) subscriptions.push(decodeFilter(fields, is5))
  assertSome(subscriptions)
  return { cmd: 'subscribe', messageId, subscriptions, ...(is5 && { subscriptionIdentifier }) }
}

function decodeFilter(fields: Fields, is5: boolean): AskedFilter {
  const topic = fields.topic()
  const options = fields.byte()
  if (options & (is5 ? 0xc0 : 0xfc))
    throw new MalformedPacket('reserved options of a filter are set (MQTT-3.8.3-4, MQTT5-3.8.3-5)')
  const [qos, retainHandling] = [options & 3, (options >> 4) & 3]
  const noLocal = (options & 4) !== 0
  if (qos === 3 || retainHandling === 3) {
    const rule = 'the QoS or the retain handling of a filter is 3 (MQTT-3.8.3-4, MQTT5-3.8.3.1)'
    throw new MalformedPacket(rule, 'protocol_error')
  }
  if (noLocal && topic.startsWith('$share/'))
    throw new MalformedPacket('No Local is set for a shared subscription (MQTT5-3.8.3-4)', 'protocol_error')
  const asked = { topic, qos: qos as QoS }
  if (!is5) return asked
  const retainAsPublished = (options & 8) !== 0
  return { ...asked, noLocal, retainAsPublished, retainHandling: retainHandling as 0 | 1 | 2 }
}

function decodeUnsubscribe(fields: Fields, is5: boolean): Unsubscribe {
  const messageId = fields.packetId()
  if (is5) readProperties(fields, 'unsubscribe')
  const unsubscriptions: string[] = []
  while (!fields.isAtEnd) unsubscriptions.push(fields.topic())
  assertSome(unsubscriptions)
  return { cmd: 'unsubscribe', messageId, unsubscriptions }
}

function assertSome(filters: readonly unknown[]): void {
  if (filters.length === 0)
    throw new MalformedPacket('the packet has no filter (MQTT-3.8.3-3, MQTT-3.10.3-2)', 'protocol_error')
}
