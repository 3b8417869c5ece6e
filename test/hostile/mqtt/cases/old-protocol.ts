import {
  acknowledge,
  binary,
  type Connect,
  connect,
  connectFlags,
  join,
  packet,
  pingreq,
  publish,
  subscribe,
  thingId,
  token,
  types,
  unsubscribe,
} from '../bytes.ts'
import { answering, closing, type MqttCase } from '../case.ts'

const { puback, pubrec, pubrel, pubcomp } = types
const { username, password, clean, willRetain } = connectFlags

const connectOld = (options: Connect = {}) =>
  connect({ name: 'MQIsdp', level: 3, clientId: 'old', ...options })

function withFlags(good: Buffer, flags: number): Buffer {
  const [firstByte = 0] = good
  return join([(firstByte & 0xf0) | flags], good.subarray(1))
}

const own = `things/${thingId}/values/none`
const anyFlags = [0, 1, 2, 3, 6, 8, 9, 10, 11, 15]

/** What is sent with any flags, and its answer: DUP says in 3.1 that it is sent again, the others are not used (3.1, section 2.1). */
const unused: readonly [name: string, good: Buffer, ...answers: string[]][] = [
  ['SUBSCRIBE', subscribe(own), 'suback 7: 1'],
  ['UNSUBSCRIBE', unsubscribe(own), 'unsuback 7'],
  ['PUBREL', acknowledge(pubrel), 'pubcomp 7'],
  ['PUBACK', acknowledge(puback)],
  ['PUBREC', acknowledge(pubrec)],
  ['PUBCOMP', acknowledge(pubcomp)],
]

/** CONNECT whose username, or password, is missing though a flag announces it: the length counts (3.1, section 3.1). */
const ending = (flags: number, ...fields: readonly Buffer[]) =>
  packet(0x10, binary('MQIsdp'), [3, flags], [0, 0], binary('old'), ...fields)

/** MQTT 3.1, by its own rules where they are others than those of 3.1.1. What mosquitto does of a client of 3.1, is the same. */
export const oldProtocol: readonly MqttCase[] = [
  ...answering(
    unused.flatMap(([name, good, ...answers]) =>
      anyFlags.map(
        flags =>
          [
            `of 3.1, a ${name} with the flags ${flags}, and a write behind it`,
            [connectOld(), withFlags(good, flags), publish({ packetId: 8 })],
            'connack 0',
            ...answers,
            'puback 8',
          ] as [string, Buffer[], ...string[]],
      ),
    ),
  ),
  ...answering(
    anyFlags.map(
      flags =>
        [
          `of 3.1, a PINGREQ with the flags ${flags}`,
          [connectOld(), withFlags(pingreq, flags)],
          'connack 0',
          'pingresp',
        ] as [string, Buffer[], ...string[]],
    ),
  ),
  ...answering([
    [
      'of 3.1, a PUBLISH of QoS 0 with DUP, and a write behind it',
      [connectOld(), withFlags(publish({ qos: 0 }), 8), publish({ packetId: 8 })],
      'connack 0',
      'puback 8',
    ],
    [
      'of 3.1, a QoS 2 write of which everything comes again',
      [
        connectOld(),
        publish({ qos: 2 }),
        withFlags(publish({ qos: 2 }), 0x0c),
        acknowledge(pubrel),
        withFlags(acknowledge(pubrel), 0x0a),
      ],
      'connack 0',
      'pubrec 7',
      'pubrec 7',
      'pubcomp 7',
      'pubcomp 7',
    ],
    [
      'of 3.1, a SUBSCRIBE of which a filter is refused',
      [connectOld(), subscribe([own, 1], ['house/a', 2], ['$SYS/#', 0], ['other/#', 2])],
      'connack 0',
      'suback 7: 1 2 0 2',
    ],
    ['of 3.1, a CONNECT with the lowest flag', [connectOld({ flags: username | clean | 1 })], 'connack 0'],
    [
      'of 3.1, a CONNECT with the QoS of a will and no will',
      [connectOld({ flags: username | clean | (3 << 3) })],
      'connack 0',
    ],
    [
      'of 3.1, a CONNECT that has a will retained and no will',
      [connectOld({ flags: username | clean | willRetain })],
      'connack 0',
    ],
    [
      'of 3.1, a CONNECT without the username that it announces',
      [ending(clean | username), publish()],
      'connack 0',
      'puback 7',
    ],
    [
      'of 3.1, a CONNECT without username and password that it announces',
      [ending(clean | username | password), publish()],
      'connack 0',
      'puback 7',
    ],
    [
      'of 3.1, a CONNECT without the password that it announces',
      [ending(clean | username | password, binary(token)), publish()],
      'connack 0',
      'puback 7',
    ],
  ]),
  ...closing(
    {
      'of 3.1, a CONNECT with a password and no username': [ending(clean | password, binary(token))],
      'of 3.1, a CONNECT with bytes behind a username': [connectOld({ rest: [0] })],
    },
    [],
  ),
  ...closing({
    'of 3.1, a PUBLISH of QoS 3': [connectOld(), withFlags(publish(), 6)],
    'of 3.1, a packet of type 0': [connectOld(), packet(0)],
    'of 3.1, a SUBACK': [connectOld(), packet(0x90, [0, 7, 0])],
    'of 3.1, a second CONNECT': [connectOld(), connectOld()],
  }),
]
