import { expect, test } from 'vitest'
import { descriptionsOf, measured } from '../../../web/src/thing/description.ts'

test.each<[unknown, object, string]>([
  [21.456, { unit: '°C', decimals: 2 }, '21.46 °C'],
  [21, { decimals: 2 }, '21.00'],
  [0.1 + 0.2, { unit: 'V' }, '≈0.3 V'],
  [1e20, { unit: 'W', decimals: 2 }, '1e+20 W'],
  ['21.456', { unit: '°C', decimals: 2 }, '21.456'],
  [true, { unit: '°C' }, 'true'],
])('measured() of %j with %j is %s', (value, description, text) => {
  expect(measured(value, description)).toBe(text)
})

test('a key that every object has is described by its message alone', () => {
  const described = descriptionsOf({ value: { temperature: { unit: '°C' } } })
  expect(described.get('temperature')).toEqual({ unit: '°C' })
  expect(described.get('constructor')).toBe(undefined)
  expect(descriptionsOf(undefined).size).toBe(0)
})
