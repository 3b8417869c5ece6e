import {
  adminKey,
  type Bytes,
  connect,
  connectHead,
  credentials,
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
  type Code,
  first,
  type Groups,
  malformed,
  protocolError,
  refusal,
} from './case.ts'

const isMalformed = refusal(malformed, true)
const accepted = acceptance('CONNACK 0x00')
const numbers = (end: number) => Array.from({ length: end }, (_, place) => place)
const will = [0, ...field(topic), ...field('gone')]

/** What the flags announce. */
function payloadOf(flags: number): number[] {
  return [
    ...field(''),
    ...(flags & 0x04 ? will : []),
    ...(flags & 0x80 ? field('admin') : []),
    ...(flags & 0x40 ? field(adminKey) : []),
  ]
}

/** All connect flags (3.1.2.2 - 3.1.2.9). Without a password, what is not malformed is a matter of rights. */
function flags(): Case[] {
  return numbers(256).flatMap(each => {
    const [isReserved, hasWill, qos] = [(each & 1) !== 0, (each & 4) !== 0, (each >> 3) & 3]
    const isRetained = (each & 0x20) !== 0
    const isWrong = isReserved || qos === 3 || (!hasWill && (qos > 0 || isRetained))
    if (!isWrong && (each & 0x40) === 0) return []
    const bytes = connect({ flags: each, payload: payloadOf(each) })
    return [first(`connect flags ${hex(each)}`, bytes, isWrong ? isMalformed : accepted)]
  })
}

/** CONNECT ends at each byte behind the one that says the version, as its length says. */
function cut(): Case[] {
  const whole = connect({ flags: 0xc6, payload: payloadOf(0xc6) })
  const [byte = 0, , ...content] = whole
  return numbers(content.length)
    .filter(length => length >= 7)
    .map(length => first(`CONNECT of ${length} bytes`, packet(byte, content.slice(0, length)), isMalformed))
}

/** Texts of a CONNECT that are none. Will payload and password are bytes. */
function texts(): Case[] {
  const places: readonly (readonly [string, (text: Bytes) => Buffer])[] = [
    ['the client identifier', text => connect({ payload: [...field(text), ...credentials] })],
    [
      'the will topic',
      text => connect({ flags: 0xc6, payload: [0, 0, 0, ...field(text), ...field(''), ...credentials] }),
    ],
    ['the username', text => connect({ payload: [0, 0, ...field(text), ...field(adminKey)] })],
  ]
  return places.flatMap(([place, bytesOf]) =>
    noTexts.map(([name, text]) => first(`${name} in ${place}`, bytesOf(text), isMalformed)),
  )
}

const hasExpiry = (...seconds: readonly number[]) => connect({ properties: [5, 17, ...seconds] })

/** A CONNACK for it may be left off (4.13.1), as where the version has not been read yet. */
const unanswered = { or: 'FIN' }

const others: readonly Case[] = [
  first('CONNECT', connect(), accepted),
  first('Clean Start 0', connect({ flags: 0xc0 }), accepted),
  first('an expiry of a minute', hasExpiry(0, 0, 0, 60), accepted),
  first('an expiry without end', hasExpiry(255, 255, 255, 255), accepted),
  first('a will payload of any bytes', connectWithWill(field(topic), field([0, 0xff, 0x80])), accepted),
  // Wildcards: MQTT-4.7.0-1, as in the topic of a PUBLISH.
  first('a will on #', connectWithWill(field('#')), refusal(protocolError, true)),
  first('a will on tele/+', connectWithWill(field('tele/+')), refusal(protocolError, true)),
  // At least one character (MQTT-4.7.3-1), and the text does not say with which code it is refused.
  first('a will on no topic', connectWithWill(field('')), refusal(protocolError, true), { or: isMalformed }),
  first('a byte behind CONNECT', connect({ payload: [...field(''), ...credentials, 0] }), isMalformed),
  first('a PINGREQ in CONNECT', connect({ payload: [...field(''), ...credentials, 0xc0, 0] }), isMalformed),
  first('a username that no flag announces', connect({ flags: 0x02 }), isMalformed),
  first(
    'a will that no flag announces',
    connect({ payload: [...payloadOf(4), ...credentials] }),
    isMalformed,
  ),
  first('a client identifier longer than CONNECT', connect({ payload: [1, 0, 97] }), isMalformed),
  first('no payload', connect({ payload: [] }), isMalformed),
  first('a length in more bytes than it needs', overlongConnect(), isMalformed, unanswered),
  alone(
    'CONNECT announces more than 1 MiB',
    [0x10, ...variable(1024 * 1024 + 1), ...connectHead(0xc2)],
    refusal(0x95, true),
    { isFirst: true, ...unanswered },
  ),
  ...numbers(16)
    .slice(1)
    .map(each =>
      first(`first byte ${hex(0x10 | each)}`, connect({ firstByte: 0x10 | each }), isMalformed, unanswered),
    ),
]

function connectWithWill(willTopic: Bytes, payload: Bytes = field('x')): Buffer {
  return connect({ flags: 0xc6, payload: [...field(''), 0, ...willTopic, ...payload, ...credentials] })
}

function overlongConnect(): Buffer {
  const [byte = 0, , ...content] = connect()
  return Buffer.from([byte, ...overlong(content.length), ...content])
}

/** A refusal is the last packet, and what is behind a refused CONNECT is not read (MQTT-3.1.4-6). */
function behind(): Case[] {
  const much = packet(0x32, field(topic), two(1), [0], [120])
  const lots = Buffer.concat(Array(20_000).fill(much))
  const bad: readonly (readonly [string, Buffer, string])[] = [
    ['a reserved flag', connect({ flags: 0xc3 }), isMalformed],
    ['Receive Maximum 0', connect({ properties: [3, 33, 0, 0] }), refusal(protocolError, true)],
    ['a method', connect({ properties: [4, 21, ...field('x')] }), refusal(0x8c, true)],
  ]
  return bad.flatMap(([name, bytes, outcome]) => [
    alone(`${name} before 400 KB`, Buffer.concat([bytes, lots]), outcome, { isFirst: true }),
    alone(`${name} before AUTH`, Buffer.concat([bytes, packet(0xf0)]), outcome, { isFirst: true }),
    alone(`${name} before a CONNECT`, Buffer.concat([bytes, connect()]), outcome, { isFirst: true }),
  ])
}

/** A client need not wait for CONNACK (3.1.4), which is still the first packet that it gets (MQTT-3.2.0-1). */
function pipelined(): Case[] {
  const bad: readonly (readonly [string, Buffer, Code])[] = [
    ['an unknown property', packet(0x32, field(topic), two(1), [2, 99, 0]), malformed],
    ['PUBLISH at QoS 3', packet(0x36, field(topic), two(1), [0]), malformed],
    ['a reserved type', Buffer.from([0, 0]), malformed],
    ['wrong flags', packet(0x80, two(1), [0], field(topic), [0]), malformed],
    ['a length of five bytes', Buffer.from([0x30, ...fiveBytes]), malformed],
    ['a wildcard', packet(0x30, field('#'), [0]), protocolError],
    ['a second CONNECT', connect(), protocolError],
    ['a SUBACK', packet(0x90, two(1), [0, 0]), protocolError],
    ['an AUTH', packet(0xf0), protocolError],
    ['alias 0', packet(0x30, field(topic), [3, 35, 0, 0]), 0x94],
    ['more than 1 MiB', Buffer.from([0x30, ...variable(1024 * 1024 + 1)]), 0x95],
  ]
  return bad.map(([name, bytes, code]) =>
    alone(
      `${name} right behind CONNECT`,
      Buffer.concat([connect(), bytes]),
      `CONNACK 0x00, ${refusal(code)}`,
      {
        isFirst: true,
      },
    ),
  )
}

export function connectGroups(): Groups {
  return {
    'connect flags': flags(),
    'a CONNECT that is cut': cut(),
    'texts of CONNECT': texts(),
    'other CONNECTs': others,
    'what is behind a refused CONNECT': behind(),
    'what is sent before CONNACK': pipelined(),
  }
}
