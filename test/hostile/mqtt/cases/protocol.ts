import { binary, connect, number16, packet } from '../bytes.ts'
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

const refusedLevels: readonly [name: string, level: number][] = [
  ['MQTT', 0],
  ['MQTT', 1],
  ['MQTT', 2],
  ['MQTT', 3],
  ['MQTT', 5],
  ['MQIsdp', 0],
  ['MQIsdp', 2],
  ['MQIsdp', 4],
  ['MQIsdp', 5],
]

const closedLevels: readonly [name: string, level: number][] = [
  ['MQTT', 6],
  ['MQTT', 0x83],
  ['MQTT', 0x84],
  ['MQTT', 0x85],
  ['MQTT', 255],
  ['MQIsdp', 6],
  ['MQIsdp', 0x83],
  ['MQIsdp', 0x84],
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
    [],
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
    },
    ['connack 1'],
  ),
  ...closing(
    Object.fromEntries(
      closedLevels.map(([name, level]) => [
        `a CONNECT of ${name} with level ${level}`,
        [connect({ name, level })],
      ]),
    ),
    [],
  ),
  {
    name: 'a CONNECT of MQIsdp with level 3, which is MQTT 3.1',
    sends: [connect({ name: 'MQIsdp', level: 3 })],
    answers: ['connack 0'],
    outcome: 'open',
  },
]
