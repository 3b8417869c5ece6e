import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { measuredAt } from '../../src/conformance/writes.ts'
import { type NewRecord, type StoredRecord, storedForm } from '../../src/core/record/record.ts'
import type { Append, PageQuery, RecordStore } from '../../src/store/contract.ts'
import { openStore } from '../../src/store/open-store.ts'
import { level, memory, packingLevel } from './store-places.ts'

const thingId = 'thing'

interface Row {
  readonly record: StoredRecord
  /** Place of the write in commit order, then of the record in the write. */
  readonly arrival: readonly [write: number, place: number]
}

/** The contract in the plainest words: a list, searched from end to end. */
class Model {
  rows: Row[] = []
  #writes = 0

  append({ records }: Append, receivedAt: number): void {
    this.#writes++
    for (const sent of records) {
      const { place, explicit } = sent
      const record = storedForm(explicit ? sent : { ...sent, datetime: receivedAt })
      if (explicit && this.rows.some(row => isSame(row.record, record))) continue
      this.rows.push({ record, arrival: [this.#writes, place] })
    }
  }

  read(key: string, { from = 0, to = Number.POSITIVE_INFINITY, order }: PageQuery): StoredRecord[] {
    const ofKey = this.rows.filter(({ record }) => record.key === key)
    const inRange = ofKey.filter(({ record }) => record.datetime >= from && record.datetime < to)
    const [byWrite, byPlace] = [0, 1] as const
    inRange.sort(
      (a, b) =>
        a.record.datetime - b.record.datetime ||
        a.arrival[byWrite] - b.arrival[byWrite] ||
        a.arrival[byPlace] - b.arrival[byPlace],
    )
    const records = inRange.map(({ record }) => record)
    return order === 'asc' ? records : records.reverse()
  }

  latest(key: string | undefined): StoredRecord[] {
    const keys = new Set(this.rows.map(({ record }) => record.key))
    return [...keys]
      .filter(each => key === undefined || each === key)
      .sort()
      .flatMap(each => this.read(each, { order: 'desc', limit: 1 }).slice(0, 1))
  }

  remove(key: string, from: number, to: number): number {
    const before = this.rows.length
    this.rows = this.rows.filter(
      ({ record }) => record.key !== key || record.datetime < from || record.datetime >= to,
    )
    return before - this.rows.length
  }
}

function isSame(a: StoredRecord, b: StoredRecord): boolean {
  const text = ({ key, datetime, value, geo }: StoredRecord) => JSON.stringify([key, datetime, value, geo])
  return text(a) === text(b)
}

// Few keys, datetimes and values, so that most of what is drawn meets something.
const keys = fc.constantFrom('a', 'a.b', 'ab')
const datetimes = fc.nat({ max: 12 }).map(later => measuredAt + later)
const record: fc.Arbitrary<Omit<NewRecord, 'place'>> = fc
  .record(
    {
      key: keys,
      datetime: fc.option(datetimes, { nil: Number.NaN }),
      value: fc.constantFrom('1', '"1"', '[1]', 'null'),
      geo: fc.record({ lat: fc.constantFrom(1, 2), long: fc.constant(3) }),
    },
    { requiredKeys: ['key', 'datetime', 'value'] },
  )
  .map(drawn => ({ ...drawn, explicit: !Number.isNaN(drawn.datetime) }))
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ append: fc.array(record, { minLength: 1, maxLength: 8 }) }) },
  { weight: 1, arbitrary: fc.record({ pass: fc.integer({ min: -1, max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ remove: fc.tuple(keys, datetimes, datetimes) }) },
  { weight: 2, arbitrary: fc.record({ latest: fc.option(keys, { nil: undefined }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      read: fc.record({
        key: keys,
        from: datetimes,
        to: datetimes,
        order: fc.constantFrom('asc' as const, 'desc' as const),
        limit: fc.integer({ min: 1, max: 5 }),
      }),
    }),
  },
)

async function latestNow(records: RecordStore, key: string | undefined): Promise<StoredRecord[]> {
  const snapshot = await records.snapshot()
  const found: StoredRecord[] = []
  for await (const page of snapshot.latest(key === undefined ? { thingId } : { key })) {
    found.push(...page.map(({ record }) => record))
  }
  await snapshot.close()
  return found.sort((a, b) => (a.key < b.key ? -1 : 1))
}

async function readToEnd(records: RecordStore, key: string, query: PageQuery): Promise<StoredRecord[]> {
  const read: StoredRecord[] = []
  let cursor: string | undefined
  do {
    const page = await records.read(thingId, key, cursor === undefined ? query : { ...query, cursor })
    read.push(...(page?.records ?? []))
    cursor = page?.next
  } while (cursor !== undefined)
  return read
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

describe.each([
  ['memory', memory, 300],
  ['level', level, 50],
  ['level, packed at once', packingLevel, 50],
])('a store in %s', (_, { factory }, numRuns) => {
  it('reads what a plain list of its appends and removals would', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async steps => {
        const place = await factory()
        const { records, close } = await openStore(place.driver())
        try {
          const model = new Model()
          let receivedAt = 0
          vi.setSystemTime(measuredAt)
          for (const each of steps) {
            if ('append' in each) {
              const accepted = each.append.map((record, index) => ({ ...record, place: index }))
              const fixed = { thingId, store: true, answer: {}, broadcast: true }
              const write: Append = { ...fixed, records: accepted }
              receivedAt = Math.max(receivedAt, Date.now())
              model.append(write, receivedAt)
              await records.append(write)
            } else if ('pass' in each) {
              vi.setSystemTime(Date.now() + each.pass)
            } else if ('remove' in each) {
              const [key, from, to] = each.remove
              expect(await records.remove(thingId, key, { from, to })).toBe(model.remove(key, from, to))
            } else if ('latest' in each) {
              expect(await latestNow(records, each.latest)).toEqual(model.latest(each.latest))
            } else {
              const { key, ...query } = each.read
              expect(await readToEnd(records, key, query)).toEqual(model.read(key, query))
            }
          }
          expect(await records.resources(thingId)).toEqual(
            [...new Set(model.rows.map(row => row.record.key))].sort(),
          )
        } finally {
          await close()
          await place.cleanUp()
        }
      }),
      { numRuns },
    )
  })
})
