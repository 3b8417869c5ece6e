import { connect, otherId, subscribe, thingId, token, unsubscribe } from '../bytes.ts'
import { answering, closing, type MqttCase } from '../case.ts'

const own = `things/${token}/errors`

const refused: Record<string, string> = {
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
  ...Object.entries(refused).flatMap(([what, filter]) =>
    answering([
      [`a SUBSCRIBE to ${what}`, [connect(), subscribe(filter)], 'connack 0', 'suback 7: 128'],
      [`an UNSUBSCRIBE from ${what}`, [connect(), unsubscribe(filter)], 'connack 0', 'unsuback 7'],
    ]),
  ),
  ...closing({
    'a SUBSCRIBE to an empty filter': [connect(), subscribe('')],
    'a SUBSCRIBE to an empty filter behind a good one': [connect(), subscribe(own, '')],
    'an UNSUBSCRIBE from an empty filter': [connect(), unsubscribe('')],
    'a SUBSCRIBE with QoS 3': [connect(), subscribe([own, 3])],
    'a SUBSCRIBE with QoS 4': [connect(), subscribe([own, 4])],
    'a SUBSCRIBE with QoS 128': [connect(), subscribe([own, 128])],
    'a SUBSCRIBE with QoS 3 behind a good one': [connect(), subscribe(own, [own, 3])],
    'a SUBSCRIBE with options of version 5': [connect(), subscribe([own, 0x2c])],
  }),
  ...answering([
    ['a SUBSCRIBE that names a filter twice', [connect(), subscribe(own, own)], 'connack 0', 'suback 7: 1 1'],
    [
      'a SUBSCRIBE that names a filter at every QoS',
      [connect(), subscribe([own, 2], [own, 0], [own, 1])],
      'connack 0',
      'suback 7: 2 0 1',
    ],
    [
      'a SUBSCRIBE that names refused filters twice among good ones',
      [connect(), subscribe('#', own, '#/a', '#', [own, 0], 'a+b', '#/a')],
      'connack 0',
      'suback 7: 128 1 128 128 0 128 128',
    ],
    [
      'a SUBSCRIBE that names a thing by token and id',
      [connect(), subscribe(own, `things/${thingId}/errors`, [own, 0])],
      'connack 0',
      'suback 7: 1 1 0',
    ],
    [
      'a SUBSCRIBE to 300 filters that are one',
      [connect(), subscribe(...new Array<string>(300).fill('#'))],
      'connack 0',
      `suback 7: ${new Array(300).fill(128).join(' ')}`,
    ],
    [
      'a SUBSCRIBE to 20,000 filters',
      [connect(), subscribe(...many)],
      'connack 0',
      `suback 7: ${new Array(many.length).fill(128).join(' ')}`,
    ],
    ['an UNSUBSCRIBE from 20,000 filters', [connect(), unsubscribe(...many)], 'connack 0', 'unsuback 7'],
    [
      'an UNSUBSCRIBE from what is not subscribed to',
      [connect(), unsubscribe(own)],
      'connack 0',
      'unsuback 7',
    ],
    [
      'an UNSUBSCRIBE that names a filter twice',
      [connect(), unsubscribe(own, own)],
      'connack 0',
      'unsuback 7',
    ],
    [
      'two SUBSCRIBEs with one packet id',
      [connect(), subscribe(own), subscribe([own, 0])],
      'connack 0',
      'suback 7: 1',
      'suback 7: 0',
    ],
  ]),
]
