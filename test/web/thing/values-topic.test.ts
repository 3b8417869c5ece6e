import { expect, test } from 'vitest'
import { keyOfTopic } from '../../../web/src/thing/values-topic.ts'

test.each([
  ['things/aaaaaaaaaaaaaaaa/values/wind.speed', 'wind.speed'],
  ['things/aaaaaaaaaaaaaaaa/values/$geo', '$geo'],
  ['things/aaaaaaaaaaaaaaaa/errors', undefined],
  ['v2/things/aaaaaaaaaaaaaaaa', undefined],
])('keyOfTopic() of %s is %s', (topic, key) => {
  expect(keyOfTopic(topic)).toBe(key)
})
