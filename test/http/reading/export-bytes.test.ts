import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { latestDatetime } from '../../../src/core/record/datetime.ts'
import { measurement, type StoredRecord } from '../../../src/core/record/record.ts'
import { exportFormats, exportText } from '../../../src/http/reading/export.ts'
import type { WalkQuery } from '../../../src/http/reading/pages.ts'
import type { Store } from '../../../src/store/contract.ts'
import { createMemoryStore } from '../../../src/store/memory/index.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { packAll, withStore } from '../../store/level/compaction/packed-store.ts'

const thingId = 'aaaaaaaaaaaaaaaa'
const second = 1_000
const day = 86_400_000
/** The year 10000. */
const end = latestDatetime + 1

const oddNumbers = [
  '0',
  '-0',
  '0.0',
  '1.0',
  '21.30',
  '1e5',
  '1E5',
  '1e+21',
  '1e400',
  '-1e400',
  '5e-324',
  '-0.1',
]
const oddTexts = [
  '',
  'NaN',
  'null',
  '-1',
  'a,b',
  'a;b',
  'say "hi"',
  'two\nlines',
  '\r\n',
  '\t',
  '\\',
  '漢字',
  '\ud800',
  '😀',
]
const value = fc.oneof(
  fc.integer({ min: -100_000, max: 100_000 }).map(whole => String(whole / 100)),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(number => JSON.stringify(number)),
  fc.constantFrom(...oddNumbers, 'null', 'true', 'false', '{}', '[]'),
  fc.constantFrom(...oddTexts).map(text => JSON.stringify(text)),
  fc.string({ unit: 'binary' }).map(text => JSON.stringify(text)),
  fc.json(),
)
const degrees = (most: number) =>
  fc.oneof(
    fc.double({ min: -most, max: most, noNaN: true }).map(each => each + 0),
    fc.integer({ min: -most * 1e7, max: most * 1e7 }).map(whole => whole / 1e7),
  )
const geo = fc.record({ lat: degrees(90), long: degrees(180) })
const start = fc
  .tuple(
    fc.oneof(
      fc.integer({ min: 0, max: end / day }).map(days => days * day),
      fc.integer({ min: 0, max: end }),
    ),
    fc.constantFrom(0, 1, -1, 999, -second, -59_999),
  )
  .map(([edge, offset]) => Math.min(Math.max(edge + offset, 0), latestDatetime))

/** Records of one resource; what is drawn comes again and again, so that there are enough for several pages. */
const drawnResource = fc.record({
  start,
  steps: fc.array(fc.constantFrom(0, 1, 999, second, 59_999, 60_000, day - 1, day, 366 * day), {
    minLength: 1,
  }),
  values: fc.oneof(
    fc.array(value, { minLength: 1, maxLength: 40 }),
    // Of a sensor, all alike: a packed run has them as numbers.
    fc.array(
      fc.integer({ min: 0, max: 9_999 }).map(whole => String(whole / 10)),
      { minLength: 1, maxLength: 40 },
    ),
  ),
  positions: fc.array(fc.option(geo, { nil: undefined }), { minLength: 1, maxLength: 5 }),
  count: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 240, max: 1_100 })),
  recordsPerWrite: fc.constantFrom(1, 7, 500),
})
type DrawnResource = typeof drawnResource extends fc.Arbitrary<infer T> ? T : never

const drawnQuery = fc.record(
  {
    order: fc.constantFrom('asc' as const, 'desc' as const),
    limit: fc.integer({ min: 1, max: 1_200 }),
    from: fc.nat({ max: 1_200 }),
    to: fc.nat({ max: 1_200 }),
  },
  { requiredKeys: ['order'] },
)
type DrawnQuery = typeof drawnQuery extends fc.Arbitrary<infer T> ? T : never

function recordsOf(key: string, drawn: DrawnResource): StoredRecord[] {
  const { steps, values, positions, count } = drawn
  const again = <T>(list: readonly T[], index: number) => list[index % list.length] as T
  let datetime = drawn.start
  const records = new Map<string, StoredRecord>()
  for (let index = 0; index < count && datetime < end; index++, datetime += again(steps, index)) {
    const position = again(positions, index)
    const plain = { key, datetime, value: again(values, index) }
    const record = position ? { ...plain, geo: position } : plain
    // One that equals another would not be stored.
    const measured = `${datetime} ${measurement(record)}`
    if (!records.has(measured)) records.set(measured, record)
  }
  return [...records.values()]
}

async function fill(store: Store, records: readonly StoredRecord[], perWrite: number): Promise<void> {
  const appends: Promise<unknown>[] = []
  for (let index = 0; index < records.length; index += perWrite) {
    const some = records
      .slice(index, index + perWrite)
      .map((record, place) => ({ ...record, place, explicit: true }))
    appends.push(store.records.append({ thingId, records: some, store: true, broadcast: false, answer: {} }))
  }
  await Promise.all(appends)
}

/** The contract, spelled out (§2.1, §6.2). */
const spelled = {
  'text/csv': {
    head: 'datetime,value,lat,long\r\n',
    line: ({ datetime, value, geo }: StoredRecord) =>
      `${new Date(datetime).toISOString()},${csvField(value)},${geo?.lat ?? ''},${geo?.long ?? ''}\r\n`,
  },
  'application/x-ndjson': {
    head: '',
    line: ({ key, datetime, value, geo }: StoredRecord) => {
      const position = geo ? `,"geo":{"lat":${geo.lat},"long":${geo.long}}` : ''
      return `{"key":${JSON.stringify(key)},"value":${value},"datetime":"${new Date(datetime).toISOString()}"${position}}\n`
    },
  },
}

function csvField(json: string): string {
  if (json === 'null') return ''
  if (json === '""') return '""'
  const text = json.startsWith('"') ? (JSON.parse(json) as string) : json
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Bounds of a query are places of records. */
function walkQuery({ order, limit, from, to }: DrawnQuery, records: readonly StoredRecord[]): WalkQuery {
  const at = (index: number | undefined) => (index === undefined ? undefined : records[index]?.datetime)
  const [first, last] = [at(from), at(to)]
  return {
    order,
    ...(limit === undefined ? {} : { limit }),
    ...(first === undefined ? {} : { from: first }),
    ...(last === undefined ? {} : { to: last }),
  }
}

async function assertExport(store: Store, records: readonly StoredRecord[], query: WalkQuery): Promise<void> {
  const { order, limit = Number.POSITIVE_INFINITY, from = 0, to = end } = query
  const inRange = records.filter(({ datetime }) => datetime >= from && datetime < to)
  const wanted = (order === 'asc' ? inRange : inRange.reverse()).slice(0, limit)
  for (const [type, { head, line }] of Object.entries(spelled)) {
    const format = exportFormats[type as keyof typeof exportFormats]
    let given = ''
    for await (const chunk of exportText(format, store.records, thingId, records[0]?.key ?? '', query))
      given += chunk
    expect(given).toBe(head + wanted.map(line).join(''))
  }
}

const history = fc.array(fc.tuple(drawnResource, fc.array(drawnQuery, { maxLength: 4 })), {
  minLength: 1,
  maxLength: 6,
})

describe('an export', () => {
  it('is spelled as the contract says, from every store, packed or not', async () => {
    await fc.assert(
      fc.asyncProperty(history, async drawn => {
        const resources = drawn.map(([resource, queries], index) => {
          const records = recordsOf(`key-${index}`, resource)
          const whole = (['asc', 'desc'] as const).map(order => ({ order }))
          return {
            resource,
            records,
            queries: [...whole, ...queries.map(query => walkQuery(query, records))],
          }
        })
        const fillAll = async (store: Store) => {
          for (const { records, resource } of resources) await fill(store, records, resource.recordsPerWrite)
        }
        const assertAll = async (store: Store) => {
          for (const { records, queries } of resources) {
            for (const query of queries) await assertExport(store, records, query)
          }
        }
        const memory = await openStore(createMemoryStore())
        await fillAll(memory)
        await assertAll(memory)
        await memory.close()
        const location = await temporaryDirectory()
        await withStore(location, async store => {
          await fillAll(store)
          await assertAll(store)
        })
        await packAll(location, { newest: 5, records: 64, least: 2 })
        await withStore(location, assertAll)
      }),
      { numRuns: 10 },
    )
  })

  it('gives what was there at its begin, in order, whatever is written and removed meanwhile', async () => {
    const location = await temporaryDirectory()
    await withStore(location, async store => {
      const present = Array.from({ length: 9_000 }, (_, index) => ({
        key: 'depth',
        datetime: index * second,
        value: String(index),
      }))
      await fill(store, present, 100)
      const format = exportFormats['application/x-ndjson']
      const read: { value: number; datetime: string }[] = []
      let round = 0
      for await (const chunk of exportText(format, store.records, thingId, 'depth', { order: 'asc' })) {
        const lines = chunk.split('\n').filter(line => line !== '')
        read.push(...lines.map(line => JSON.parse(line)))
        if (++round > 2) continue
        const here = Date.parse(read.at(-1)?.datetime ?? '1970-01-01T00:00:00Z')
        const late = [here - 500, here + 500, here + second, 8_000_500].map((datetime, place) => ({
          key: 'depth',
          datetime: Math.max(datetime, 0),
          value: `"late ${round} ${place}"`,
        }))
        await fill(store, late, 4)
        await store.records.remove(thingId, 'depth', { from: 7_000 * second, to: 7_500 * second })
      }
      const numbers = read.map(({ value }) => value).filter(value => typeof value === 'number')
      const left = present.map((_, index) => index).filter(index => index < 7_000 || index >= 7_500)
      expect(numbers).toEqual(left)
      expect(new Set(read.map(({ value }) => value)).size).toBe(read.length)
      const times = read.map(({ datetime }) => datetime)
      expect(times).toEqual(times.toSorted())
    })
  })
})
