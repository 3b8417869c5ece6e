import { expect, test } from 'vitest'
import { formatValue } from '../../../web/src/thing/format-value.ts'

test.each([
  [21.5, '21.5'],
  [0.1 + 0.2, '0.3'],
  [1 / 3, '0.3333333'],
  [123_456_789_012, '123456789012'],
  [1e300 / 3, '3.333333e+299'],
  ['as it is', 'as it is'],
  [false, 'false'],
  [null, 'null'],
  [{ volts: [12.6, 3] }, '{"volts":[12.6,3]}'],
])('formatValue() of %j is %s', (value, text) => {
  expect(formatValue(value)).toBe(text)
})
