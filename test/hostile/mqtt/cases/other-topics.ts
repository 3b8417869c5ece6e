import { acknowledge, connect, publish, subscribe, types, unsubscribe } from '../bytes.ts'
import { answering, closing, type MqttCase } from '../case.ts'

/** On topics beside those of things, of which the client may use `house/#`. */

const refused: Record<string, string> = {
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

const named = [
  '__proto__',
  'constructor/prototype',
  'toString',
  '$SYS/x',
  '/',
  '//',
  ' ',
  '\u00e9\ud83d\ude00',
]

export const otherTopics: readonly MqttCase[] = [
  ...answering(
    Object.entries(refused).map(([what, filter]) => [
      `a SUBSCRIBE to ${what}`,
      [connect(), subscribe(filter)],
      'connack 0',
      'suback 7: 128',
    ]),
  ),
  ...answering(
    named.flatMap(name => [
      [
        `a SUBSCRIBE to ${name} of its topics`,
        [connect(), subscribe(`house/${name}`)],
        'connack 0',
        'suback 7: 1',
      ],
      [
        `a PUBLISH on ${name} of its topics`,
        [connect(), publish({ topic: `house/${name}` })],
        'connack 0',
        'puback 7',
      ],
    ]),
  ),
  ...answering([
    [
      'a PUBLISH of a thousand levels on its topics',
      [connect(), publish({ topic: `house${'/a'.repeat(1_000)}` })],
      'connack 0',
      'puback 7',
    ],
    [
      'an UNSUBSCRIBE from what is no filter of its topics',
      [connect(), unsubscribe('house/a#', 'house/b')],
      'connack 0',
      'unsuback 7',
    ],
    [
      'a PUBREC, a PUBACK and a PUBCOMP of nothing, with its topics',
      [connect(), ...[types.pubrec, types.puback, types.pubcomp].map(type => acknowledge(type, 9))],
      'connack 0',
    ],
    [
      'a PUBLISH of QoS 2 on its topics, released twice',
      [
        connect(),
        publish({ topic: 'house/two', qos: 2 }),
        acknowledge(types.pubrel),
        acknowledge(types.pubrel),
      ],
      'connack 0',
      'pubrec 7',
      'pubcomp 7',
      'pubcomp 7',
    ],
  ]),
  ...closing({
    'a PUBLISH on a plus of its topics': [connect(), publish({ topic: 'house/+' })],
    'a PUBLISH on a hash of its topics': [connect(), publish({ topic: 'house/#', qos: 0 })],
    'a PUBLISH on NUL of its topics': [connect(), publish({ topic: 'house/\0' })],
  }),
]
