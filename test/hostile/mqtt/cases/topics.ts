import {
  acknowledge,
  type Bytes,
  connect,
  connectAnonymous,
  join,
  otherId,
  publish,
  subscribe,
  thingId,
  token,
  types,
  unsubscribe,
  writeTopic,
} from '../bytes.ts'
import { admitting, answering, closing, type MqttCase, refusing, refusingWith, table } from '../case.ts'

/** What is no text (MQTT-1.5.3-1, -2). */
const badTexts: Record<string, Bytes> = {
  NUL: [0],
  'NUL as two bytes': [0xc0, 0x80],
  'an overlong slash': [0xc0, 0xaf],
  'an overlong slash of three bytes': [0xe0, 0x80, 0xaf],
  'an overlong slash of four bytes': [0xf0, 0x80, 0x80, 0xaf],
  'a high surrogate': [0xed, 0xa0, 0x80],
  'a low surrogate': [0xed, 0xbf, 0xbf],
  'a pair of surrogates': [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80],
  'a code point above U+10FFFF': [0xf4, 0x90, 0x80, 0x80],
  'five bytes for a code point': [0xf8, 0x88, 0x80, 0x80, 0x80],
  'a character without its end': [0xe2, 0x82],
  'a continuation without a start': [0x80],
  'the byte 0xff': [0xff],
  'Latin-1': [0xe9, 0x20],
}

const strange = (text: string) => Buffer.from(`things/${token}/${text}`)

/** Fields of a CONNECT in which a text may be. */
const connectFields: Record<string, (text: Bytes) => Buffer> = {
  'a client id': text => connect({ clientId: join(Buffer.from('device'), text) }),
  'a username': text => connect({ username: join(Buffer.from(token), text) }),
  'a will topic': text => connect({ will: { topic: join(Buffer.from(`things/${token}/write`), text) } }),
}
/** Those of other packets, behind which it stands. */
const fields: Record<string, (topic: Bytes) => Buffer> = {
  'a topic': topic => publish({ topic }),
  'a filter': topic => subscribe('a', topic),
  'a filter of an UNSUBSCRIBE': topic => unsubscribe('a', topic),
}

const badText = Object.entries(badTexts).flatMap(([what, text]) => [
  ...refusing(table(`${what} in *`, connectFields, packetWith => packetWith(text))),
  ...closing(table(`${what} in *`, fields, packetWith => packetWith(join(strange(''), text)))),
])

/** Text that is none, and text that looks like it. */
export const texts: readonly MqttCase[] = [
  ...badText,
  ...answering({
    'U+FFFD in a topic': [publish({ topic: strange('\ufffd') }), 'puback 7'],
    'control characters in a topic': [publish({ topic: strange('\r\n\x01\x7f') }), 'puback 7'],
    'a byte order mark in a filter': [subscribe(strange('\ufeff')), 'suback 7: 1'],
    'a byte order mark before a filter': [subscribe(`\ufeffthings/${token}/#`), 'suback 7: 128'],
    'a noncharacter in a filter': [subscribe(strange('\uffff')), 'suback 7: 1'],
  }),
  ...admitting({
    'U+FFFD in a client id': [connect({ clientId: 'a\ufffd' })],
    'a byte order mark in a client id': [connect({ clientId: '\ufeffa' })],
    'a character of four bytes in a client id': [connect({ clientId: '\u{10ffff}' })],
  }),
]

const own = `things/${token}/errors`

const refusedFilters: Record<string, string> = {
  'a plus inside a level': 'a+b',
  'a plus inside a level of a thing': `things/${token}/a+b`,
  'a plus at the end of a level': `things/${token}/ab+/c`,
  'a plus at the start of a level': `things/${token}/+ab/c`,
  'two pluses in a level': `things/${token}/++/c`,
  'a hash before the last level': '#/a',
  'a hash before the last level of a thing': `things/${token}/#/errors`,
  'a hash behind other characters': `things/${token}/errors#`,
  'a hash before other characters': `things/${token}/#errors`,
  'two hashes': `things/${token}/##`,
  'a hash alone': '#',
  'a plus alone': '+',
  'a slash alone': '/',
  slashes: '////',
  'a blank': ' ',
  $SYS: '$SYS/#',
  '$SYS by pluses': '$SYS/+/+/+',
  'a shared subscription': '$share/group/#',
  'a shared subscription of the thing': `$share/group/${own}`,
  'another thing': `things/${otherId}/#`,
  'every thing': 'things/+/#',
  'every ref': 'things/#',
  'a ref with a plus': `things/${thingId}+/errors`,
  'a token that is one character short': `things/${token.slice(1)}/errors`,
  'a name that every object has': '__proto__/constructor',
  'a hundred levels too many': `things/${token}${'/+'.repeat(200)}`,
  '65,535 slashes': '/'.repeat(65_535),
  '65,535 pluses': '+'.repeat(65_535),
  '32,768 levels of plus': '+/'.repeat(32_767),
  '65,535 letters': 'a'.repeat(65_535),
}

const many = Array.from({ length: 20_000 }, (_, place) => `a/${place}`)

/** Filters of SUBSCRIBE and UNSUBSCRIBE (MQTT-4.7.1, MQTT-3.8.4-5, contract §7). */
export const filters: readonly MqttCase[] = [
  ...answering({
    ...table('a SUBSCRIBE to *', refusedFilters, filter => [subscribe(filter), 'suback 7: 128']),
    ...table('an UNSUBSCRIBE from *', refusedFilters, filter => [unsubscribe(filter), 'unsuback 7']),
  }),
  ...closing({
    'a SUBSCRIBE to an empty filter': subscribe(''),
    'a SUBSCRIBE to an empty filter behind a good one': subscribe(own, ''),
    'an UNSUBSCRIBE from an empty filter': unsubscribe(''),
    'a SUBSCRIBE with QoS 3': subscribe([own, 3]),
    'a SUBSCRIBE with QoS 4': subscribe([own, 4]),
    'a SUBSCRIBE with QoS 128': subscribe([own, 128]),
    'a SUBSCRIBE with QoS 3 behind a good one': subscribe(own, [own, 3]),
    'a SUBSCRIBE with options of version 5': subscribe([own, 0x2c]),
  }),
  ...answering({
    'a SUBSCRIBE that names a filter twice': [subscribe(own, own), 'suback 7: 1 1'],
    'a SUBSCRIBE that names a filter at every QoS': [
      subscribe([own, 2], [own, 0], [own, 1]),
      'suback 7: 2 0 1',
    ],
    'a SUBSCRIBE that names refused filters twice among good ones': [
      subscribe('#', own, '#/a', '#', [own, 0], 'a+b', '#/a'),
      'suback 7: 128 1 128 128 0 128 128',
    ],
    'a SUBSCRIBE that names a thing by token and id': [
      subscribe(own, `things/${thingId}/errors`, [own, 0]),
      'suback 7: 1 1 0',
    ],
    'a SUBSCRIBE to 300 filters that are one': [
      subscribe(...new Array<string>(300).fill('#')),
      `suback 7: ${new Array(300).fill(128).join(' ')}`,
    ],
    'a SUBSCRIBE to 20,000 filters': [
      subscribe(...many),
      `suback 7: ${new Array(many.length).fill(128).join(' ')}`,
    ],
    'an UNSUBSCRIBE from 20,000 filters': [unsubscribe(...many), 'unsuback 7'],
    'an UNSUBSCRIBE from what is not subscribed to': [unsubscribe(own), 'unsuback 7'],
    'an UNSUBSCRIBE that names a filter twice': [unsubscribe(own, own), 'unsuback 7'],
    'two SUBSCRIBEs with one packet id': [
      [subscribe(own), subscribe([own, 0])],
      'suback 7: 1',
      'suback 7: 0',
    ],
  }),
]

/** Topics that are none (MQTT-3.3.2-2, -4.7.3-1). */
const closed: Record<string, string> = {
  'an empty topic': '',
  'a hash': '#',
  'a plus': '+',
  'a plus in the place of the thing': 'things/+/write',
  'a plus in its own topic': `things/${token}/+`,
  'a plus inside a level of its own topic': `things/${token}/a+b`,
  'a hash in its own topic': `things/${token}/#`,
  'a plus in a level of a format': `${writeTopic}/value/+`,
  'a hash in a level of a format': `${writeTopic}/value/#`,
  'a hash inside a level of its own topic': `things/${token}/a#`,
}

/** Topics that are no write topics of its own: acked, dropped and reported (contract §7.7). */
const reported: Record<string, string> = {
  'another thing': `things/${otherId}/write`,
  'a token in capitals': `things/${token.toLowerCase()}/write`,
  'a slash': '/',
  'a slash in front of its own topic': `/${writeTopic}`,
  $SYS: '$SYS/broker/clients',
  '65,535 slashes': '/'.repeat(65_535),
  '65,535 letters': 'a'.repeat(65_535),
  'a level below the write topic': `${writeTopic}/a`,
  'an empty level below the write topic': `${writeTopic}/`,
  'an empty level in its own topic': `things/${token}//write`,
  'its errors topic': `things/${token}/errors`,
  'its own retained view': `things/${thingId}/values/$geo`,
  '65,000 slashes under its own topic': `things/${token}${'/'.repeat(65_000)}`,
}

/** Topics of a format, some of which take the write and some refuse it (contract §2.4). */
const formats: Record<string, string> = {
  'a format that every object has': `${writeTopic}/constructor`,
  'a format with 60,000 slashes': `${writeTopic}/value${'/'.repeat(60_000)}`,
  'a format with 30,000 levels': `${writeTopic}/json${'/a'.repeat(30_000)}`,
  'a format with control characters': `${writeTopic}/json/\r\n\x01`,
  'a format with another thing': `${writeTopic}/json/../../${otherId}/write`,
}

/** Topics of a PUBLISH (MQTT-3.3.2-2, -4.7.3-1). */
export const topics: readonly MqttCase[] = [
  ...closing({
    ...table('a PUBLISH of QoS 0 on *', closed, topic => publish({ topic, qos: 0 })),
    ...table('a PUBLISH of QoS 2 on *', closed, topic => publish({ topic, qos: 2 })),
  }),
  ...refusingWith(0, {
    'a PUBLISH by id of somebody without credentials': [
      connectAnonymous,
      publish({ topic: `things/${thingId}/write` }),
    ],
  }),
  ...answering(
    table('a PUBLISH on *', { ...reported, ...formats }, topic => [publish({ topic }), 'puback 7']),
  ),
  ...answering({
    'a PUBLISH without a payload': [publish({ payload: '' }), 'puback 7'],
    'a PUBLISH of what is no JSON': [publish({ payload: '\0\xff' }), 'puback 7'],
    'a PUBLISH of a thousand brackets': [publish({ payload: '['.repeat(1_000) }), 'puback 7'],
    'a PUBLISH of a prototype': [publish({ payload: '{"__proto__":{"values":[]}}' }), 'puback 7'],
  }),
]

/** On topics beside those of things, of which the client may use `house/#`. */

const refusedBeside: Record<string, string> = {
  'a hash inside a level of its topics': 'house/a#',
  'a hash before the last level of its topics': 'house/#/a',
  'a plus inside a level of its topics': 'house/a+',
  'a plus above its topics': '+/a',
  'everything above its topics': '#',
  'a name that begins like that of its topics': 'houses/#',
  'its topics in capitals': 'HOUSE/#',
  'its topics behind a slash': '/house/#',
  'a share of its topics': '$share/g/house/#',
  'a hundred levels too many of its topics': `house${'/+'.repeat(200)}`,
}

const named = '__proto__,constructor/prototype,toString,$SYS/x,/,//, ,\u00e9\ud83d\ude00'.split(',')

export const otherTopics: readonly MqttCase[] = [
  ...answering({
    ...table('a SUBSCRIBE to *', refusedBeside, filter => [subscribe(filter), 'suback 7: 128']),
    ...table('a SUBSCRIBE to * of its topics', named, name => [subscribe(`house/${name}`), 'suback 7: 1']),
    ...table('a PUBLISH on * of its topics', named, name => [
      publish({ topic: `house/${name}` }),
      'puback 7',
    ]),
    'a PUBLISH of a thousand levels on its topics': [
      publish({ topic: `house${'/a'.repeat(1_000)}` }),
      'puback 7',
    ],
    'an UNSUBSCRIBE from what is no filter of its topics': [unsubscribe('house/a#', 'house/b'), 'unsuback 7'],
    'a PUBREC, a PUBACK and a PUBCOMP of nothing, with its topics': [
      [...[types.pubrec, types.puback, types.pubcomp].map(type => acknowledge(type, 9))],
    ],
    'a PUBLISH of QoS 2 on its topics, released twice': [
      [publish({ topic: 'house/two', qos: 2 }), acknowledge(types.pubrel), acknowledge(types.pubrel)],
      'pubrec 7',
      'pubcomp 7',
      'pubcomp 7',
    ],
  }),
  ...closing({
    'a PUBLISH on a plus of its topics': publish({ topic: 'house/+' }),
    'a PUBLISH on a hash of its topics': publish({ topic: 'house/#', qos: 0 }),
    'a PUBLISH on NUL of its topics': publish({ topic: 'house/\0' }),
  }),
]
