import {
  acknowledge,
  binary,
  connect,
  join,
  misannounced,
  number16,
  packet,
  pingreq,
  publish,
  subscribe,
  types,
  unsubscribe,
  writeTopic,
} from '../bytes.ts'
import { answering, closing, type MqttCase } from '../case.ts'

const { puback, pubrec, pubrel, pubcomp } = types
const acks = { PUBACK: puback, PUBREC: pubrec, PUBREL: pubrel, PUBCOMP: pubcomp }

const acksOfOtherLengths = Object.entries(acks).flatMap(([name, type]) => {
  const [firstByte = 0] = acknowledge(type)
  return [
    [`a ${name} of no bytes`, [connect(), packet(firstByte)]],
    // The bytes that follow must not be read as if they were its own.
    [`a ${name} of no bytes before a PINGREQ`, [connect(), packet(firstByte), pingreq]],
    [`a ${name} of one byte`, [connect(), packet(firstByte, [7])]],
    [`a ${name} of one byte before a PINGREQ`, [connect(), packet(firstByte, [7]), pingreq]],
    [`a ${name} of three bytes`, [connect(), packet(firstByte, [0, 7, 0])]],
    [`a ${name} of version 5`, [connect(), packet(firstByte, [0, 7, 0, 0])]],
  ] as const
})

/** Lengths, announced and real (MQTT-2.2.3). */
export const lengths: readonly MqttCase[] = [
  ...closing(
    {
      'a CONNECT with a length of five bytes': [Buffer.from([0x10, 0x80, 0x80, 0x80, 0x80, 0x01])],
      'a CONNECT with a length that does not end': [Buffer.from([0x10, 0xff, 0xff, 0xff, 0xff, 0xff])],
      'a CONNECT over maxPacketSize': [Buffer.from([0x10, 0x81, 0x80, 0x40])],
      'a CONNECT of 256 MB': [Buffer.from([0x10, 0xff, 0xff, 0xff, 0x7f])],
    },
    [],
  ),
  ...closing(Object.fromEntries(acksOfOtherLengths)),
  ...closing({
    'a PUBLISH with a length of five bytes': [connect(), Buffer.from([0x30, 0x80, 0x80, 0x80, 0x80, 0x01])],
    'a PINGREQ with a length of five bytes': [connect(), Buffer.from([0xc0, 0x80, 0x80, 0x80, 0x80, 0x00])],
    'a PUBLISH over maxPacketSize': [connect(), Buffer.from([0x30, 0x81, 0x80, 0x40])],
    'a SUBSCRIBE of 256 MB': [connect(), Buffer.from([0x82, 0xff, 0xff, 0xff, 0x7f])],
    'a PINGREQ with content': [connect(), packet(0xc0, [0])],
    'a PINGREQ that announces content': [connect(), Buffer.from([0xc0, 0x01])],
    'a PINGREQ that contains a PINGREQ': [connect(), packet(0xc0, pingreq)],
    'a DISCONNECT with content': [connect(), packet(0xe0, [0])],
    'a DISCONNECT of version 5': [connect(), packet(0xe0, [4, 0])],
    'a PUBLISH of no bytes': [connect(), packet(0x30)],
    'a PUBLISH of no bytes before a good one': [connect(), packet(0x32), publish()],
    'a PUBLISH of one byte': [connect(), packet(0x30, [0])],
    'a PUBLISH whose topic is longer than the packet': [connect(), packet(0x30, binary('things', 7))],
    'a PUBLISH whose topic goes on in the next packet': [
      connect(),
      packet(0x30, binary('things', 8)),
      publish(),
    ],
    'a PUBLISH of QoS 1 without a packet id': [connect(), packet(0x32, binary(writeTopic))],
    'a PUBLISH of QoS 1 without a packet id, before a PINGREQ': [
      connect(),
      packet(0x32, binary(writeTopic)),
      pingreq,
    ],
    'a PUBLISH of QoS 1 with half a packet id': [connect(), packet(0x32, binary(writeTopic), [0])],
    'a SUBSCRIBE of no bytes': [connect(), packet(0x82)],
    'a SUBSCRIBE of one byte': [connect(), packet(0x82, [0])],
    'a SUBSCRIBE without filters': [connect(), packet(0x82, number16(7))],
    'a SUBSCRIBE without filters before a PINGREQ': [connect(), packet(0x82, number16(7)), pingreq],
    'a SUBSCRIBE without a requested QoS': [connect(), packet(0x82, number16(7), binary('a'))],
    'a SUBSCRIBE without the last requested QoS': [
      connect(),
      packet(0x82, number16(7), binary('a'), [1], binary('b')),
    ],
    'a SUBSCRIBE with a byte behind it': [connect(), join(packet(0x82, number16(7), binary('a'), [1], [0]))],
    'a SUBSCRIBE with a filter that is longer than it': [
      connect(),
      packet(0x82, number16(7), binary('a', 2), [1]),
    ],
    'a SUBSCRIBE with a length that is one too short': [connect(), misannounced(subscribe('a'), -1)],
    'an UNSUBSCRIBE of no bytes': [connect(), packet(0xa2)],
    'an UNSUBSCRIBE without filters': [connect(), packet(0xa2, number16(7))],
    'an UNSUBSCRIBE without filters before a PINGREQ': [connect(), packet(0xa2, number16(7)), pingreq],
    'an UNSUBSCRIBE with a byte behind it': [connect(), packet(0xa2, number16(7), binary('a'), [0])],
    'an UNSUBSCRIBE with a requested QoS': [connect(), packet(0xa2, number16(7), binary('a'), [1])],
    'an UNSUBSCRIBE with a filter that is longer than it': [
      connect(),
      packet(0xa2, number16(7), binary('a', 2)),
    ],
    'an UNSUBSCRIBE with a length that is one too short': [connect(), misannounced(unsubscribe('a'), -1)],
  }),
  ...answering([
    [
      'a PINGREQ with a length of two bytes',
      [connect(), Buffer.from([0xc0, 0x80, 0x00])],
      'connack 0',
      'pingresp',
    ],
    [
      'a PINGREQ with a length of four bytes',
      [connect(), Buffer.from([0xc0, 0x80, 0x80, 0x80, 0x00])],
      'connack 0',
      'pingresp',
    ],
  ]),
  ...(
    [
      ['a PUBLISH', misannounced(publish(), 1)],
      ['a SUBSCRIBE', misannounced(subscribe('a'), 1)],
      ['an UNSUBSCRIBE', misannounced(unsubscribe('a'), 1)],
      ['a PUBLISH of 1 MiB that has no content', Buffer.from([0x30, 0x80, 0x80, 0x40])],
    ] as const
  ).map(
    ([name, bytes]): MqttCase => ({
      name: `${name} with a length that is too long`,
      sends: [connect(), bytes],
      answers: ['connack 0'],
      outcome: 'unfinished',
    }),
  ),
]
