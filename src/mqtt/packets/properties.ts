import type { Fields } from './fields.ts'
import { type Ack, MalformedPacket, type Properties } from './packet.ts'

/** The packets with properties that a client sends; `will` is the part of CONNECT with the will. */
type WithProperties = Ack['cmd'] | 'connect' | 'will' | 'publish' | 'subscribe' | 'unsubscribe' | 'disconnect'

interface Property {
  readonly name: Exclude<keyof Properties, 'carried'>
  /** Its type. */
  readonly read: 'byte' | 'number' | 'longNumber' | 'length' | 'text' | 'binary' | 'pair'
  /** Packets in which a client may send the property. */
  readonly of: readonly WithProperties[]
  /** Packets in which only a server may send the property. */
  readonly ofServer?: readonly WithProperties[]
  /** @returns what is wrong with a value of the right type; undefined if nothing is */
  readonly fault?: (value: never) => string | undefined
  /** Whether the property of a relayed message goes along unchanged. */
  readonly isCarried?: true
}

const nothing = Buffer.alloc(0)

const isFlag = (value: number) => (value > 1 ? 'it must be 0 or 1' : undefined)
const isPositive = (value: number) => (value === 0 ? 'it must not be 0' : undefined)
const isTopic = (value: string) =>
  value === '' || /[+#]/.test(value) ? 'it must be a topic without wildcards' : undefined

const messages = ['publish', 'will'] as const
const acks = ['puback', 'pubrec', 'pubrel', 'pubcomp'] as const
const everywhere = ['connect', ...messages, ...acks, 'subscribe', 'unsubscribe', 'disconnect'] as const
const carried = { of: messages, isCarried: true } as const
const ofSubscription = { of: ['subscribe'], ofServer: ['publish'] } as const

/** The properties that a client may send (MQTT5-2.2.2.2, table 2-4), by identifier. */
const properties: ReadonlyMap<number, Property> = new Map<number, Property>([
  [1, { name: 'payloadFormat', read: 'byte', fault: isFlag, ...carried }],
  [2, { name: 'messageExpiry', read: 'longNumber', of: messages }],
  [3, { name: 'contentType', read: 'text', ...carried }],
  [8, { name: 'responseTopic', read: 'text', fault: isTopic, ...carried }],
  [9, { name: 'correlationData', read: 'binary', ...carried }],
  [11, { name: 'subscriptionIdentifier', read: 'length', fault: isPositive, ...ofSubscription }],
  [17, { name: 'sessionExpiry', read: 'longNumber', of: ['connect', 'disconnect'] }],
  [21, { name: 'authenticationMethod', read: 'text', of: ['connect'] }],
  [22, { name: 'authenticationData', read: 'binary', of: ['connect'] }],
  [23, { name: 'requestProblemInformation', read: 'byte', of: ['connect'], fault: isFlag }],
  [24, { name: 'willDelay', read: 'longNumber', of: ['will'] }],
  [25, { name: 'requestResponseInformation', read: 'byte', of: ['connect'], fault: isFlag }],
  [28, { name: 'serverReference', read: 'text', of: [], ofServer: ['disconnect'] }],
  [31, { name: 'reasonString', read: 'text', of: [...acks, 'disconnect'] }],
  [33, { name: 'receiveMaximum', read: 'number', of: ['connect'], fault: isPositive }],
  [34, { name: 'topicAliasMaximum', read: 'number', of: ['connect'] }],
  [35, { name: 'topicAlias', read: 'number', of: ['publish'] }],
  [38, { name: 'userProperties', read: 'pair', of: everywhere, isCarried: true }],
  [39, { name: 'maximumPacketSize', read: 'longNumber', of: ['connect'], fault: isPositive }],
])

/**
 * Reads the properties of a packet, with their length in front.
 *
 * @throws MalformedPacket `malformed` if a property is unknown, not of this packet, cut or not of its type (MQTT5-2.2.2.2);
 * `protocol_error` if it is there twice, or has a value that is not allowed
 */
export function readProperties(fields: Fields, packet: WithProperties): Properties {
  const rest = fields.part(fields.length())
  const found: Record<string, unknown> = {}
  const pairs: unknown[] = []
  const along: Buffer[] = []
  while (!rest.isAtEnd) {
    const begin = rest.place
    const property = properties.get(rest.length())
    const isOfServer = property?.ofServer?.includes(packet) === true
    if (!property || (!isOfServer && !property.of.includes(packet)))
      throw new MalformedPacket('a property is unknown, or not of this packet (MQTT5-2.2.2.2)')
    const { name, read, fault, isCarried } = property
    const value = rest[read]()
    if (isOfServer) throw new MalformedPacket(`only a server may send ${name} here`, 'protocol_error')
    const wrong = fault?.(value as never)
    if (wrong !== undefined) throw new MalformedPacket(`the property ${name}: ${wrong}`, 'protocol_error')
    if (name === 'userProperties') pairs.push(value)
    else if (name in found) throw new MalformedPacket(`the property ${name} is there twice`, 'protocol_error')
    found[name] = name === 'userProperties' ? pairs : value
    if (isCarried) along.push(rest.since(begin))
  }
  if (along.length > 0) found.carried = Buffer.concat(along)
  return found
}

/**
 * Writes properties with their length in front.
 *
 * @param parts identifier and value of each, as they are sent @param behind what follows the properties in the packet
 */
export function writeProperties(parts: readonly Uint8Array[], behind: Uint8Array = nothing): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  return Buffer.concat([lengthBytes(length), ...parts, behind])
}

/** A Variable Byte Integer (MQTT5-1.5.5): 7 bits a byte, least significant first. @param value 0 to 268,435,455 */
export function lengthBytes(value: number): Buffer {
  if (value < 0x80) return Buffer.of(value)
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  bytes.push(rest)
  return Buffer.from(bytes)
}
