import { readdir, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import {
  appendEach,
  count,
  key,
  measured,
  measuredAt,
  pages,
  readAll,
  removeAllOld,
  thing,
  valuesOf,
  write,
} from '../../../../src/conformance/writes.ts'
import type { Append, PageQuery, RecordStore, Store } from '../../../../src/store/contract.ts'
import { type Chunk, chunkKey } from '../../../../src/store/level/chunks/chunk.ts'
import {
  ChunkDraft,
  chunkValue,
  countIn,
  decodeChunk,
  newestIn,
  newestName,
} from '../../../../src/store/level/chunks/record-chunk.ts'
import { singles } from '../../../../src/store/level/chunks/time-line.ts'
import type { Entry } from '../../../../src/store/level/database/scan.ts'
import { checkLevelStore } from '../../../../src/store/level/index.ts'
import { recordKey } from '../../../../src/store/level/keys.ts'
import { createCompactingStore } from '../../../../src/store/level/store.ts'
import { createMemoryStore } from '../../../../src/store/memory/index.ts'
import { openStore } from '../../../../src/store/open-store.ts'
import { encodeRecord } from '../../../../src/store/record-value.ts'
import { temporaryDirectory } from '../../../helpers/temporary-directory.ts'
import { eagerPacking, noPacking } from '../../store-places.ts'
import { failNextBatch, writeBatches } from '../write-batches.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const values = fc.oneof(
  fc.json({ noUnicodeString: false }),
  fc.constantFrom('21.5', '"1,2"', '[ 1 ,\n\t2 ]', '"\\u0001"'),
)
const degrees = fc.double({ min: -90, max: 90, noNaN: true }).map(degree => degree + 0)
const contents = fc.array(
  fc.record(
    { after: fc.nat(100_000), value: values, geo: fc.record({ lat: degrees, long: degrees }) },
    { requiredKeys: ['after', 'value'] },
  ),
  { minLength: 1, maxLength: 20 },
)

test('a chunk of records comes back to the letter, with each in its place', () => {
  fc.assert(
    fc.property(contents, fc.nat(2 ** 40), fc.nat(50_000), (drawn, start, firstPlace) => {
      let datetime = start
      const records = drawn.map(({ after, value, geo }) => {
        datetime += after
        return geo ? { key: 'depth', datetime, value, geo } : { key: 'depth', datetime, value }
      })
      const places = records.map((_, index) => firstPlace + 3 * index)
      const chunk: Chunk = { resource: 7, records, writeNumbers: records.map(() => 9), places }
      const entry: Entry = [chunkKey(chunk), Buffer.from(chunkValue(chunk))]
      const names = records.map((each, index) => recordKey(7, each.datetime, 9, places[index] ?? 0))
      expect(decodeChunk('depth', entry)).toEqual(chunk)
      expect(countIn(entry[1])).toBe(records.length)
      expect(newestIn('depth', entry)).toEqual(records.at(-1))
      expect(newestName(entry)).toEqual(names.at(-1))
      expect(singles(entry)).toEqual(records.map((each, index) => [names[index], encodeRecord(each)]))
    }),
  )
})

test('a chunk takes 128 records, and so many as have 4,096 characters', () => {
  const added = (value: string) => {
    const draft = new ChunkDraft(1, 1)
    let place = 0
    while (draft.add({ key, datetime: 1, value }, place)) place++
    return place
  }
  expect(added('1')).toBe(128)
  expect(added(JSON.stringify('x'.repeat(98)))).toBe(40)
  expect(added(JSON.stringify('x'.repeat(10_000)))).toBe(1)
})

async function openLevel(compaction = noPacking) {
  const location = join(await temporaryDirectory(), 'store')
  return { location, store: await openStore(createCompactingStore({ location }, compaction)) }
}

const datetimes = fc.nat({ max: 40 }).map(later => measuredAt + later)
const drawnRecords = fc.array(
  fc.record({
    key: fc.constantFrom(key, 'speed'),
    datetime: fc.option(datetimes, { nil: undefined }),
    value: fc.constantFrom('1', '2', '"°"'),
  }),
  { minLength: 1, maxLength: 12 },
)
/** Those without a datetime of their own come behind the others. */
const timeOf = ({ datetime = Number.MAX_SAFE_INTEGER }: { readonly datetime: number | undefined }) => datetime
const drawnWrite = fc
  .record({ records: drawnRecords, isSorted: fc.boolean() })
  .map(({ records, isSorted }): Append => {
    const inOrder = isSorted ? [...records].sort((a, b) => timeOf(a) - timeOf(b)) : records
    return write(
      inOrder.map(({ datetime = Number.NaN, ...record }) => ({
        ...record,
        datetime,
        explicit: !Number.isNaN(datetime),
      })),
    )
  })
const writesAtOnce = fc.array(drawnWrite, { minLength: 1, maxLength: 3 })
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ append: writesAtOnce }) },
  { weight: 2, arbitrary: fc.record({ pass: fc.nat({ max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ fail: writesAtOnce }) },
  { weight: 1, arbitrary: fc.record({ remove: fc.tuple(datetimes, datetimes) }) },
  { weight: 1, arbitrary: fc.record({ removeOld: datetimes }) },
  {
    weight: 3,
    arbitrary: fc.record({
      read: fc.record({
        from: datetimes,
        to: datetimes,
        order: fc.constantFrom('asc' as const, 'desc' as const),
        limit: fc.integer({ min: 1, max: 6 }),
      }),
    }),
  },
)

async function pagesOf(records: RecordStore, query: PageQuery) {
  const found = []
  for await (const page of pages(records, query)) found.push(page)
  return found
}

async function contentsOf(records: RecordStore) {
  return [await readAll(records), await readAll(records, { key: 'speed' })]
}

test.each([
  ['as they are written', noPacking],
  ['packed at once', eagerPacking],
])(
  'chunks %s that are parted, cut, failed and read give what a list of records gives',
  async (_, compaction) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), async steps => {
        const { location, store } = await openLevel(compaction)
        const list = await openStore(createMemoryStore())
        vi.setSystemTime(measuredAt)
        const both = async <T>(act: (store: Store) => Promise<T>) => {
          expect(await act(store)).toEqual(await act(list))
        }
        for (const each of steps) {
          if ('append' in each) {
            await both(({ records }) =>
              Promise.all(each.append.map(async one => void (await records.append(one)))),
            )
          } else if ('pass' in each) {
            vi.setSystemTime(Date.now() + each.pass)
          } else if ('fail' in each) {
            failNextBatch()
            const failing = await Promise.allSettled(each.fail.map(one => store.records.append(one)))
            vi.restoreAllMocks()
            expect(failing.map(({ status }) => status)).toContain('rejected')
            const kept = each.fail.filter((_, index) => failing[index]?.status === 'fulfilled')
            for (const one of kept) await list.records.append(one)
          } else if ('remove' in each) {
            const [from, to] = each.remove
            await both(({ records }) => records.remove(thing, key, { from, to }))
          } else if ('removeOld' in each) {
            await both(({ records }) => removeAllOld(records, each.removeOld))
          } else {
            await both(({ records }) => pagesOf(records, each.read))
          }
        }
        await both(({ records }) => contentsOf(records))
        await Promise.all([store.close(), list.close()])
        expect((await checkLevelStore(location)).faults).toEqual([])
      }),
      { numRuns: 60 },
    )
  },
)

test('a record at the datetime of a crowd that is in a chunk with later ones comes to stand between them', async () => {
  const { location, store } = await openLevel()
  await appendEach(
    store.records,
    count(299).map(value => measured(1_000, value)),
  )
  await store.records.append(write([measured(1_000, 299), measured(2_000, 'later')]))
  await store.records.append(write([measured(1_000, 7), measured(1_000, 299), measured(1_000, 'late')]))
  expect(await valuesOf(store.records)).toEqual([...count(300), 'late', 'later'])
  await store.close()
  expect(await checkLevelStore(location)).toMatchObject({ records: 302, faults: [] })
})

test('remove() leaves what was written between its records while it ran', async () => {
  const { location, store } = await openLevel()
  const { records } = store
  await records.append(write(count(1_000).map(value => measured(2 * value, value))))
  const removed = records.remove(thing, key, { from: 100, to: 1_900 })
  const late = count(500).map(value => records.append(write([measured(2 * value + 501, `late ${value}`)])))
  await Promise.all(late)
  expect(await removed).toBe(900)
  const left = [...count(1_000).filter(value => 2 * value < 100 || 2 * value >= 1_900), 'late']
  const values = await valuesOf(records)
  expect(values.filter(value => typeof value === 'number')).toEqual(left.slice(0, -1))
  expect(values.filter(value => typeof value === 'string')).toHaveLength(500)
  await store.close()
  expect((await checkLevelStore(location)).faults).toEqual([])
})

test('remove() of the first record of a chunk that fails although it is on the disk leaves the chunk', async () => {
  const { location, store } = await openLevel()
  await store.records.append(write(count(5).map(value => measured(value, value))))
  failNextBatch()
  const removing = store.records.remove(thing, key, { from: 0, to: 1 })
  await expect(removing).rejects.toMatchObject({ reason: 'store_unavailable' })
  expect(await valuesOf(store.records)).toEqual(count(5))
  expect(await store.records.remove(thing, key, { from: 0, to: 1 })).toBe(1)
  expect(await valuesOf(store.records)).toEqual([1, 2, 3, 4])
  await store.close()
  expect(await checkLevelStore(location)).toMatchObject({ records: 4, faults: [] })
})

test('a failed commit is not taken back where it is gone with what was in front of it', async () => {
  const { location, store } = await openLevel()
  const { records } = store
  await records.append(write(count(8).map(value => measured(10 * value, value))))
  const log = await logOf(location)
  const { size } = await stat(log)
  // Not waited for on the disk: the failure below takes it along.
  expect(await removeAllOld(records, 25)).toBe(3)
  writeBatches(async () => {
    await truncate(log, size)
    throw Object.assign(new Error('fsync: input/output error'), { code: 'LEVEL_IO_ERROR' })
  })
  const late = records.append(write([measured(45, 'late')]))
  await expect(late).rejects.toMatchObject({ reason: 'store_unavailable' })
  vi.restoreAllMocks()
  expect(await valuesOf(records)).toEqual(count(8))
  expect(await removeAllOld(records, 25)).toBe(3)
  await records.append(write([measured(45, 'late')]))
  expect(await valuesOf(records)).toEqual([3, 4, 'late', 5, 6, 7])
  await store.close()
  expect(await checkLevelStore(location)).toMatchObject({ records: 6, faults: [] })
})

test('many late records put what is left of the chunks that they part once', async () => {
  const { location, store } = await openLevel()
  const many = 5_000
  const values = (offset: number) => write(count(many).map(value => measured(2 * value + offset, value)))
  await store.records.append(values(0))
  const log = await logOf(location)
  const before = (await stat(log)).size
  await store.records.append(values(1))
  // About 50 bytes for each of twice as many entries, as records alone have.
  expect((await stat(log)).size - before).toBeLessThan(2 * many * 100)
  expect(await valuesOf(store.records)).toEqual(count(2 * many).map(place => Math.floor(place / 2)))
  await store.close()
  expect(await checkLevelStore(location)).toMatchObject({ records: 2 * many, faults: [] })
})

test('many late records that fail although they are on the disk leave the chunks that they part', async () => {
  const { location, store } = await openLevel()
  const many = 5_000
  const values = (offset: number) => write(count(many).map(value => measured(2 * value + offset, value)))
  await store.records.append(values(0))
  failNextBatch()
  await expect(store.records.append(values(1))).rejects.toMatchObject({ reason: 'store_unavailable' })
  expect(await valuesOf(store.records)).toEqual(count(many))
  await store.records.append(values(1))
  expect(await valuesOf(store.records)).toEqual(count(2 * many).map(place => Math.floor(place / 2)))
  await store.close()
  expect(await checkLevelStore(location)).toMatchObject({ records: 2 * many, faults: [] })
})

async function logOf(location: string): Promise<string> {
  const name = (await readdir(location)).find(each => each.endsWith('.log'))
  return join(location, name ?? expect.unreachable('there is no log'))
}
