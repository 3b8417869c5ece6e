import {
  binary,
  connect,
  connectAnonymous,
  connectFlags,
  misannounced,
  number16,
  packet,
  writeTopic,
} from '../bytes.ts'
import { answering, closing, type MqttCase } from '../case.ts'

const { clean, will, willRetain, password, username } = connectFlags
const start = (flags: number) => [binary('MQTT'), [4, flags], number16(0)]
const long = 'a'.repeat(65_535)
const good = connect({ clientId: 'device', password: 'x' })

/** Flags, fields and lengths of a CONNECT (MQTT-3.1.2, -3.1.3). */
export const connects: readonly MqttCase[] = [
  ...closing(
    {
      'the reserved flag': [connect({ flags: username | clean | 1 })],
      'the reserved flag alone': [packet(0x10, ...start(1), binary(''))],
      'a will of QoS 3': [connect({ will: { topic: writeTopic, qos: 3 } })],
      'QoS 1 of a will that is not there': [connect({ flags: username | clean | (1 << 3) })],
      'QoS 2 of a will that is not there': [connect({ flags: username | clean | (2 << 3) })],
      'QoS 3 of a will that is not there': [connect({ flags: username | clean | (3 << 3) })],
      'RETAIN of a will that is not there': [connect({ flags: username | clean | willRetain })],
      'a password flag without a username flag': [
        packet(0x10, ...start(clean | password), binary('a'), binary('b')),
      ],
      'a will flag and no will': [packet(0x10, ...start(clean | will), binary('a'))],
      'a will flag and a will topic without a message': [
        packet(0x10, ...start(clean | will), binary('a'), binary(writeTopic)),
      ],
      'a username flag and no username': [packet(0x10, ...start(clean | username), binary('a'))],
      'a password flag and no password': [
        packet(0x10, ...start(clean | username | password), binary('a'), binary('b')),
      ],
      'every flag': [connect({ flags: 0xff })],
      'a username that no flag announces': [connect({ flags: clean })],
      'a byte behind the last field': [connect({ rest: [0] })],
      'a whole packet inside it, behind the last field': [connect({ rest: [0xc0, 0] })],
      'a client id that is longer than the packet': [packet(0x10, ...start(clean), binary('abc', 4))],
      'a client id of 65,535 bytes that are not there': [
        packet(0x10, ...start(clean), binary('abc', 65_535)),
      ],
      'a username that is longer than the packet': [
        packet(0x10, ...start(clean | username), binary('a'), binary('abc', 9)),
      ],
      'a client id of one byte of length': [packet(0x10, ...start(clean), [0])],
      'no client id at all': [packet(0x10, ...start(clean))],
      'no keep-alive': [packet(0x10, binary('MQTT'), [4, clean])],
      'no flags': [packet(0x10, binary('MQTT'), [4])],
      'no level': [packet(0x10, binary('MQTT'))],
      'no content': [packet(0x10)],
      'one byte': [packet(0x10, [0])],
      'a length that is one too short': [misannounced(good, -1)],
      'a length that is one too short, behind which a PINGREQ comes': [misannounced(good, -1), packet(0xc0)],
    },
    [],
  ).map(row => ({ ...row, name: `a CONNECT with ${row.name}` })),
  ...closing(
    {
      'a CONNECT with a client id of 65,535 bytes': [connect({ clientId: long })],
      'a CONNECT with a client id of 257 bytes': [connect({ clientId: `${'é'.repeat(128)}a` })],
      'a CONNECT without client id for a persistent session': [connect({ flags: username })],
    },
    ['connack 2'],
  ),
  ...closing(
    {
      'a CONNECT with a username of 65,535 bytes': [connect({ username: long })],
      'a CONNECT with a password of 65,535 bytes': [connect({ username: 'a', password: long })],
      'a CONNECT with a password that is no UTF-8': [
        connect({ username: 'a', password: [0xff, 0, 0xc0, 0x80] }),
      ],
    },
    ['connack 4'],
  ),
  ...closing(
    {
      'a CONNECT with an empty will topic': [connect({ will: { topic: '' } })],
      'a CONNECT with a wildcard in the will topic': [connect({ will: { topic: 'things/+/write' } })],
      'a CONNECT with a will topic of 65,535 slashes': [connect({ will: { topic: '/'.repeat(65_535) } })],
      'a CONNECT with a will on $SYS': [connect({ will: { topic: '$SYS/x' } })],
    },
    ['connack 5'],
  ),
  ...answering([
    ['a CONNECT with a client id of 256 bytes', [connect({ clientId: 'é'.repeat(128) })], 'connack 0'],
    ['a CONNECT with a client id of an object', [connect({ clientId: '__proto__' })], 'connack 0'],
    ['a CONNECT with the longest keep-alive', [connect({ keepAlive: 65_535 })], 'connack 0'],
    [
      'a CONNECT with a will of 65,535 bytes',
      [connect({ will: { topic: writeTopic, payload: long } })],
      'connack 0',
    ],
    ['a CONNECT with an empty username and no password', [connect({ username: '' })], 'connack 0'],
    ['a CONNECT without credentials', [connectAnonymous], 'connack 0'],
  ]),
  {
    name: 'a CONNECT with a length that is one too long',
    sends: [misannounced(good, 1)],
    answers: [],
    outcome: 'unfinished',
  },
]
