import { expect, test } from 'vitest'
import { averaged, descriptionsOf, measured } from '../../../web/src/thing/description.ts'

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

test.each<[boolean, string, string]>([
  [true, 'door', 'open'],
  [false, 'door', 'closed'],
  [true, 'switch', 'on'],
  [false, 'occupancy', 'clear'],
  [true, 'moisture', 'wet'],
  [true, 'constructor', 'true'],
])('measured() of %j of the kind %s is %s', (value, kind, text) => {
  expect(measured(value, { kind })).toBe(text)
})

test.each<[number, number, number, object, string]>([
  [21.466666666666665, 21.4, 21.6, { unit: '°C' }, '21.47 °C'],
  [1 / 3, 0, 1, {}, '0.3'],
  [1 / 3, 1 / 3, 1 / 3, {}, '≈0.3333333'],
  [0.1 + 0.2, 0.1, 0.5, { decimals: 3 }, '0.300'],
  [1e-9, 0, 3e-9, {}, '1e-9'],
  [2e20, 1e20, 3e20, {}, '2e+20'],
])('averaged() of %d from %d to %d with %j is %s', (average, lowest, highest, description, text) => {
  expect(averaged(average, { lowest, highest }, description)).toBe(text)
})

test('a key that every object has is described by its message alone', () => {
  const described = descriptionsOf({ value: { temperature: { unit: '°C' } } })
  expect(described.get('temperature')).toEqual({ unit: '°C' })
  expect(described.get('constructor')).toBe(undefined)
  expect(descriptionsOf(undefined).size).toBe(0)
})
