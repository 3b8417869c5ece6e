import { expect, test } from 'vitest'
import { errorsTopic, refOfWriteTopic, valuesTopic, writeTopic } from '../../src/mqtt/index.ts'

test('writeTopic() is a topic whose ref refOfWriteTopic() finds', () => {
  expect(writeTopic('abc')).toBe('things/abc/write')
  expect(refOfWriteTopic(writeTopic('abc'))).toBe('abc')
  expect(refOfWriteTopic('v2/things/abc')).toBe('abc')
})

test('refOfWriteTopic() knows no other topic', () => {
  const others = [
    'things/abc',
    'things/abc/write/x',
    'things//write',
    'things/+/write',
    'v2/things/',
    'x/abc/write',
  ]
  for (const topic of others) expect(refOfWriteTopic(topic), topic).toBeUndefined()
})

test('valuesTopic() and errorsTopic() stand under the thing', () => {
  expect(valuesTopic('abc', 'depth')).toBe('things/abc/values/depth')
  expect(errorsTopic('abc')).toBe('things/abc/errors')
})
