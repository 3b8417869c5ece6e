import {
  acknowledge,
  type Bytes,
  binary,
  connect,
  connectAnonymous,
  disconnect,
  join,
  misannounced,
  number16,
  packet,
  pingreq,
  publish,
  subscribe,
  types,
  unsubscribe,
  withFlags,
  writeTopic,
} from '../bytes.ts'
import { answering, closing, type MqttCase, refusing, refusingWith, table } from '../case.ts'

const { puback, pubrec, pubrel, pubcomp } = types

/** By name, a packet that is right but for its flags, and flags that are not (table 2.2). */
const badFlags: Record<string, readonly [good: Buffer, ...flags: number[]]> = {
  PUBACK: [acknowledge(puback), 1, 2, 8, 15],
  PUBREC: [acknowledge(pubrec), 2, 4],
  PUBREL: [acknowledge(pubrel), 0, 1, 3, 10],
  PUBCOMP: [acknowledge(pubcomp), 1, 2],
  SUBSCRIBE: [subscribe('a'), 0, 1, 3, 6, 10],
  UNSUBSCRIBE: [unsubscribe('a'), 0, 4, 10, 15],
  PINGREQ: [packet(0xc0), 1, 8],
  DISCONNECT: [packet(0xe0), 1, 2],
}

const reserved = Object.entries(badFlags).map(([name, [good, ...all]]) =>
  table(`a ${name} with the flags *`, all, flags => withFlags(good, flags)),
)

/** What only a server sends, and what nobody does. */
const foreign: Record<string, Buffer> = {
  'a CONNACK': packet(0x20, [0, 0]),
  'a SUBACK': packet(0x90, [0, 7, 0]),
  'an UNSUBACK': packet(0xb0, [0, 7]),
  'a PINGRESP': packet(0xd0),
  'a packet of type 0': packet(0),
  'a packet of type 0 with content': packet(0, [1, 2, 3]),
  'a packet of type 0 with flags': packet(0x0f),
  'a packet of type 15': packet(0xf0),
  'a packet of type 15 with a reason': packet(0xf0, [0]),
  'a packet of type 15 with flags': packet(0xff),
  'the first byte of a packet of type 15': Buffer.from([0xf0]),
  'the first byte of a SUBACK': Buffer.from([0x90]),
}

const publishes: Record<string, Buffer> = {
  'a PUBLISH of QoS 3': withFlags(publish(), 6),
  'a PUBLISH of QoS 3 with DUP and RETAIN': withFlags(publish(), 15),
  'a PUBLISH of QoS 0 with DUP': withFlags(publish({ qos: 0 }), 8),
  'a PUBLISH of QoS 0 with DUP and RETAIN': withFlags(publish({ qos: 0 }), 9),
}

/** The first byte of packets (MQTT-2.2.2-2, -3.3.1-2, -4). */
export const firstBytes: readonly MqttCase[] = [
  ...refusing(
    table('a CONNECT with the flags * in its first byte', [1, 2, 4, 8, 15], flags =>
      withFlags(connect(), flags),
    ),
  ),
  ...reserved.flatMap(rows => closing(rows)),
  ...closing({ ...foreign, ...publishes }),
]

const first: Record<string, Buffer> = {
  'a PUBLISH of QoS 0': publish({ qos: 0 }),
  'a PUBLISH of QoS 1': publish(),
  'a PUBLISH of QoS 2': publish({ qos: 2 }),
  'a PUBACK': acknowledge(puback),
  'a PUBREC': acknowledge(pubrec),
  'a PUBREL': acknowledge(pubrel),
  'a PUBCOMP': acknowledge(pubcomp),
  'a SUBSCRIBE': subscribe('things/+/errors'),
  'an UNSUBSCRIBE': unsubscribe('a'),
  'a PINGREQ': pingreq,
  'a DISCONNECT': disconnect,
  'a CONNACK': packet(0x20, [0, 0]),
  'the first byte of a PUBLISH': Buffer.from([0x30]),
  'an HTTP request': Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n'),
  'a POST request': Buffer.from('POST / HTTP/1.1\r\nHost: a\r\n\r\n'),
  'a TLS handshake': Buffer.from('1603010200010001fc0303', 'hex'),
  'an SSH banner': Buffer.from('SSH-2.0-OpenSSH_9.6\r\n'),
  'a PROXY line': Buffer.from('PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n'),
  zeros: Buffer.alloc(1_000),
  ones: Buffer.alloc(1_000, 0xff),
}

/** What may come first, and after what (MQTT-3.1.0-1, -2; MQTT-3.14.4-1). */
export const order: readonly MqttCase[] = [
  ...refusing(table('* before a CONNECT', first, bytes => [bytes, connect()])),
  ...closing({
    'a second CONNECT': connect(),
    'a second CONNECT without credentials': connectAnonymous,
    'a second CONNECT of version 5': connect({ level: 5 }),
    'the first byte of a second CONNECT': Buffer.from([0x10]),
    'a DISCONNECT': disconnect,
    'a PUBLISH behind a DISCONNECT': [disconnect, publish()],
    'a PINGREQ behind a DISCONNECT': [disconnect, pingreq],
    'garbage behind a DISCONNECT': [disconnect, Buffer.alloc(1_000, 0xff)],
  }),
  ...refusingWith(0, { 'a second CONNECT behind a PINGREQ': [connectAnonymous, connect({ clientId: 'a' })] }),
]

const acks = { PUBACK: puback, PUBREC: pubrec, PUBREL: pubrel, PUBCOMP: pubcomp }

/** By name, what comes in place of the two bytes of an acknowledgement, and behind it. */
const wrongLengths: Record<string, readonly [content: Bytes, ...others: Buffer[]]> = {
  'no bytes': [[]],
  // The bytes that follow must not be read as if they were its own.
  'no bytes before a PINGREQ': [[], pingreq],
  'one byte': [[7]],
  'one byte before a PINGREQ': [[7], pingreq],
  'three bytes': [[0, 7, 0]],
  'version 5': [[0, 7, 0, 0]],
}

/** Lengths, announced and real (MQTT-2.2.3). */
export const lengths: readonly MqttCase[] = [
  ...refusing({
    'a CONNECT with a length of five bytes': Buffer.from([0x10, 0x80, 0x80, 0x80, 0x80, 0x01]),
    'a CONNECT with a length that does not end': Buffer.from([0x10, 0xff, 0xff, 0xff, 0xff, 0xff]),
    'a CONNECT over maxPacketSize': Buffer.from([0x10, 0x81, 0x80, 0x40]),
    'a CONNECT of 256 MB': Buffer.from([0x10, 0xff, 0xff, 0xff, 0x7f]),
  }),
  ...Object.entries(acks).flatMap(([name, type]) =>
    closing(
      table(`a ${name} of *`, wrongLengths, ([content, ...others]) => [
        packet(acknowledge(type).readUInt8(), content),
        ...others,
      ]),
    ),
  ),
  ...closing({
    'a PUBLISH with a length of five bytes': Buffer.from([0x30, 0x80, 0x80, 0x80, 0x80, 0x01]),
    'a PINGREQ with a length of five bytes': Buffer.from([0xc0, 0x80, 0x80, 0x80, 0x80, 0x00]),
    'a PUBLISH over maxPacketSize': Buffer.from([0x30, 0x81, 0x80, 0x40]),
    'a SUBSCRIBE of 256 MB': Buffer.from([0x82, 0xff, 0xff, 0xff, 0x7f]),
    'a PINGREQ with content': packet(0xc0, [0]),
    'a PINGREQ that announces content': Buffer.from([0xc0, 0x01]),
    'a PINGREQ that contains a PINGREQ': packet(0xc0, pingreq),
    'a DISCONNECT with content': packet(0xe0, [0]),
    'a DISCONNECT of version 5': packet(0xe0, [4, 0]),
    'a PUBLISH of no bytes': packet(0x30),
    'a PUBLISH of no bytes before a good one': [packet(0x32), publish()],
    'a PUBLISH of one byte': packet(0x30, [0]),
    'a PUBLISH whose topic is longer than the packet': packet(0x30, binary('things', 7)),
    'a PUBLISH whose topic goes on in the next packet': [packet(0x30, binary('things', 8)), publish()],
    'a PUBLISH of QoS 1 without a packet id': packet(0x32, binary(writeTopic)),
    'a PUBLISH of QoS 1 without a packet id, before a PINGREQ': [packet(0x32, binary(writeTopic)), pingreq],
    'a PUBLISH of QoS 1 with half a packet id': packet(0x32, binary(writeTopic), [0]),
    'a SUBSCRIBE of no bytes': packet(0x82),
    'a SUBSCRIBE of one byte': packet(0x82, [0]),
    'a SUBSCRIBE without filters': packet(0x82, number16(7)),
    'a SUBSCRIBE without filters before a PINGREQ': [packet(0x82, number16(7)), pingreq],
    'a SUBSCRIBE without a requested QoS': packet(0x82, number16(7), binary('a')),
    'a SUBSCRIBE without the last requested QoS': packet(0x82, number16(7), binary('a'), [1], binary('b')),
    'a SUBSCRIBE with a byte behind it': join(packet(0x82, number16(7), binary('a'), [1], [0])),
    'a SUBSCRIBE with a filter that is longer than it': packet(0x82, number16(7), binary('a', 2), [1]),
    'a SUBSCRIBE with a length that is one too short': misannounced(subscribe('a'), -1),
    'an UNSUBSCRIBE of no bytes': packet(0xa2),
    'an UNSUBSCRIBE without filters': packet(0xa2, number16(7)),
    'an UNSUBSCRIBE without filters before a PINGREQ': [packet(0xa2, number16(7)), pingreq],
    'an UNSUBSCRIBE with a byte behind it': packet(0xa2, number16(7), binary('a'), [0]),
    'an UNSUBSCRIBE with a requested QoS': packet(0xa2, number16(7), binary('a'), [1]),
    'an UNSUBSCRIBE with a filter that is longer than it': packet(0xa2, number16(7), binary('a', 2)),
    'an UNSUBSCRIBE with a length that is one too short': misannounced(unsubscribe('a'), -1),
  }),
  ...answering({
    'a PINGREQ with a length of two bytes': [Buffer.from([0xc0, 0x80, 0x00]), 'pingresp'],
    'a PINGREQ with a length of four bytes': [Buffer.from([0xc0, 0x80, 0x80, 0x80, 0x00]), 'pingresp'],
  }),
  ...closing({
    'a PUBLISH with a length that is too long': misannounced(publish(), 1),
    'a SUBSCRIBE with a length that is too long': misannounced(subscribe('a'), 1),
    'an UNSUBSCRIBE with a length that is too long': misannounced(unsubscribe('a'), 1),
    'a PUBLISH of 1 MiB that has no content': Buffer.from([0x30, 0x80, 0x80, 0x40]),
  }).map(row => ({ ...row, outcome: 'unfinished' as const })),
]

/** Packet identifiers (MQTT-2.3.1). */
export const packetIds: readonly MqttCase[] = [
  ...closing({
    'a PUBLISH of QoS 1 with packet id 0': publish({ packetId: 0 }),
    'a PUBLISH of QoS 2 with packet id 0': publish({ qos: 2, packetId: 0 }),
    'a PUBACK of packet id 0': acknowledge(puback, 0),
    'a PUBREC of packet id 0': acknowledge(pubrec, 0),
    'a PUBREL of packet id 0': acknowledge(pubrel, 0),
    'a PUBCOMP of packet id 0': acknowledge(pubcomp, 0),
    'a SUBSCRIBE with packet id 0': packet(0x82, number16(0), binary('a'), [0]),
    'an UNSUBSCRIBE with packet id 0': packet(0xa2, number16(0), binary('a')),
  }),
  ...answering({
    'a PUBACK of nothing': [acknowledge(puback)],
    'a PUBACK of the last packet id': [acknowledge(puback, 65_535)],
    'a PUBCOMP of nothing': [acknowledge(pubcomp)],
    'a PUBREL of nothing': [acknowledge(pubrel), 'pubcomp 7'],
    'two PUBRELs of nothing': [[acknowledge(pubrel), acknowledge(pubrel)], 'pubcomp 7', 'pubcomp 7'],
    'a PUBLISH of QoS 2 that is sent twice, and released': [
      [publish({ qos: 2 }), publish({ qos: 2 }), acknowledge(pubrel)],
      'pubrec 7',
      'pubrec 7',
      'pubcomp 7',
    ],
    'two PUBLISHes with one packet id': [[publish(), publish()], 'puback 7', 'puback 7'],
  }),
]
