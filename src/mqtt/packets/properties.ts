import type { Fields } from './fields.ts'
import { MalformedPacket, type Properties } from './packet.ts'

/** The packets of a client that have properties; `will` is the part of CONNECT with the will. */
export type WithProperties =
  | 'connect'
  | 'will'
  | 'publish'
  | 'puback'
  | 'pubrec'
  | 'pubrel'
  | 'pubcomp'
  | 'subscribe'
  | 'unsubscribe'
  | 'disconnect'
  | 'auth'

type Kind = 'byte' | 'two bytes' | 'four bytes' | 'length' | 'text' | 'binary' | 'pair'

interface Property {
  readonly name: keyof Properties
  readonly kind: Kind
  /** Packets in which a client may send the property; none if only a server sends it. */
  readonly of: readonly WithProperties[]
  /** @returns what is wrong with a value of the right type; undefined if nothing is */
  readonly fault?: (value: never) => string | undefined
}

const isFlag = (value: number) => (value > 1 ? 'it must be 0 or 1' : undefined)
const isPositive = (value: number) => (value === 0 ? 'it must not be 0' : undefined)
const isTopic = (value: string) =>
  value === '' || /[+#]/.test(value) ? 'it must be a topic without wildcards' : undefined

const messages = ['publish', 'will'] as const
const acks = ['puback', 'pubrec', 'pubrel', 'pubcomp'] as const
const everywhere = [
  'connect',
  ...messages,
  ...acks,
  'subscribe',
  'unsubscribe',
  'disconnect',
  'auth',
] as const

const properties: ReadonlyMap<number, Property> = new Map<number, Property>([
  [1, { name: 'payloadFormat', kind: 'byte', of: messages, fault: isFlag }],
  [2, { name: 'messageExpiry', kind: 'four bytes', of: messages }],
  [3, { name: 'contentType', kind: 'text', of: messages }],
  [8, { name: 'responseTopic', kind: 'text', of: messages, fault: isTopic }],
  [9, { name: 'correlationData', kind: 'binary', of: messages }],
  [11, { name: 'subscriptionIdentifier', kind: 'length', of: ['subscribe'], fault: isPositive }],
  [17, { name: 'sessionExpiry', kind: 'four bytes', of: ['connect', 'disconnect'] }],
  [18, { name: 'assignedClientId', kind: 'text', of: [] }],
  [19, { name: 'serverKeepAlive', kind: 'two bytes', of: [] }],
  [21, { name: 'authenticationMethod', kind: 'text', of: ['connect', 'auth'] }],
  [22, { name: 'authenticationData', kind: 'binary', of: ['connect', 'auth'] }],
  [23, { name: 'requestProblemInformation', kind: 'byte', of: ['connect'], fault: isFlag }],
  [24, { name: 'willDelay', kind: 'four bytes', of: ['will'] }],
  [25, { name: 'requestResponseInformation', kind: 'byte', of: ['connect'], fault: isFlag }],
  [26, { name: 'responseInformation', kind: 'text', of: [] }],
  [28, { name: 'serverReference', kind: 'text', of: [] }],
  [31, { name: 'reasonString', kind: 'text', of: [...acks, 'disconnect', 'auth'] }],
  [33, { name: 'receiveMaximum', kind: 'two bytes', of: ['connect'], fault: isPositive }],
  [34, { name: 'topicAliasMaximum', kind: 'two bytes', of: ['connect'] }],
  [35, { name: 'topicAlias', kind: 'two bytes', of: ['publish'] }],
  [36, { name: 'maximumQoS', kind: 'byte', of: [] }],
  [37, { name: 'retainAvailable', kind: 'byte', of: [] }],
  [38, { name: 'userProperties', kind: 'pair', of: everywhere }],
  [39, { name: 'maximumPacketSize', kind: 'four bytes', of: ['connect'], fault: isPositive }],
  [40, { name: 'wildcardSubscriptionAvailable', kind: 'byte', of: [] }],
  [41, { name: 'subscriptionIdentifierAvailable', kind: 'byte', of: [] }],
  [42, { name: 'sharedSubscriptionAvailable', kind: 'byte', of: [] }],
])

const read: Readonly<Record<Kind, (fields: Fields) => unknown>> = {
  byte: fields => fields.byte(),
  'two bytes': fields => fields.number(),
  'four bytes': fields => fields.longNumber(),
  length: fields => fields.length(),
  text: fields => fields.text(),
  binary: fields => fields.binary(),
  pair: fields => [fields.text(), fields.text()],
}

/**
 * Reads the properties of a packet, with their length in front.
 *
 * @throws MalformedPacket `malformed` if a property is unknown, not of this packet, cut or not of its type (MQTT5-2.2.2.2);
 * `protocol_error` if it is there twice, or has a value that is not allowed
 */
export function readProperties(fields: Fields, packet: WithProperties): Properties {
  const rest = fields.part(fields.length())
  const found: Record<string, unknown> = {}
  while (!rest.isAtEnd) {
    const property = properties.get(rest.length())
    if (!property?.of.includes(packet))
      throw new MalformedPacket('a property is unknown, or not of this packet (MQTT5-2.2.2.2)')
    const { name, kind, fault } = property
    const value = read[kind](rest)
    if (kind === 'pair') {
      found[name] = [...((found[name] as unknown[]) ?? []), value]
      continue
    }
    if (name in found) throw new MalformedPacket(`the property ${name} is there twice`, 'protocol_error')
    const wrong = fault?.(value as never)
    if (wrong !== undefined) throw new MalformedPacket(`the property ${name}: ${wrong}`, 'protocol_error')
    found[name] = value
  }
  return found
}

/** The properties that go along with a message from one client to another, except for its expiry (MQTT5-3.3.2.3). */
export function carriedProperties(properties: Properties): Buffer | undefined {
  const { payloadFormat, contentType, responseTopic, correlationData, userProperties } = properties
  const carried = { payloadFormat, contentType, responseTopic, correlationData, userProperties }
  const bytes = contentOf(carried)
  return bytes.length > 0 ? bytes : undefined
}

const numbers = new Map([...properties].map(([number, { name, kind }]) => [name, { number, kind }]))

/** Writes properties with their length in front. Properties whose value is undefined are left out. */
export function writeProperties(values: Properties): Buffer {
  return withLength(contentOf(values))
}

/** @param content properties without their length */
export function withLength(content: Buffer): Buffer {
  return Buffer.concat([lengthBytes(content.length), content])
}

/** Writes properties without their length. */
export function contentOf(
  values: { readonly [Name in keyof Properties]: Properties[Name] | undefined },
): Buffer {
  const parts = Object.entries(values).flatMap(([name, value]) => {
    const { number, kind } = numbers.get(name as keyof Properties) ?? { number: 0, kind: 'byte' }
    if (value === undefined) return []
    const all = kind === 'pair' ? (value as readonly unknown[]) : [value]
    return all.flatMap(each => [Buffer.of(number), bytesOf(kind, each)])
  })
  return Buffer.concat(parts)
}

function bytesOf(kind: Kind, value: unknown): Buffer {
  switch (kind) {
    case 'byte':
      return Buffer.of(value as number)
    case 'two bytes':
      return twoBytes(value as number)
    case 'four bytes': {
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32BE(value as number)
      return bytes
    }
    case 'length':
      return lengthBytes(value as number)
    case 'text':
    case 'binary':
      return prefixed(value as string | Buffer)
    case 'pair':
      return Buffer.concat((value as readonly string[]).map(prefixed))
  }
}

function prefixed(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value as string)
  return Buffer.concat([twoBytes(bytes.length), bytes])
}

function twoBytes(value: number): Buffer {
  return Buffer.of(value >> 8, value & 0xff)
}

/** A Variable Byte Integer (MQTT5-1.5.5): 7 bits a byte, least significant first. @param value 0 to 268,435,455 */
export function lengthBytes(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  bytes.push(rest)
  return Buffer.from(bytes)
}
