import {
  acknowledge,
  type Bytes,
  binary,
  type Connect,
  connect,
  connectAnonymous,
  connectFlags,
  misannounced,
  number16,
  packet,
  pingreq,
  publish,
  subscribe,
  thingId,
  token,
  types,
  unsubscribe,
  withFlags,
  writeTopic,
} from '../bytes.ts'
import { admitting, answering, closing, type MqttCase, refusing, refusingWith, table } from '../case.ts'

const names: Record<string, string> = {
  'MQTT in small letters': 'mqtt',
  'MQTT in mixed case': 'Mqtt',
  'MQIsdp in capitals': 'MQISDP',
  'MQTT and a blank': 'MQTT ',
  MQT: 'MQT',
  MQTTT: 'MQTTT',
  'no protocol name': '',
  HTTP: 'HTTP',
  'MQTT-SN': 'MQTT-SN',
}

const otherLevels = [0, 1, 2, 6, 7, 0x10, 0x7f, 0x80, 0x83, 0x84, 0x85, 0x86, 0xfe, 0xff]

const brokenProperties = packet(0x10, binary('MQTT'), [5, 0xff], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])

/** Protocol names and levels (MQTT-3.1.2-1, -2; contract §7). */
export const protocol: readonly MqttCase[] = [
  ...refusingWith(1, {
    ...table('a CONNECT of *', names, name => connect({ name })),
    ...table('a CONNECT of MQTT with level *', [...otherLevels, 3], level => connect({ level })),
    ...table('a CONNECT of MQIsdp with level *', [...otherLevels, 4], level =>
      connect({ name: 'MQIsdp', level }),
    ),
    'a CONNECT that ends behind a level that is not served': packet(0x10, binary('MQTT'), [0x84]),
    "a bridge's CONNECT with a will on $SYS": connect({
      level: 0x84,
      will: { topic: '$SYS/broker/connection/shed/state', payload: '0', qos: 1 },
    }),
    'a CONNECT that is not served, and packets behind it': [connect({ level: 6 }), publish(), pingreq],
  }),
  ...refusingWith(0x81, {
    'a CONNECT of version 5 without properties': connect({ level: 5 }),
    'a CONNECT of version 5 whose flags and properties are broken': [brokenProperties, publish(), pingreq],
  }),
  ...refusing({
    'a CONNECT whose protocol name is no UTF-8': connect({ name: [0x4d, 0xff, 0x54, 0x54] }),
    'a CONNECT whose protocol name contains NUL': connect({ name: 'MQT\0' }),
    'a CONNECT that ends behind its protocol name': packet(0x10, binary('MQTT')),
    'a CONNECT whose protocol name is longer than it': packet(0x10, binary('MQTT', 5)),
  }),
  ...admitting({
    'a CONNECT of MQIsdp with level 3, which is MQTT 3.1': [connect({ name: 'MQIsdp', level: 3 })],
  }),
]

const { clean, will, willRetain, password, username } = connectFlags
/** One with these flags, and no other fields than these. */
const withFields = (flags: number, ...fields: readonly Bytes[]) =>
  packet(0x10, binary('MQTT'), [4, flags], number16(0), ...fields)
const [a, b] = [binary('a'), binary('b')]
const long = 'a'.repeat(65_535)
const good = connect({ clientId: 'device', password: 'x' })

/** Flags, fields and lengths of a CONNECT (MQTT-3.1.2, -3.1.3). */
export const connects: readonly MqttCase[] = [
  ...refusing({
    'the reserved flag': connect({ flags: username | clean | 1 }),
    'the reserved flag alone': withFields(1, binary('')),
    'a will of QoS 3': connect({ will: { topic: writeTopic, qos: 3 } }),
    'QoS 1 of a will that is not there': connect({ flags: username | clean | (1 << 3) }),
    'QoS 2 of a will that is not there': connect({ flags: username | clean | (2 << 3) }),
    'QoS 3 of a will that is not there': connect({ flags: username | clean | (3 << 3) }),
    'RETAIN of a will that is not there': connect({ flags: username | clean | willRetain }),
    'a password flag without a username flag': withFields(clean | password, a, b),
    'a will flag and no will': withFields(clean | will, a),
    'a will flag and a will topic without a message': withFields(clean | will, a, binary(writeTopic)),
    'a username flag and no username': withFields(clean | username, a),
    'a password flag and no password': withFields(clean | username | password, a, b),
    'every flag': connect({ flags: 0xff }),
    'a username that no flag announces': connect({ flags: clean }),
    'a byte behind the last field': connect({ rest: [0] }),
    'a whole packet inside it, behind the last field': connect({ rest: [0xc0, 0] }),
    'a client id that is longer than the packet': withFields(clean, binary('abc', 4)),
    'a client id of 65,535 bytes that are not there': withFields(clean, binary('abc', 65_535)),
    'a username that is longer than the packet': withFields(clean | username, a, binary('abc', 9)),
    'a client id of one byte of length': withFields(clean, [0]),
    'no client id at all': withFields(clean),
    'no keep-alive': packet(0x10, binary('MQTT'), [4, clean]),
    'no flags': packet(0x10, binary('MQTT'), [4]),
    'no level': packet(0x10, binary('MQTT')),
    'no content': packet(0x10),
    'one byte': packet(0x10, [0]),
    'a length that is one too short': misannounced(good, -1),
    'a length that is one too short, behind which a PINGREQ comes': [misannounced(good, -1), packet(0xc0)],
  }).map(row => ({ ...row, name: `a CONNECT with ${row.name}` })),
  ...refusingWith(2, {
    'a CONNECT with a client id of 65,535 bytes': connect({ clientId: long }),
    'a CONNECT with a client id of 257 bytes': connect({ clientId: `${'é'.repeat(128)}a` }),
    'a CONNECT without client id for a persistent session': connect({ flags: username }),
  }),
  ...refusingWith(4, {
    'a CONNECT with a username of 65,535 bytes': connect({ username: long }),
    'a CONNECT with a password of 65,535 bytes': connect({ username: 'a', password: long }),
    'a CONNECT with a password that is no UTF-8': connect({
      username: 'a',
      password: [0xff, 0, 0xc0, 0x80],
    }),
  }),
  ...refusingWith(5, {
    'a CONNECT with an empty will topic': connect({ will: { topic: '' } }),
    'a CONNECT with a wildcard in the will topic': connect({ will: { topic: 'things/+/write' } }),
    'a CONNECT with a will topic of 65,535 slashes': connect({ will: { topic: '/'.repeat(65_535) } }),
    'a CONNECT with a will on $SYS': connect({ will: { topic: '$SYS/x' } }),
  }),
  ...admitting({
    'a CONNECT with a client id of 256 bytes': [connect({ clientId: 'é'.repeat(128) })],
    'a CONNECT with a client id of an object': [connect({ clientId: '__proto__' })],
    'a CONNECT with the longest keep-alive': [connect({ keepAlive: 65_535 })],
    'a CONNECT with a will of 65,535 bytes': [connect({ will: { topic: writeTopic, payload: long } })],
    'a CONNECT with an empty username and no password': [connect({ username: '' })],
    'a CONNECT without credentials': [connectAnonymous],
  }),
  {
    name: 'a CONNECT with a length that is one too long',
    sends: [misannounced(good, 1)],
    answers: [],
    outcome: 'unfinished',
  },
]

const { puback, pubrec, pubrel, pubcomp } = types

const connectOld = (options: Connect = {}) =>
  connect({ name: 'MQIsdp', level: 3, clientId: 'old', ...options })

const own = `things/${thingId}/values/none`
const anyFlags = [0, 1, 2, 3, 6, 8, 9, 10, 11, 15]

/** What is sent with any flags, and its answer: DUP says in 3.1 that it is sent again, the others are not used (3.1, section 2.1). */
const unused: Record<string, readonly [good: Buffer, ...answers: string[]]> = {
  SUBSCRIBE: [subscribe(own), 'suback 7: 1'],
  UNSUBSCRIBE: [unsubscribe(own), 'unsuback 7'],
  PUBREL: [acknowledge(pubrel), 'pubcomp 7'],
  PUBACK: [acknowledge(puback)],
  PUBREC: [acknowledge(pubrec)],
  PUBCOMP: [acknowledge(pubcomp)],
}

/** CONNECT whose username, or password, is missing though a flag announces it: the length counts (3.1, section 3.1). */
const ending = (flags: number, ...fields: readonly Buffer[]) =>
  packet(0x10, binary('MQIsdp'), [3, flags], [0, 0], binary('old'), ...fields)

/** MQTT 3.1, by its own rules where they are others than those of 3.1.1. What mosquitto does of a client of 3.1, is the same. */
export const oldProtocol: readonly MqttCase[] = [
  ...Object.entries(unused).flatMap(([name, [good, ...answers]]) =>
    answering(
      table(`of 3.1, a ${name} with the flags *, and a write behind it`, anyFlags, flags => [
        [withFlags(good, flags), publish({ packetId: 8 })],
        ...answers,
        'puback 8',
      ]),
      connectOld(),
    ),
  ),
  ...answering(
    {
      ...table('of 3.1, a PINGREQ with the flags *', anyFlags, flags => [
        withFlags(pingreq, flags),
        'pingresp',
      ]),
      'of 3.1, a PUBLISH of QoS 0 with DUP, and a write behind it': [
        [withFlags(publish({ qos: 0 }), 8), publish({ packetId: 8 })],
        'puback 8',
      ],
      'of 3.1, a QoS 2 write of which everything comes again': [
        [
          publish({ qos: 2 }),
          withFlags(publish({ qos: 2 }), 0x0c),
          acknowledge(pubrel),
          withFlags(acknowledge(pubrel), 0x0a),
        ],
        'pubrec 7',
        'pubrec 7',
        'pubcomp 7',
        'pubcomp 7',
      ],
      'of 3.1, a SUBSCRIBE of which a filter is refused': [
        subscribe([own, 1], ['house/a', 2], ['$SYS/#', 0], ['other/#', 2]),
        'suback 7: 1 2 0 2',
      ],
    },
    connectOld(),
  ),
  ...admitting({
    'of 3.1, a CONNECT with the lowest flag': [connectOld({ flags: username | clean | 1 })],
    'of 3.1, a CONNECT with the QoS of a will and no will': [
      connectOld({ flags: username | clean | (3 << 3) }),
    ],
    'of 3.1, a CONNECT that has a will retained and no will': [
      connectOld({ flags: username | clean | willRetain }),
    ],
    'of 3.1, a CONNECT without the username that it announces': [
      [ending(clean | username), publish()],
      'puback 7',
    ],
    'of 3.1, a CONNECT without username and password that it announces': [
      [ending(clean | username | password), publish()],
      'puback 7',
    ],
    'of 3.1, a CONNECT without the password that it announces': [
      [ending(clean | username | password, binary(token)), publish()],
      'puback 7',
    ],
  }),
  ...refusing({
    'of 3.1, a CONNECT with a password and no username': ending(clean | password, binary(token)),
    'of 3.1, a CONNECT with bytes behind a username': connectOld({ rest: [0] }),
  }),
  ...closing(
    {
      'of 3.1, a PUBLISH of QoS 3': withFlags(publish(), 6),
      'of 3.1, a packet of type 0': packet(0),
      'of 3.1, a SUBACK': packet(0x90, [0, 7, 0]),
      'of 3.1, a second CONNECT': connectOld(),
    },
    connectOld(),
  ),
]
