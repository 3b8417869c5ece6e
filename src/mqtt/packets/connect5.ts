import mqttPacket from 'mqtt-packet'
import type { Fields } from './fields.ts'
import { ConnectRefused } from './outcomes.ts'
import { type ClientKind, type Connect, MalformedPacket, type Properties, type QoS } from './packet.ts'
import { readProperties } from './properties.ts'

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
