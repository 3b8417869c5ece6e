import { acknowledge, binary, connect, number16, packet, publish, types } from '../bytes.ts'
import { answering, closing, type MqttCase } from '../case.ts'

const { puback, pubrec, pubrel, pubcomp } = types

/** Packet identifiers (MQTT-2.3.1). */
export const packetIds: readonly MqttCase[] = [
  ...closing({
    'a PUBLISH of QoS 1 with packet id 0': [connect(), publish({ packetId: 0 })],
    'a PUBLISH of QoS 2 with packet id 0': [connect(), publish({ qos: 2, packetId: 0 })],
    'a PUBACK of packet id 0': [connect(), acknowledge(puback, 0)],
    'a PUBREC of packet id 0': [connect(), acknowledge(pubrec, 0)],
    'a PUBREL of packet id 0': [connect(), acknowledge(pubrel, 0)],
    'a PUBCOMP of packet id 0': [connect(), acknowledge(pubcomp, 0)],
    'a SUBSCRIBE with packet id 0': [connect(), packet(0x82, number16(0), binary('a'), [0])],
    'an UNSUBSCRIBE with packet id 0': [connect(), packet(0xa2, number16(0), binary('a'))],
  }),
  ...answering([
    ['a PUBACK of nothing', [connect(), acknowledge(puback)], 'connack 0'],
    ['a PUBACK of the last packet id', [connect(), acknowledge(puback, 65_535)], 'connack 0'],
    ['a PUBCOMP of nothing', [connect(), acknowledge(pubcomp)], 'connack 0'],
    ['a PUBREL of nothing', [connect(), acknowledge(pubrel)], 'connack 0', 'pubcomp 7'],
    [
      'two PUBRELs of nothing',
      [connect(), acknowledge(pubrel), acknowledge(pubrel)],
      'connack 0',
      'pubcomp 7',
      'pubcomp 7',
    ],
    [
      'a PUBLISH of QoS 2 that is sent twice, and released',
      [connect(), publish({ qos: 2 }), publish({ qos: 2 }), acknowledge(pubrel)],
      'connack 0',
      'pubrec 7',
      'pubrec 7',
      'pubcomp 7',
    ],
    [
      'two PUBLISHes with one packet id',
      [connect(), publish(), publish()],
      'connack 0',
      'puback 7',
      'puback 7',
    ],
  ]),
]
