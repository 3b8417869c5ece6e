import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Geo } from '../../../../src/core/record/geo.ts'
import type { StoredRecord } from '../../../../src/core/record/record.ts'
import { faultOfChunk } from '../../../../src/store/level/check/values.ts'
import { type Chunk, chosen, chunkKey } from '../../../../src/store/level/chunks/chunk.ts'
import { packedColumns, packedForm, packedValue } from '../../../../src/store/level/chunks/packed-chunk.ts'
import {
  countIn,
  decodeChunk,
  newestIn,
  newestName,
} from '../../../../src/store/level/chunks/record-chunk.ts'
import { singles } from '../../../../src/store/level/chunks/time-line.ts'
import type { Entry } from '../../../../src/store/level/database/scan.ts'
import { recordKey } from '../../../../src/store/level/keys.ts'
import { encodeRecord } from '../../../../src/store/record-value.ts'

const oddNumbers = [
  ...[
    '0',
    '-0',
    '0.0',
    '1.0',
    '1e5',
    '1E5',
    '1e+21',
    '1e21',
    '1e400',
    '-1e400',
    '1e-7',
    '0.0000001',
    '5e-324',
  ],
  ...[
    '21.37',
    '-21.3',
    '21.30',
    '0.1',
    '0.30000000000000004',
    '1.7976931348623157e+308',
    '123456789012345678',
  ],
  ...['9007199254740991', '-9007199254740991', '9007199254740993', '2251799813685247', '-2251799813685247'],
  ...['0.000001', '100000000000000000000', '1700000000000', '4.35', '0.000000000000001'],
]
/** As a sensor gives them: all of a chunk alike. */
const decimals = fc
  .integer({ min: 0, max: 3 })
  .chain(places => fc.integer({ min: -100_000, max: 100_000 }).map(whole => String(whole / 10 ** places)))
const doubles = fc.double({ noNaN: true, noDefaultInfinity: true }).map(number => JSON.stringify(number))
const texts = fc.oneof(
  fc.json({ noUnicodeString: false }),
  fc.constantFrom('null', 'true', '""', '"NaN"', '[ 1 ,\n\t2 ]', '"\\u0001\\ud800"', '"漢字 °"', '{"a":{}}'),
)
const valuesOfARun = [decimals, doubles, fc.constantFrom(...oddNumbers), texts]
const values = fc.oneof(...valuesOfARun.map(fc.constant), fc.constant(fc.oneof(...valuesOfARun)))
const degrees = fc.oneof(
  fc.double({ min: -90, max: 90, noNaN: true }).map(degree => degree + 0),
  fc.integer({ min: -900_000_000, max: 900_000_000 }).map(whole => whole / 1e7),
)
const geo = fc.record({ lat: degrees, long: degrees })
const drawnRun = fc.record({ value: values, hasGeo: fc.boolean() }).chain(({ value, hasGeo }) =>
  fc.array(
    fc.record({
      after: fc.oneof(fc.constantFrom(0, 0, 1_000), fc.nat(2 ** 31 - 1)),
      writeNumber: fc.oneof(
        fc.nat(1_000),
        fc.maxSafeNat().map(each => each % 2 ** 48),
      ),
      place: fc.oneof(fc.constant(0), fc.nat(9_999)),
      value,
      geo: hasGeo ? fc.option(geo, { nil: undefined }) : fc.constant(undefined),
    }),
    { minLength: 2, maxLength: 60 },
  ),
)

function runOf(drawn: typeof drawnRun extends fc.Arbitrary<infer T> ? T : never, start: number): Chunk {
  let datetime = start
  const records = drawn.map(({ after, value, geo }): StoredRecord => {
    datetime += after
    return geo ? { key: 'depth', datetime, value, geo } : { key: 'depth', datetime, value }
  })
  return {
    resource: 7,
    records,
    writeNumbers: drawn.map(({ writeNumber }) => writeNumber),
    places: drawn.map(({ place }) => place),
  }
}

function entryOf(chunk: Chunk): Entry {
  return [chunkKey(chunk), packedValue(chunk)]
}

/** As a device that measures once a second leaves them, each in a write of its own. */
function measurements(count: number, textOf: (index: number) => string): Chunk {
  const indexes = Array.from({ length: count }, (_, index) => index)
  return {
    resource: 7,
    records: indexes.map(index => ({ key: 'depth', datetime: 1e12 + 1_000 * index, value: textOf(index) })),
    writeNumbers: indexes.map(index => 5 + index),
    places: indexes.map(() => 0),
  }
}

describe('a packed chunk', () => {
  test('comes back to the letter, with each record in its place', () => {
    fc.assert(
      fc.property(drawnRun, fc.nat(2 ** 40), (drawn, start) => {
        const chunk = runOf(drawn, start)
        const entry = entryOf(chunk)
        const names = chunk.records.map(({ datetime }, index) =>
          recordKey(7, datetime, chunk.writeNumbers[index] ?? 0, chunk.places[index] ?? 0),
        )
        expect(decodeChunk('depth', entry)).toEqual(chunk)
        expect(countIn(entry[1])).toBe(chunk.records.length)
        expect(newestIn('depth', entry)).toEqual(chunk.records.at(-1))
        expect(newestName(entry)).toEqual(names.at(-1))
        expect(singles(entry)).toEqual(
          chunk.records.map((record, index) => [names[index], encodeRecord(record)]),
        )
      }),
      { numRuns: 2_000 },
    )
  })

  test('gives a part of itself as if it were cut from the whole', () => {
    fc.assert(
      fc.property(drawnRun, fc.nat(60), fc.nat(60), (drawn, one, other) => {
        const chunk = runOf(drawn, 1e12)
        const [start, end] = [one, other].map(place => Math.min(place, drawn.length)).sort((a, b) => a - b)
        const choose = () => ({ start: start ?? 0, end: end ?? 0 })
        expect(decodeChunk('depth', entryOf(chunk), choose)).toEqual(chosen(chunk, choose))
      }),
      { numRuns: 1_000 },
    )
  })

  test.each(oddNumbers)('gives the value %s back as it was, among others', odd => {
    const chunk = measurements(3, index => (index === 1 ? odd : String(index)))
    expect(decodeChunk('depth', entryOf(chunk))).toEqual(chunk)
  })

  test.each([
    ['equal steps and numbers of two decimals', (index: number) => String((2_100 + (index % 7)) / 100), 5],
    ['numbers without a pattern', () => String(Math.random()), 12],
    ['texts', () => '"on"', 9],
  ])('of %s takes few bytes a record', (_, textOf, most) => {
    expect(packedValue(measurements(512, textOf)).length / 512).toBeLessThan(most)
  })

  test('of numbers takes as many bytes a record as docs/reference/storage.md and docs/use/operations.md say', () => {
    // Late by up to 200 ms, and of 50 devices that write in turn.
    const asMeasured = (
      { records, writeNumbers, ...chunk }: Chunk,
      geoOf?: (index: number) => Geo,
    ): Chunk => ({
      ...chunk,
      writeNumbers: writeNumbers.map((each, index) => 50 * each + ((7 * index) % 11)),
      records: records.map((record, index) => ({
        ...record,
        datetime: record.datetime + ((89 * index) % 200),
        ...(geoOf && { geo: geoOf(index) }),
      })),
    })
    const bytesOf = (chunk: Chunk) => entryOf(chunk).reduce((sum, { length }) => sum + length, 0) / 512
    const on = measurements(512, () => '1')
    const temperatures = measurements(512, index =>
      String((2_100 + Math.round(300 * Math.sin(index / 50))) / 100),
    )
    const energy = measurements(512, index => String((1_000_000_000 + 137 * index) / 1_000))
    const moving = (index: number) => ({
      lat: (480_000_000 + 900 * index) / 1e7,
      long: (110_000_000 - 700 * index) / 1e7,
    })
    for (const chunk of [on, temperatures, energy]) {
      expect([bytesOf(chunk), bytesOf(asMeasured(chunk)), bytesOf(asMeasured(chunk, moving)) - 5]).toEqual(
        [1, 2, 3].map(() => expect.toSatisfy((bytes: number) => bytes >= 4 && bytes < 6)),
      )
    }
  })

  test('gives its numbers without a text for each', () => {
    const chunk = measurements(100, index => String(index / 4))
    const { datetimes, values } = packedColumns(entryOf(chunk))
    expect(values).toEqual(Float64Array.from({ length: 100 }, (_, index) => index / 4))
    expect(datetimes).toEqual(Float64Array.from(chunk.records, ({ datetime }) => datetime))
  })

  test('that is cut off, or has a bit that is another, is a fault', () => {
    fc.assert(
      fc.property(drawnRun, fc.nat(), fc.nat(), (drawn, where, bit) => {
        const [name, bytes] = entryOf(runOf(drawn, 1e12))
        // What is cut down to its packedForm, or flipped there, is another kind of entry, or none.
        const cut = bytes.subarray(0, 1 + (where % (bytes.length - 1)))
        expect(faultOfChunk([name, cut])).toMatch(/not a valid chunk/)
        const flipped = Buffer.from(bytes)
        const at = 1 + (where % (bytes.length - 1))
        flipped[at] = (flipped[at] ?? 0) ^ (1 << (bit % 8))
        expect(faultOfChunk([name, flipped])).toMatch(/not a valid chunk/)
      }),
      { numRuns: 1_000 },
    )
  })

  test('of any other bytes with their checksum ends, and says no more records than there are bytes', () => {
    const name = chunkKey(measurements(1, String))
    fc.assert(
      fc.property(
        fc.nat(3),
        fc.nat(3),
        fc.uint8Array({ maxLength: 200 }),
        (valueForm, positionForm, drawn) => {
          const columns = Buffer.from([packedForm, valueForm, positionForm, ...drawn])
          const sum = Buffer.alloc(4)
          sum.writeUInt32LE(crc32(columns))
          const entry: Entry = [name, Buffer.concat([columns, sum])]
          if (faultOfChunk(entry) !== undefined) return
          expect(decodeChunk('', entry).records.length).toBeLessThanOrEqual(columns.length)
        },
      ),
      { numRuns: 1_000 },
    )
  })
})
