import { binary, connect, number16, packet, pingreq, publish } from '../bytes.ts'
import { closing, type MqttCase } from '../case.ts'

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

const otherLevels = [0, 1, 2, 5, 6, 7, 0x10, 0x7f, 0x80, 0x83, 0x84, 0x85, 0x86, 0xfe, 0xff]
const refusedLevels: readonly [name: string, level: number][] = [
  ...otherLevels.map((level): [string, number] => ['MQTT', level]),
  ...otherLevels.map((level): [string, number] => ['MQIsdp', level]),
  ['MQTT', 3],
  ['MQIsdp', 4],
]

/** A version 5 CONNECT, whose properties no reader of 3.1.1 understands. */
const properties = packet(0x10, binary('MQTT'), [5, 2], number16(0), [5, 0x11, 0, 0, 0, 10], binary('five'))
const brokenProperties = packet(0x10, binary('MQTT'), [5, 0xff], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])

/** Protocol names and levels (MQTT-3.1.2-1, -2; contract §7). */
export const protocol: readonly MqttCase[] = [
  ...closing(
    Object.fromEntries(
      Object.entries(names).map(([what, name]) => [`a CONNECT of ${what}`, [connect({ name })]]),
    ),
    ['connack 1'],
  ),
  ...closing(
    Object.fromEntries(
      refusedLevels.map(([name, level]) => [
        `a CONNECT of ${name} with level ${level}`,
        [connect({ name, level })],
      ]),
    ),
    ['connack 1'],
  ),
  ...closing(
    {
      'a CONNECT of version 5 with properties': [properties],
      'a CONNECT of version 5 whose flags and properties are broken': [brokenProperties],
      'a CONNECT that ends behind a level that is not served': [packet(0x10, binary('MQTT'), [0x84])],
      "a bridge's CONNECT with a will on $SYS": [
        connect({ level: 0x84, will: { topic: '$SYS/broker/connection/shed/state', payload: '0', qos: 1 } }),
      ],
      'a CONNECT that is not served, and packets behind it': [connect({ level: 6 }), publish(), pingreq],
    },
    ['connack 1'],
  ),
  ...closing(
    {
      'a CONNECT whose protocol name is no UTF-8': [connect({ name: [0x4d, 0xff, 0x54, 0x54] })],
      'a CONNECT whose protocol name contains NUL': [connect({ name: 'MQT\0' })],
      'a CONNECT that ends behind its protocol name': [packet(0x10, binary('MQTT'))],
      'a CONNECT whose protocol name is longer than it': [packet(0x10, binary('MQTT', 5))],
    },
    [],
  ),
  {
    name: 'a CONNECT of MQIsdp with level 3, which is MQTT 3.1',
    sends: [connect({ name: 'MQIsdp', level: 3 })],
    answers: ['connack 0'],
    outcome: 'open',
  },
]
