import { expect, test } from 'vitest'
import { sourceKinds, termsOf } from '../../web/src/sources/kinds.ts'

const own = 'garden/{device}/{key}'

test.each<[name: string, pattern: string, terms: object]>([
  ['house', own, { formats: ['tasmota', 'zigbee2mqtt', 'shelly', 'homeassistant'] }],
  ['the-things-stack', own, { formats: ['ttn'], topics: [] }],
  ['telegraf', own, { formats: ['influx'], topics: [] }],
  ['my-topics', own, { formats: ['levels'], pattern: own, topics: ['garden/+/#'] }],
  [
    'my-topics',
    '+/{device}/state',
    { formats: ['levels'], pattern: '+/{device}/state', topics: ['+/+/state'] },
  ],
])('a source of the kind %s with the pattern %s has the terms %j', (name, pattern, terms) => {
  const kind = sourceKinds.find(each => each.name === name)
  expect(kind && termsOf(kind, pattern)).toEqual(terms)
})
