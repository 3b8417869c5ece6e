import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { assertFolded } from '../../../../src/conformance/folding.ts'
import { appendEach, count, key, measured, thing, write } from '../../../../src/conformance/writes.ts'
import { utcBuckets } from '../../../../src/core/time/utc-buckets.ts'
import type { Store } from '../../../../src/store/contract.ts'
import { firstEntries, scan } from '../../../../src/store/level/database/scan.ts'
import { checkLevelStore } from '../../../../src/store/level/index.ts'
import { packedKey, recordKeys, rollupKeys, rollupParts } from '../../../../src/store/level/keys.ts'
import { temporaryDirectory } from '../../../helpers/temporary-directory.ts'
import { packAll, withDatabase, withStore } from './packed-store.ts'

/** Begin of a day of UTC, milliseconds. */
const firstDay = Date.UTC(2026, 2, 1)
const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
/** The number of the first resource of a store. */
const resource = 1
const lengths = [7 * minute, 15 * minute, hour, 5 * hour, day, 31 * day]

/** Ten minutes apart, from that day on. */
function readings(days: number, from = firstDay) {
  return count(days * 144).map(index => measured(from + 10 * minute * index, index / 8))
}

/** A store of five days, packed, and the name of its place. */
async function packedDays(): Promise<string> {
  const location = join(await temporaryDirectory(), 'store')
  await withStore(location, ({ records }) => appendEach(records, readings(5)))
  await rollUp(location)
  return location
}

async function rollUp(location: string): Promise<void> {
  await packAll(location, { newest: 0, records: 16, least: 2, fewestOfDay: 1 })
}

/** The days, counted from the first one, that have a rollup. */
async function daysWithRollup(location: string): Promise<number[]> {
  return await withDatabase(location, async database => {
    const days: number[] = []
    for await (const entries of scan(database, rollupKeys(resource))) {
      for (const [name] of entries) days.push(((rollupParts(name)?.day ?? 0) - firstDay) / day)
    }
    return days
  })
}

/** Asserts that aggregates are what the records add up to, and that nothing in the store says otherwise. */
async function assertRight(location: string): Promise<void> {
  await withStore(location, async ({ records }) => {
    for (const length of lengths) {
      for (const order of ['asc', 'desc'] as const) {
        const query = { thingId: thing, key, order, buckets: utcBuckets(length) }
        await assertFolded(records, query, `by ${length} ms`)
        const range = { from: firstDay + 17 * minute, to: firstDay + 3 * day - 17 * minute }
        await assertFolded(records, { ...query, ...range, limit: 2 }, `by ${length} ms, of a range`)
      }
    }
  })
  expect((await checkLevelStore(location)).faults).toEqual([])
}

describe('rollups of days', () => {
  it('are made of days that are over, once', async () => {
    const location = await packedDays()
    expect(await daysWithRollup(location)).toEqual([0, 1, 2, 3])
    await assertRight(location)
    await rollUp(location)
    expect(await daysWithRollup(location)).toEqual([0, 1, 2, 3])
  })

  it('are not made of days of few records', async () => {
    const location = join(await temporaryDirectory(), 'store')
    await withStore(location, ({ records }) => appendEach(records, readings(3)))
    await packAll(location, { newest: 0 })
    expect(await daysWithRollup(location)).toEqual([])
    await assertRight(location)
  })

  it('leap over what has no record', async () => {
    const location = join(await temporaryDirectory(), 'store')
    await withStore(location, async ({ records }) => {
      await appendEach(records, readings(2))
      await appendEach(records, readings(2, firstDay + 4_000 * day))
    })
    await rollUp(location)
    expect(await daysWithRollup(location)).toEqual([0, 1, 4_000])
    await assertRight(location)
  })

  it.each([
    [
      'a late record',
      [0, 2, 3],
      ({ records }: Store) => appendEach(records, [measured(firstDay + day + 1, 7)]),
    ],
    [
      'late records of one write',
      [1, 3],
      ({ records }: Store) =>
        records.append(write([measured(firstDay + 1, 7), measured(firstDay + 3 * day - 1, 'late')])),
    ],
    [
      'a removal amid them',
      [0, 3],
      ({ records }: Store) =>
        records.remove(thing, key, { from: firstDay + day + hour, to: firstDay + 2 * day + hour }),
    ],
    [
      'a removal of the newest',
      [0, 1],
      ({ records }: Store) => records.remove(thing, key, { from: firstDay + 2 * day + hour }),
    ],
    [
      'a removal of what is too old',
      [1, 2, 3],
      async ({ records }: Store) => {
        let from: string | undefined
        do from = (await records.removeOld(thing, key, firstDay + hour, from)).next
        while (from !== undefined)
      },
    ],
  ])('of the days of %s are gone with it, and are made again', async (_change, left, change) => {
    const location = await packedDays()
    await withStore(location, async store => {
      await change(store)
    })
    expect(await daysWithRollup(location)).toEqual(left)
    await assertRight(location)
    await rollUp(location)
    await assertRight(location)
    expect((await daysWithRollup(location)).length).toBeGreaterThan(left.length - 1)
  })

  it('count nothing twice that comes behind a removal of the newest, also when the store was opened again', async () => {
    const location = await packedDays()
    await withStore(location, ({ records }) =>
      records.remove(thing, key, { from: firstDay + day + 23 * hour }),
    )
    await withStore(location, ({ records }) =>
      appendEach(records, [
        measured(firstDay + day + 23 * hour + minute, 1),
        ...readings(1, firstDay + 9 * day),
      ]),
    )
    await assertRight(location)
    await rollUp(location)
    expect(await daysWithRollup(location)).toEqual([0, 1])
    await assertRight(location)
  })

  it('are made of all days but one with a damaged chunk', async () => {
    const location = join(await temporaryDirectory(), 'store')
    await withStore(location, ({ records }) => appendEach(records, readings(5)))
    await packAll(location, { newest: 0, records: 16, least: 2 })
    await withDatabase(location, async ({ level }) => {
      const [chunk] = await firstEntries({ level }, recordKeys(resource, firstDay + day), { limit: 1 })
      const [name, bytes] = chunk ?? expect.unreachable('there is no chunk')
      bytes[20] = (bytes[20] ?? 0) ^ 1
      await level.put(name, bytes)
      await level.del(packedKey(resource))
    })
    await rollUp(location)
    expect(await daysWithRollup(location)).toEqual([0, 2, 3])
    const { faults } = await checkLevelStore(location)
    expect(faults.map(({ fault }) => fault)).toEqual(['its value is not a valid chunk of records'])
  })

  it('go with their resource, and do not come back with its name', async () => {
    const location = await packedDays()
    await withStore(location, async ({ records }) => {
      await records.remove(thing, key, {})
      await appendEach(records, [measured(firstDay + hour, 1)])
    })
    expect(await daysWithRollup(location)).toEqual([])
    await assertRight(location)
  })

  it('are read where first and last values are short, and the records where they are long', async () => {
    const location = join(await temporaryDirectory(), 'store')
    const long = (index: number) => ({
      value: index % 5 === 0 ? JSON.stringify('x'.repeat(100)) : `${index}`,
    })
    await withStore(location, ({ records }) =>
      appendEach(
        records,
        readings(3).map((record, index) => ({ ...record, ...long(index) })),
      ),
    )
    await rollUp(location)
    expect(await daysWithRollup(location)).toEqual([0, 1])
    await assertRight(location)
  })

  it('can be thrown away, are named by the check where they are wrong, and not used where they are damaged', async () => {
    const location = await packedDays()
    const [first, other] = await withDatabase(location, async database => {
      const entries = []
      for await (const some of scan(database, rollupKeys(resource))) entries.push(...some)
      return entries
    })
    if (!first || !other) throw new Error('there is none')
    const damaged = Buffer.from(first[1])
    damaged.writeUInt8(damaged.readUInt8(9) ^ 1, 9)
    await withDatabase(location, ({ level }) => level.put(first[0], damaged))
    await withStore(location, ({ records }) =>
      assertFolded(records, { thingId: thing, key, buckets: utcBuckets(day) }, 'with a damaged one'),
    )
    await withDatabase(location, ({ level }) => level.put(first[0], other[1]))
    expect((await checkLevelStore(location)).faults).toEqual([
      expect.objectContaining({ fault: 'it differs from the records of its day' }),
    ])
    await withDatabase(location, async ({ level }) => {
      await level.clear(rollupKeys(resource))
      await level.del(packedKey(resource))
    })
    await assertRight(location)
    await rollUp(location)
    expect(await daysWithRollup(location)).toEqual([0, 1, 2, 3])
    await assertRight(location)
  })
})
