import { connect, connectAnonymous, otherId, publish, thingId, token, writeTopic } from '../bytes.ts'
import { answering, closing, type MqttCase } from '../case.ts'

/** Topics that are none (MQTT-3.3.2-2, -4.7.3-1). */
const closed: Record<string, string> = {
  'an empty topic': '',
  'a hash': '#',
  'a plus': '+',
  'a plus in the place of the thing': 'things/+/write',
  'a plus in its own topic': `things/${token}/+`,
  'a plus inside a level of its own topic': `things/${token}/a+b`,
  'a hash in its own topic': `things/${token}/#`,
  'a hash inside a level of its own topic': `things/${token}/a#`,
}

/** Topics that are no write topics of its own: acked, dropped and reported (contract §7.7). */
const reported: Record<string, string> = {
  'another thing': `things/${otherId}/write`,
  'a token in capitals': `things/${token.toLowerCase()}/write`,
  'a slash': '/',
  'a slash in front of its own topic': `/${writeTopic}`,
  $SYS: '$SYS/broker/clients',
  '65,535 slashes': '/'.repeat(65_535),
  '65,535 letters': 'a'.repeat(65_535),
  'a level below the write topic': `${writeTopic}/a`,
  'an empty level below the write topic': `${writeTopic}/`,
  'an empty level in its own topic': `things/${token}//write`,
  'its errors topic': `things/${token}/errors`,
  'its own retained view': `things/${thingId}/values/$geo`,
  '65,000 slashes under its own topic': `things/${token}${'/'.repeat(65_000)}`,
}

/** Topics of a PUBLISH (MQTT-3.3.2-2, -4.7.3-1). */
export const topics: readonly MqttCase[] = [
  ...Object.entries(closed).flatMap(([what, topic]) =>
    closing({
      [`a PUBLISH of QoS 0 on ${what}`]: [connect(), publish({ topic, qos: 0 })],
      [`a PUBLISH of QoS 2 on ${what}`]: [connect(), publish({ topic, qos: 2 })],
    }),
  ),
  ...closing({
    'a PUBLISH by id of somebody without credentials': [
      connectAnonymous,
      publish({ topic: `things/${thingId}/write` }),
    ],
  }),
  ...answering(
    Object.entries(reported).map(([what, topic]) => [
      `a PUBLISH on ${what}`,
      [connect(), publish({ topic })],
      'connack 0',
      'puback 7',
    ]),
  ),
  ...answering([
    ['a PUBLISH without a payload', [connect(), publish({ payload: '' })], 'connack 0', 'puback 7'],
    ['a PUBLISH of what is no JSON', [connect(), publish({ payload: '\0\xff' })], 'connack 0', 'puback 7'],
    [
      'a PUBLISH of a thousand brackets',
      [connect(), publish({ payload: '['.repeat(1_000) })],
      'connack 0',
      'puback 7',
    ],
    [
      'a PUBLISH of a prototype',
      [connect(), publish({ payload: '{"__proto__":{"values":[]}}' })],
      'connack 0',
      'puback 7',
    ],
  ]),
]
