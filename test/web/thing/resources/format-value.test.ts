import { expect, test } from 'vitest'
import { formatValue } from '../../../../web/src/thing/resources/format-value.ts'

test.each([
  [21.5, '21.5'],
  [0.1 + 0.2, '≈0.3'],
  [1 / 3, '≈0.3333333'],
  [-12_345_678.9012, '≈-12345679'],
  [123_456_789_012, '123456789012'],
  [1_732_284_000_123, '1732284000123'],
  [Number.MIN_SAFE_INTEGER, '-9007199254740991'],
  [1e20, '1e+20'],
  [2 ** 64, '≈1.844674e+19'],
  [1e300 / 3, '≈3.333333e+299'],
  [1e-7 / 3, '≈3.333333e-8'],
  ['as it is', 'as it is'],
  [false, 'false'],
  [null, 'null'],
  [{ volts: [12.6, 3] }, '{"volts":[12.6,3]}'],
])('formatValue() of %j is %s', (value, text) => {
  expect(formatValue(value)).toBe(text)
})
