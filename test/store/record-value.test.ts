import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeRecord, encodeRecord, recordValue } from '../../src/store/record-value.ts'

const anyDegrees = (limit: number) =>
  fc.oneof(
    fc.double({ min: -limit, max: limit, noNaN: true }).map(degrees => degrees + 0),
    fc.integer({ min: -limit * 1e7, max: limit * 1e7 }).map(degrees => degrees / 1e7),
  )

test('decodeRecord() gives back what encodeRecord() was given, to the last bit', () => {
  const geo = fc.option(fc.record({ lat: anyDegrees(90), long: anyDegrees(180) }), { nil: undefined })
  const value = fc.json({ maxDepth: 2, stringUnit: 'binary' })
  fc.assert(
    fc.property(value, geo, (value, geo) => {
      const record = { key: 'depth', datetime: 1, value, ...(geo ? { geo } : {}) }
      expect(decodeRecord('depth', 1, encodeRecord(record))).toEqual(record)
      expect(Buffer.from(recordValue(record))).toEqual(encodeRecord(record))
    }),
    { numRuns: 2_000 },
  )
})

test('encodeRecord() takes nine bytes for a position of seven decimals, seventeen for a longer one', () => {
  const length = (lat: number) => encodeRecord({ value: '1', geo: { lat, long: -179.1234567 } }).length
  expect(length(60.0845171)).toBe(10)
  expect(length(-90)).toBe(10)
  expect(length(60.08451712)).toBe(18)
})
