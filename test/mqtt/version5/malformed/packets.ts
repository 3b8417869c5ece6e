import {
  type Bytes,
  connect,
  field,
  fiveBytes,
  hex,
  noTexts,
  overlong,
  packet,
  topic,
  two,
  variable,
} from './bytes.ts'
import {
  acceptance,
  alone,
  type Case,
  type Groups,
  later,
  malformed,
  protocolError,
  refusal,
} from './case.ts'

const none = [0]
const id = two(1)
const numbers = (end: number) => Array.from({ length: end }, (_, place) => place)
const isMalformed = refusal(malformed)
const isForbidden = refusal(protocolError)

/** What a client sends behind CONNECT, complete and without a fault. */
const plain: readonly (readonly [name: string, bytes: Buffer, answer: string])[] = [
  ['PUBLISH', packet(0x32, field(topic), id, none, [120]), 'PUBACK'],
  ['PUBACK', packet(0x40, id, [0], none), ''],
  ['PUBREC', packet(0x50, id, [0x80], none), ''],
  ['PUBREL', packet(0x62, id, [0], none), 'PUBCOMP'],
  ['PUBCOMP', packet(0x70, id, [0], none), ''],
  ['SUBSCRIBE', packet(0x82, id, none, field('tele/none'), [1]), 'SUBACK'],
  ['UNSUBSCRIBE', packet(0xa2, id, none, field('tele/none')), 'UNSUBACK'],
  ['PINGREQ', packet(0xc0), 'PINGRESP'],
]

/** Packets of a server (table 2-1, direction of flow), complete, and empty. */
const ofServers: readonly (readonly [name: string, bytes: Buffer])[] = [
  ['CONNACK', packet(0x20, [0, 0], none)],
  ['CONNACK with a refusal', packet(0x20, [0, 0x87], none)],
  ['CONNACK with properties', packet(0x20, [1, 0], [3, 33, 0, 9])],
  ['CONNACK, empty', packet(0x20)],
  ['SUBACK', packet(0x90, id, none, [1])],
  ['SUBACK with a refusal', packet(0x90, id, none, [0x87])],
  ['SUBACK, empty', packet(0x90)],
  ['UNSUBACK', packet(0xb0, id, none, [0])],
  ['UNSUBACK, empty', packet(0xb0)],
  ['PINGRESP', packet(0xd0)],
  ['a second CONNECT', connect()],
  ['a second CONNECT with another client id', connect({ flags: 0, payload: field('other') })],
  ['a second CONNECT of 3.1.1', packet(0x10, field('MQTT'), [4, 2], two(0), field('a'))],
  ['AUTH, empty', packet(0xf0)],
  ['AUTH', packet(0xf0, [0], none)],
  ['AUTH that goes on', packet(0xf0, [0x18], none)],
  ['AUTH with a method', packet(0xf0, [0x19], [8, 21, ...field('SCRAM')])],
  ['AUTH without properties', packet(0xf0, [0x18])],
  ['AUTH of an unknown reason', packet(0xf0, [0x42], none)],
]

/** Bits 3-0 of the first byte of each type (table 2-2); PUBLISH has a use for them. */
const flagsOfTypes = [0, 0, 0, undefined, 0, 0, 2, 0, 2, 0, 2, 0, 0, 0, 0, 0]

function firstBytes(): Case[] {
  return flagsOfTypes.flatMap((right, type) => {
    // Type 0 is reserved, whatever its flags.
    const wrong = numbers(16).filter(flags => right !== undefined && (flags !== right || type === 0))
    const whole = [...plain, ...ofServers].find(([, [byte = 0]]) => byte >> 4 === type)?.[1]
    const content = [...(whole ?? Buffer.from([0, 0]))].slice(2)
    // A second CONNECT is a protocol error whatever it holds (MQTT-3.1.0-2).
    const more = type === 1 ? { or: isForbidden } : {}
    return wrong.map(flags => {
      const byte = (type << 4) | flags
      return later(`first byte ${hex(byte)}`, packet(byte, content), isMalformed, more)
    })
  })
}

/** First bytes of PUBLISH: QoS 3 is malformed (MQTT-3.3.1-4). */
function publishFlags(): Case[] {
  return numbers(16).map(flags => {
    const [qos, isDuplicate] = [(flags >> 1) & 3, (flags & 8) !== 0]
    const bytes = packet(0x30 | flags, field(`${topic}/${flags}`), qos === 0 ? [] : id, none, [120])
    const answer = ['', 'PUBACK', 'PUBREC'][qos]
    // DUP at QoS 0 must not be (MQTT-3.3.1-2), and the text does not say with which code it is refused.
    const isWrong = answer === undefined || (qos === 0 && isDuplicate)
    const [outcome, or] = isWrong
      ? [isMalformed, qos === 0 ? isForbidden : isMalformed]
      : [acceptance(answer)]
    return later(`PUBLISH with the first byte ${hex(0x30 | flags)}`, bytes, outcome, or ? { or } : {})
  })
}

/** Reason codes that a client may use (tables of 3.4.2.1, 3.5.2.1, 3.6.2.1, 3.7.2.1, 3.14.2.1). 0x10 is the server's alone. */
const publishReasons = [0, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99]
const leaveReasons = [0, 4, 0x80, 0x81, 0x82, 0x83, 0x90, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99]
const reasons: readonly (readonly [
  name: string,
  firstByte: number,
  allowed: readonly number[],
  answer: string,
])[] = [
  ['PUBACK', 0x40, publishReasons, ''],
  ['PUBREC', 0x50, publishReasons, ''],
  ['PUBREL', 0x62, [0, 0x92], 'PUBCOMP'],
  ['PUBCOMP', 0x70, [0, 0x92], ''],
]

function ackReasons(): Case[] {
  return reasons.flatMap(([name, firstByte, allowed, answer]) => [
    ...numbers(256).map(code => {
      const outcome = allowed.includes(code) ? acceptance(answer) : isForbidden
      return later(`${name} of reason ${hex(code)}`, packet(firstByte, id, [code], none), outcome)
    }),
    later(`${name} of two bytes`, packet(firstByte, id), acceptance(answer)),
    later(`${name} of three bytes`, packet(firstByte, id, [0]), acceptance(answer)),
    later(`${name} of three bytes with a wrong reason`, packet(firstByte, id, [0x42]), isForbidden),
  ])
}

function disconnects(): Case[] {
  const leave = (...content: readonly number[]) => packet(0xe0, content)
  const expiry = (seconds: number) => [0, 5, 17, 0, 0, 0, seconds]
  return [
    ...numbers(256).map(code => {
      const name = `DISCONNECT of reason ${hex(code)}`
      return leaveReasons.includes(code)
        ? alone(name, leave(code, 0), 'FIN')
        : later(name, leave(code, 0), isForbidden)
    }),
    alone('DISCONNECT of no bytes', leave(), 'FIN'),
    alone('DISCONNECT of one byte', leave(4), 'FIN'),
    later('DISCONNECT of one byte, the reason of a server', leave(0x8b), isForbidden),
    alone('an expiry of a session that has one', leave(...expiry(5)), 'FIN', { sessionExpiry: 60 }),
    alone('the end of a session that has an expiry', leave(...expiry(0)), 'FIN', { sessionExpiry: 60 }),
    // 3.14.2.2.2.
    later('an expiry of a session that has none', leave(...expiry(5)), isForbidden),
  ]
}

/** All bytes of subscription options (3.8.3.1): reserved bits are malformed, QoS 3 and Retain Handling 3 protocol errors. */
function options(): Case[] {
  return numbers(256).map(option => {
    const isReserved = (option & 0xc0) !== 0
    const isWrong = (option & 0x30) === 0x30 || (option & 3) === 3
    const outcome = isReserved ? isMalformed : isWrong ? isForbidden : acceptance('SUBACK')
    const bytes = packet(0x82, id, none, field('tele/none'), [option])
    return later(`subscription options ${hex(option)}`, bytes, outcome)
  })
}

const subscribe = (...payload: readonly Bytes[]) => packet(0x82, id, none, ...payload)
const unsubscribe = (...payload: readonly Bytes[]) => packet(0xa2, id, none, ...payload)
const shared = field('$share/group/tele/none')
const good = [...field('tele/none'), 1]

const filters: readonly Case[] = [
  later('SUBSCRIBE without filters', subscribe(), isForbidden),
  later('UNSUBSCRIBE without filters', unsubscribe(), isForbidden),
  // Shared subscriptions are not served, which is no error (contract §7.3).
  later('a shared subscription', subscribe(shared, [1]), acceptance('SUBACK 0x9e')),
  later('No Local on a shared subscription', subscribe(shared, [5]), isForbidden),
  later('No Local on a shared subscription behind a filter', subscribe(good, shared, [4]), isForbidden),
  later('reserved options of a second filter', subscribe(good, field('tele/b'), [0x81]), isMalformed),
  later('QoS 3 of a second filter', subscribe(good, field('tele/b'), [3]), isForbidden),
  later('Retain Handling 3 of a second filter', subscribe(good, field('tele/b'), [0x31]), isForbidden),
  later('a second filter without options', subscribe(good, field('tele/b')), isMalformed),
  // At least one character (MQTT-4.7.3-1), and the text does not say with which code it is refused.
  later('SUBSCRIBE: an empty filter', subscribe(field(''), [1]), isForbidden, { or: isMalformed }),
  later('UNSUBSCRIBE: an empty filter', unsubscribe(field('')), isForbidden, { or: isMalformed }),
  later('a hundred filters', subscribe(Array(100).fill(good).flat()), acceptance('SUBACK')),
  ...noTexts.flatMap(([name, bytes]) => [
    later(`SUBSCRIBE: ${name} in a filter`, subscribe(field(bytes), [1]), isMalformed),
    later(`SUBSCRIBE: ${name} in a second filter`, subscribe(good, field(bytes), [1]), isMalformed),
    later(`UNSUBSCRIBE: ${name} in a filter`, unsubscribe(field(bytes)), isMalformed),
    later(`PUBLISH: ${name} in the topic`, packet(0x32, field(bytes), id, none), isMalformed),
    later(`PUBLISH at QoS 0: ${name} in the topic`, packet(0x30, field(bytes), none), isMalformed),
  ]),
]

const publish = (name: string, firstByte = 0x32, properties: Bytes = none) =>
  packet(firstByte, field(name), firstByte > 0x31 ? id : [], properties, [120])

const topics: readonly Case[] = [0x30, 0x32, 0x34].flatMap(byte => [
  ...['#', '+', 'tele/#', 'tele/+/b', 'tele/a#', '+tele', '\u{1f600}/+'].map(name =>
    later(`PUBLISH ${hex(byte)} on ${name}`, publish(name, byte), isForbidden),
  ),
  later(`PUBLISH ${hex(byte)} on an empty topic`, publish('', byte), isForbidden),
  later(`PUBLISH ${hex(byte)}: an alias of none`, publish('', byte, [3, 35, 0, 1]), refusal(0x94)),
  later(`PUBLISH ${hex(byte)}: alias 0 and no topic`, publish('', byte, [3, 35, 0, 0]), refusal(0x94)),
  later(`PUBLISH ${hex(byte)}: alias 0`, publish(topic, byte, [3, 35, 0, 0]), refusal(0x94)),
  later(`PUBLISH ${hex(byte)}: alias 17`, publish(topic, byte, [3, 35, 0, 17]), refusal(0x94)),
])

/** An identifier of 0 (MQTT-2.2.1-3, -4). */
const packetIds: readonly Case[] = [
  ...plain.slice(0, -1).map(([name, bytes]) => {
    const place = name === 'PUBLISH' ? 2 + field(topic).length : 2
    const changed = Buffer.from(bytes)
    changed.fill(0, place, place + 2)
    return later(`${name} with packet id 0`, changed, isForbidden)
  }),
  later('PUBLISH at QoS 2 with packet id 0', packet(0x34, field(topic), two(0), none), isForbidden),
  ...[0x40, 0x50, 0x62, 0x70].map(byte =>
    later(`an ack ${hex(byte)} of two bytes with packet id 0`, packet(byte, two(0)), isForbidden),
  ),
]

/** Each packet ends at each of its bytes, as its length says. */
function cut(): Case[] {
  return plain.flatMap(([name, whole, answer]) => {
    const content = whole.subarray(2)
    const [byte = 0] = whole
    // What is behind the properties of a PUBLISH is its payload; what an ack has behind its id may be missing.
    const end = name === 'PUBLISH' ? content.length - 1 : content.length
    return numbers(end).map(length => {
      const isAck = /PUB(ACK|REC|REL|COMP)/.test(name) && length >= 2
      const hasNoFilter = name.endsWith('SUBSCRIBE') && length === 3
      const isPubrec = name === 'PUBREC' && length === 2
      const outcome = isAck ? acceptance(answer) : hasNoFilter ? isForbidden : isMalformed
      const bytes = packet(byte, [...content.subarray(0, length)])
      // Without a reason a PUBREC is a success, for which the server may send a PUBREL.
      return later(`${name} of ${length} bytes`, bytes, isPubrec ? acceptance() : outcome)
    })
  })
}

/** Bytes that the packet has no use for. What follows a PUBLISH is its payload. */
function trailing(): Case[] {
  return [...plain.slice(1), ['DISCONNECT', packet(0xe0, [0], none), ''] as const].flatMap(
    ([name, whole]) => {
      const [byte = 0, , ...content] = whole
      // What is behind filters begins another one, which it does not end.
      return [[0], [0xc0], [0, 200, 97], Array(100).fill(0xff)].map(more =>
        later(
          `${name} and ${more.length} bytes, ${hex(more[0] ?? 0)}`,
          packet(byte, content, more),
          isMalformed,
        ),
      )
    },
  )
}

/** Remaining Lengths (2.1.4). 1 MiB may be announced, not a byte more (contract §7.9). */
function lengths(): Case[] {
  const most = 1024 * 1024
  const types = [...plain.map(([, bytes]) => bytes), packet(0xe0)]
  const sized = types.filter(([byte]) => byte !== 0xc0)
  return [
    ...types.flatMap(([byte = 0, , ...content]) => [
      alone(`${hex(byte)} with a length of five bytes`, [byte, ...fiveBytes, 0, 0], isMalformed),
      alone(`${hex(byte)} with five bytes of ones`, [byte, 255, 255, 255, 255, 127], isMalformed),
      alone(`${hex(byte)} with a fourth byte that goes on`, [byte, 255, 255, 255, 255], isMalformed),
      later(
        `${hex(byte)} with an overlong length`,
        Buffer.from([byte, ...overlong(content.length), ...content]),
        isMalformed,
      ),
    ]),
    ...sized.flatMap(([byte = 0]) =>
      [most + 1, 2 * most, 268_435_455].map(length =>
        alone(`${hex(byte)} announces ${length} bytes`, [byte, ...variable(length), 0], refusal(0x95)),
      ),
    ),
    later('a PUBLISH of 1 MiB', wholeOf(most), acceptance('PUBACK')),
  ]
}

function wholeOf(length: number): Buffer {
  const head = Buffer.from([0x32, ...variable(length), ...field(topic), ...id, 0])
  return Buffer.concat([head, Buffer.alloc(length - head.length + 1 + variable(length).length, 120)])
}

/** A refusal is the last packet, and comes, however much the client has sent behind. */
function behind(): Case[] {
  const much = publish(topic, 0x30)
  const lots = Buffer.concat(Array(20_000).fill(much))
  const bad: readonly (readonly [string, Buffer, string])[] = [
    ['an unknown property', publish(topic, 0x32, [2, 99, 0]), isMalformed],
    ['a wildcard', publish('#'), isForbidden],
    ['an alias of none', publish('', 0x32, [3, 35, 0, 1]), refusal(0x94)],
    ['a reserved type', Buffer.from([0, 0]), isMalformed],
    ['a SUBACK', packet(0x90), isForbidden],
  ]
  return bad.flatMap(([name, bytes, outcome]) => [
    alone(`${name} before 300 KB`, Buffer.concat([bytes, lots]), outcome),
    alone(`${name} before another refusal`, Buffer.concat([bytes, packet(0xe0, [0x8b]), bytes]), outcome),
    alone(`${name} behind a PINGREQ`, Buffer.concat([packet(0xc0), bytes]), `PINGRESP, ${outcome}`),
  ])
}

export function packetGroups(): Groups {
  return {
    'packets without a fault': plain.map(([name, bytes, answer]) => later(name, bytes, acceptance(answer))),
    'packets of a server': ofServers.map(([name, bytes]) => later(name, bytes, isForbidden)),
    'first bytes': firstBytes(),
    'first bytes of PUBLISH': publishFlags(),
    'reasons of acks': ackReasons(),
    DISCONNECT: disconnects(),
    'subscription options': options(),
    filters,
    topics,
    'packet identifiers': packetIds,
    'packets that are cut': cut(),
    'packets that are too long': trailing(),
    lengths: lengths(),
    'what is behind a refusal': behind(),
  }
}
