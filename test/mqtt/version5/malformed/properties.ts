import { type Bytes, field, fiveBytes, noTexts, overlong, variable } from './bytes.ts'
import { type Carrier, type CarrierName, carriers, carry, caseOf } from './carriers.ts'
import { type Case, type Code, type Groups, malformed, protocolError } from './case.ts'

type Kind = 'byte' | 'two' | 'four' | 'variable' | 'text' | 'texts' | 'binary'

interface Property {
  readonly id: number
  readonly name: string
  readonly kind: Kind
  /** Packets of a client that may have it (table 2-4). */
  readonly of: readonly CarrierName[]
  /** A packet that may have it from a server alone, so that it can be parsed, and is not allowed. */
  readonly fromServers?: CarrierName
  /** Values on the wire. */
  readonly valid: readonly Bytes[]
  /** Values of its type that are not allowed. */
  readonly wrong: readonly Bytes[]
  /** With which these are refused. Default: 0x82. */
  readonly wrongCode?: Code
  /** With which it is refused although nothing is wrong with it. */
  readonly code?: Code
}

const all = carriers.map(({ name }) => name)
const acks = ['PUBACK', 'PUBREC', 'PUBREL', 'PUBCOMP'] as const
const message = ['PUBLISH', 'will'] as const
const flag = { kind: 'byte', valid: [[0], [1]], wrong: [[2], [255]] } as const
const text = { kind: 'text', valid: [field('a'), field('ä€𝄞')], wrong: [] } as const
const seconds = { kind: 'four', valid: [[0, 0, 0, 0], [0, 0, 0, 9], Array(4).fill(255)], wrong: [] } as const
const none = { of: [] } as const

/**
 * By hand from the OASIS text: table 2-4, and the section of each property. What a server alone sends is allowed in no packet here.
 */
const properties: readonly Property[] = [
  { id: 1, name: 'Payload Format Indicator', ...flag, of: message },
  { id: 2, name: 'Message Expiry Interval', ...seconds, of: message },
  { id: 3, name: 'Content Type', ...text, of: message },
  {
    ...{ id: 8, name: 'Response Topic', ...text, of: message },
    // Wildcards: MQTT-3.3.2-14; at least one character: MQTT-4.7.3-1.
    wrong: [field('#'), field('a/+/b'), field('a/#'), field('')],
  },
  {
    ...{ id: 9, name: 'Correlation Data', kind: 'binary', of: message, wrong: [] },
    valid: [field([0, 0x80, 255]), field('')],
  },
  {
    ...{ id: 11, name: 'Subscription Identifier', kind: 'variable', of: ['SUBSCRIBE'], wrong: [[0]] },
    // A client must not send it (MQTT-3.3.4-6), but it belongs to PUBLISH.
    fromServers: 'PUBLISH',
    valid: [variable(200), [1], [127], variable(16_384), variable(268_435_455)],
  },
  {
    ...{ id: 17, name: 'Session Expiry Interval', ...seconds, of: ['CONNECT', 'DISCONNECT'] },
    // Of a session that ends with its connection no other is allowed in DISCONNECT (3.14.2.2.2).
    valid: [[0, 0, 0, 0]],
  },
  { id: 18, name: 'Assigned Client Identifier', ...text, ...none },
  { id: 19, name: 'Server Keep Alive', kind: 'two', valid: [[0, 60]], wrong: [], ...none },
  { id: 21, name: 'Authentication Method', ...text, of: ['CONNECT', 'AUTH'], code: 0x8c },
  {
    ...{ id: 22, name: 'Authentication Data', kind: 'binary', of: ['CONNECT', 'AUTH'] },
    ...{ valid: [field([0, 255])], wrong: [] },
    // Without a method (3.1.2.11.10).
    code: protocolError,
  },
  { id: 23, name: 'Request Problem Information', ...flag, of: ['CONNECT'] },
  { id: 24, name: 'Will Delay Interval', ...seconds, of: ['will'] },
  { id: 25, name: 'Request Response Information', ...flag, of: ['CONNECT'] },
  { id: 26, name: 'Response Information', ...text, ...none },
  { id: 28, name: 'Server Reference', ...text, ...none, fromServers: 'DISCONNECT' },
  { id: 31, name: 'Reason String', ...text, of: [...acks, 'DISCONNECT', 'AUTH'] },
  {
    ...{ id: 33, name: 'Receive Maximum', kind: 'two', of: ['CONNECT'], wrong: [[0, 0]] },
    valid: [
      [0, 1],
      [255, 255],
    ],
  },
  {
    ...{ id: 34, name: 'Topic Alias Maximum', kind: 'two', of: ['CONNECT'], wrong: [] },
    valid: [
      [0, 0],
      [255, 255],
    ],
  },
  {
    ...{ id: 35, name: 'Topic Alias', kind: 'two', of: ['PUBLISH'], wrongCode: 0x94 },
    // CONNACK allows 16 (contract §7.1).
    valid: [
      [0, 1],
      [0, 16],
    ],
    wrong: [
      [0, 0],
      [0, 17],
      [255, 255],
    ],
  },
  { id: 36, name: 'Maximum QoS', ...flag, ...none },
  { id: 37, name: 'Retain Available', ...flag, ...none },
  {
    ...{ id: 38, name: 'User Property', kind: 'texts', of: all, wrong: [] },
    valid: [
      [...field('a'), ...field('b')],
      [...field(''), ...field('')],
    ],
  },
  {
    ...{ id: 39, name: 'Maximum Packet Size', kind: 'four', of: ['CONNECT'], wrong: [[0, 0, 0, 0]] },
    valid: [[0, 0, 1, 0], Array(4).fill(255)],
  },
  { id: 40, name: 'Wildcard Subscription Available', ...flag, ...none },
  { id: 41, name: 'Subscription Identifier Available', ...flag, ...none },
  { id: 42, name: 'Shared Subscription Available', ...flag, ...none },
]

const userProperty = [38, ...field('k'), ...field('v')]

/** Values that are none of the property's type (2.2.2.2: malformed). */
function badEncodings(kind: Kind): (readonly [name: string, value: Bytes])[] {
  const tooLong = ['longer than the properties', [0, 200, 97]] as const
  switch (kind) {
    case 'text':
      return [tooLong, ...noTexts.map(([name, bytes]) => [name, field(bytes)] as const)]
    case 'texts':
      return [
        tooLong,
        ['a value longer than the properties', [...field('a'), 0, 200, 97]],
        ...noTexts.map(([name, bytes]) => [`${name} in the name`, [...field(bytes), ...field('b')]] as const),
        ...noTexts.map(
          ([name, bytes]) => [`${name} in the value`, [...field('a'), ...field(bytes)]] as const,
        ),
      ]
    case 'variable':
      return [
        ['overlong', overlong(1)],
        ['overlong 0', overlong(0)],
        ['of five bytes', fiveBytes],
      ]
    case 'binary':
      return [tooLong]
    default:
      return []
  }
}

function casesOf(property: Property, carrier: Carrier): Case[] {
  const { id, of, kind, valid, wrong, fromServers, code, wrongCode = protocolError } = property
  const isForeign = !of.includes(carrier.name) && fromServers !== carrier.name
  const isRefused = fromServers === carrier.name
  /** What is allowed in the packet is judged by the property, anything else is not parsed. */
  const judged = (its: Code | undefined) => (isForeign ? malformed : isRefused ? protocolError : its)
  const toCase = (name: string, bytes: Buffer, its: Code | undefined) => caseOf(carrier, name, bytes, its)
  const [value = []] = valid
  const once = [id, ...value]
  const twice = kind === 'texts' ? undefined : protocolError
  const ends = once.map((_, place) => place).slice(1)
  return [
    ...valid.map((each, place) => toCase(`once, ${place}`, carry(carrier, [id, ...each]), judged(code))),
    toCase('once, behind another', carry(carrier, [...userProperty, ...once]), judged(code)),
    toCase('twice', carry(carrier, [...once, ...once]), judged(twice)),
    toCase('twice, apart', carry(carrier, [...once, ...userProperty, ...once]), judged(twice)),
    ...wrong.map(each =>
      toCase(
        `out of range, ${Buffer.from(each).toString('hex')}`,
        carry(carrier, [id, ...each]),
        judged(wrongCode),
      ),
    ),
    // The properties end in the middle of this one: its rest is there, is not there, and neither is what is behind.
    ...ends.map(end => toCase(`cut behind ${end}`, carry(carrier, once, [end]), malformed)),
    toCase('cut, without its rest', carry(carrier, once.slice(0, -1)), malformed),
    toCase(
      'cut with the packet',
      carry({ ...carrier, behind: [] }, once.slice(0, -1), variable(once.length)),
      malformed,
    ),
    toCase('an overlong identifier', carry(carrier, [...overlong(id), ...value]), malformed),
    ...badEncodings(kind).map(([name, each]) => toCase(name, carry(carrier, [id, ...each]), malformed)),
  ]
}

const known = new Set(properties.map(({ id }) => id))
const unknown = Array.from({ length: 128 }, (_, id) => id).filter(id => !known.has(id))

/** Identifiers that the standard does not have, as one byte and as more. */
function unknownCases(carrier: Carrier): Case[] {
  return [...unknown, 128, 16_384].map(id => {
    const bytes = carry(carrier, [...variable(id), ...field('a')])
    return caseOf(carrier, `property ${id}`, bytes, malformed)
  })
}

/** Lengths of the properties that are none. */
function lengthCases(carrier: Carrier): Case[] {
  const { firstByte, before, behind } = carrier
  const content = before.length + 1 + userProperty.length + behind.length
  const lengths: readonly (readonly [string, Bytes])[] = [
    ['overlong', overlong(userProperty.length)],
    ['of five bytes', fiveBytes],
    ['of five bytes of ones', [255, 255, 255, 255, 127]],
    ['of the packet', variable(content)],
    ['beyond the packet', variable(content + 1)],
    ['of 128 beyond the packet', variable(content + 128)],
    ['of 268,435,455', variable(268_435_455)],
  ]
  return [
    ...lengths.map(([name, length]) =>
      caseOf(carrier, `a length ${name}`, carry(carrier, userProperty, length), malformed),
    ),
    caseOf(carrier, 'an overlong length of none', carry(carrier, [], overlong(0)), malformed),
    caseOf(
      carrier,
      'an unfinished length',
      carry({ name: carrier.name, firstByte, before, behind: [], accepted: carrier.accepted }, [], [128]),
      malformed,
    ),
  ]
}

/** All that are allowed, and all user properties. */
function acceptedCases(carrier: Carrier): Case[] {
  const allowed = properties.filter(({ of, code }) => of.includes(carrier.name) && code === undefined)
  const together = allowed.flatMap(({ id, valid }) => [id, ...(valid[0] ?? [])])
  const backwards = [...allowed].reverse().flatMap(({ id, valid }) => [id, ...(valid.at(-1) ?? [])])
  const many = Array.from({ length: 100 }, () => userProperty).flat()
  return [
    caseOf(carrier, 'no properties', carry(carrier, []), undefined),
    caseOf(carrier, 'all properties', carry(carrier, together), undefined),
    caseOf(carrier, 'all properties backwards', carry(carrier, backwards), undefined),
    caseOf(carrier, 'a hundred user properties', carry(carrier, many), undefined),
  ]
}

/** Methods are judged behind the format of the packet (3.1.4). */
const authentication: readonly (readonly [name: string, properties: Bytes, code: Code])[] = [
  ['a method and data', [21, ...field('SCRAM'), 22, ...field('x')], 0x8c],
  ['data and a method', [22, ...field('x'), 21, ...field('SCRAM')], 0x8c],
  ['a method, and data twice', [21, ...field('SCRAM'), 22, ...field('x'), 22, ...field('x')], protocolError],
  ['a method, and an unknown property', [21, ...field('SCRAM'), 99, 1], malformed],
]

export function propertyGroups(): Groups {
  const [connect] = carriers
  return {
    ...Object.fromEntries(
      properties.map(property => [
        `property ${property.id}, ${property.name}`,
        carriers.flatMap(carrier => casesOf(property, carrier)),
      ]),
    ),
    'unknown properties': carriers.flatMap(unknownCases),
    'lengths of properties': carriers.flatMap(lengthCases),
    'properties that are allowed': carriers.flatMap(acceptedCases),
    'authentication methods': authentication.map(([name, content, code]) => {
      if (!connect) throw new Error('no CONNECT')
      return caseOf(connect, name, carry(connect, content), code)
    }),
  }
}

export const propertyIds: readonly number[] = properties.map(({ id }) => id)
