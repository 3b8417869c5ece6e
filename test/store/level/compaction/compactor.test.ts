import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  appendEach,
  count,
  key,
  measured,
  measuredAt,
  readAll,
  removeAllOld,
  thing,
  valuesOf,
  write,
} from '../../../../src/conformance/writes.ts'
import type { StoredRecord } from '../../../../src/core/record/record.ts'
import { packedForm } from '../../../../src/store/level/chunks/packed-chunk.ts'
import { countIn } from '../../../../src/store/level/chunks/record-chunk.ts'
import { usualCompaction } from '../../../../src/store/level/compaction/compactor.ts'
import { checkLevelStore } from '../../../../src/store/level/index.ts'
import { keysOf, packedKey, prefix, resourceInRecordKey } from '../../../../src/store/level/keys.ts'
import { Unpacked } from '../../../../src/store/level/staging/unpacked.ts'
import { createCompactingStore } from '../../../../src/store/level/store.ts'
import { openStore } from '../../../../src/store/open-store.ts'
import { temporaryDirectory } from '../../../helpers/temporary-directory.ts'
import { eventually } from '../../../helpers/waiting.ts'
import { eagerPacking } from '../../store-places.ts'
import { writeBatches } from '../write-batches.ts'
import { entriesOf, packAll, withDatabase, withStore } from './packed-store.ts'

const { newest, records: mostRecords } = usualCompaction

afterEach(() => {
  vi.restoreAllMocks()
})

async function newLocation(): Promise<string> {
  return join(await temporaryDirectory(), 'store')
}

/** Values a second apart, from that number of seconds on. */
function seconds(length: number, from = 0) {
  return count(length).map(index => measured(measuredAt + 1_000 * (from + index), (from + index) / 4))
}

/** How many records each entry has; below zero if it is not packed. */
async function shapeOf(location: string): Promise<number[]> {
  const entries = await entriesOf(location)
  return entries.map(([, bytes]) => (bytes[0] === packedForm ? countIn(bytes) : -countIn(bytes)))
}

/** A packed chunk of one is the record. */
function alone(records: number): number {
  return records === 1 ? -1 : records
}

function packedIn(shape: readonly number[]): number {
  return shape.reduce((sum, each) => sum + Math.max(each, 0), 0)
}

async function recordsOf(location: string): Promise<readonly StoredRecord[]> {
  return await withStore(location, ({ records }) => readAll(records))
}

describe('the compactor', () => {
  it('makes chunks of single records, and leaves the newest as they were written', async () => {
    const location = await newLocation()
    await withStore(location, ({ records }) => appendEach(records, seconds(3_000)))
    const before = await recordsOf(location)
    await packAll(location)
    const shape = await shapeOf(location)
    const packed = shape.filter(each => each > 0)
    expect(packed).toEqual(count(Math.floor((3_000 - newest) / mostRecords)).map(() => mostRecords))
    expect(shape.slice(packed.length).every(each => each === -1)).toBe(true)
    expect(await recordsOf(location)).toEqual(before)
    expect(await checkLevelStore(location)).toMatchObject({ records: 3_000, faults: [] })
  })

  it('gives the room of what it has packed back when nothing is left to pack', async () => {
    const location = await newLocation()
    await withStore(location, ({ records }) => appendEach(records, seconds(20_000)))
    await packAll(location)
    const entries = await entriesOf(location)
    const length = entries.reduce((sum, [name, bytes]) => sum + name.length + bytes.length, 0)
    const { gte, lt } = keysOf(prefix.record)
    const onDisk = await withDatabase(location, ({ level }) => level.approximateSize(gte, lt))
    expect(onDisk).toBeGreaterThan(length / 10)
    expect(onDisk).toBeLessThan(length)
  })

  it('gives no room back while the disk is short: that takes some first', async () => {
    const packNew = async (shortAt?: number) => {
      const location = await newLocation()
      await withStore(location, ({ records }) => appendEach(records, seconds(20_000)))
      const compact = vi.spyOn(ClassicLevel.prototype, 'compactRange')
      let looked = 0
      await packAll(location, {}, { isShort: async () => ++looked === shortAt })
      const compacted = compact.mock.calls.length
      compact.mockRestore()
      return { looked, compacted }
    }
    const { looked, compacted } = await packNew()
    expect(compacted).toBe(1)
    expect(await packNew(looked)).toEqual({ looked, compacted: 0 })
  })

  it('finds nothing to do in what it has packed, and goes on behind it', async () => {
    const location = await newLocation()
    await withStore(location, ({ records }) => appendEach(records, seconds(3_000)))
    await packAll(location)
    const shape = await shapeOf(location)
    await packAll(location)
    expect(await shapeOf(location)).toEqual(shape)
    await withStore(location, ({ records }) => appendEach(records, seconds(1_000, 3_000)))
    await packAll(location)
    expect(packedIn(await shapeOf(location))).toBe(packedIn(shape) + 2 * mostRecords)
    expect(await checkLevelStore(location)).toMatchObject({ records: 4_000, faults: [] })
  })

  it('joins the chunks of writes of several records, each as a whole', async () => {
    const location = await newLocation()
    await withStore(location, async ({ records }) => {
      for (const index of count(30)) await records.append(write(seconds(100, 100 * index)))
    })
    const before = await recordsOf(location)
    await packAll(location)
    expect((await shapeOf(location)).filter(each => each > 0)).toEqual([500, 500, 500, 500, 500])
    expect(await recordsOf(location)).toEqual(before)
  })

  it('leaves long values alone, and does not look at them again', async () => {
    const location = await newLocation()
    const long = seconds(40).map(each => ({ ...each, value: JSON.stringify('x'.repeat(10_000)) }))
    await withStore(location, ({ records }) => appendEach(records, long))
    await packAll(location)
    expect(packedIn(await shapeOf(location))).toBe(0)
    await packAll(location, { newest: 0 })
    expect(packedIn(await shapeOf(location))).toBe(0)
  })

  it('joins what late records have parted, also after a restart', async () => {
    const location = await newLocation()
    await withStore(location, ({ records }) => appendEach(records, seconds(3_000)))
    await packAll(location)
    const late = [100.5, 101.5, 1_600.25].map(second => measured(measuredAt + 1_000 * second, 'late'))
    await withStore(location, async ({ records }) => {
      for (const each of late) await records.append(write([each]))
    })
    // Each is alone, and 100 and 102 parted one chunk into three.
    expect((await shapeOf(location)).slice(0, 8)).toEqual([101, -1, 1, -1, 410, 512, 512, 65].map(alone))
    const before = await recordsOf(location)
    await packAll(location)
    const shape = await shapeOf(location)
    // What was full enough stays.
    expect(shape.slice(0, 6)).toEqual([104, 410, 512, 512, 66, 447])
    expect(await recordsOf(location)).toEqual(before)
    expect(await checkLevelStore(location)).toMatchObject({ records: 3_003, faults: [] })
  })

  it('joins what late records part while it runs', async () => {
    const location = await newLocation()
    const store = await openStore(createCompactingStore({ location }, { ...eagerPacking, records: 64 }))
    const { records } = store
    await appendEach(records, seconds(640))
    for (const second of [100.5, 101.5, 300.5, 100.25]) {
      await records.append(write([measured(measuredAt + 1_000 * second, 'late')]))
    }
    const values = await valuesOf(records)
    await store.close()
    const again = await openStore(createCompactingStore({ location }, { ...eagerPacking, records: 64 }))
    await again.close()
    expect(await withStore(location, each => valuesOf(each.records))).toEqual(values)
    expect(await checkLevelStore(location)).toMatchObject({ records: 644, faults: [] })
  })

  it('packs what is appended behind records that were removed', async () => {
    const location = await newLocation()
    await withStore(location, ({ records }) => appendEach(records, seconds(3_000)))
    await packAll(location)
    await withStore(location, async ({ records }) => {
      await records.remove(thing, key, { from: measuredAt + 1_000_000 })
    })
    await withStore(location, ({ records }) => appendEach(records, seconds(3_000, 1_000)))
    await packAll(location)
    const shape = await shapeOf(location)
    expect(packedIn(shape)).toBeGreaterThan(4_000 - newest - mostRecords)
    expect(await recordsOf(location)).toHaveLength(4_000)
    expect(await checkLevelStore(location)).toMatchObject({ records: 4_000, faults: [] })
  })

  it('leaves records to be removed, each where it is', async () => {
    const location = await newLocation()
    await withStore(location, ({ records }) => appendEach(records, seconds(3_000)))
    await packAll(location)
    await withStore(location, async ({ records }) => {
      const at = (second: number) => measuredAt + 1_000 * second
      expect(await records.remove(thing, key, { from: at(600), to: at(601) })).toBe(1)
      expect(await records.remove(thing, key, { from: at(700), to: at(1_700) })).toBe(1_000)
      expect(await removeAllOld(records, at(100))).toBe(100)
    })
    const left = count(3_000).filter(each => each >= 100 && each !== 600 && (each < 700 || each >= 1_700))
    expect(await withStore(location, each => valuesOf(each.records))).toEqual(left.map(each => each / 4))
    await packAll(location)
    expect(await withStore(location, each => valuesOf(each.records))).toEqual(left.map(each => each / 4))
    expect(await checkLevelStore(location)).toMatchObject({ records: left.length, faults: [] })
    await withStore(location, async ({ records }) => {
      expect(await records.remove(thing, key, {})).toBe(left.length)
    })
    expect(await checkLevelStore(location)).toMatchObject({ records: 0, resources: 0, faults: [] })
  })

  it('does not write where something has changed since it read', async () => {
    const location = await newLocation()
    await withStore(location, ({ records }) => appendEach(records, seconds(3_000)))
    const [first] = await entriesOf(location)
    const resource = resourceInRecordKey(first?.[0] ?? expect.unreachable('there is no entry'))
    const unpacked = new Unpacked(1)
    const wrote: unknown[] = []
    await packAll(
      location,
      {},
      {
        unpacked,
        between: async task => {
          if (wrote.length === 0) unpacked.changed(resource, { from: measuredAt, to: measuredAt })
          const done = await task()
          wrote.push(done)
          return done
        },
      },
    )
    expect(wrote.slice(0, 2)).toEqual([false, true])
    expect(packedIn(await shapeOf(location))).toBeGreaterThan(2_000)
  })

  it('goes on behind a chunk that is damaged, which stays as it is', async () => {
    const location = await newLocation()
    await withStore(location, async ({ records }) => {
      for (const name of ['a', 'b']) {
        await appendEach(
          records,
          seconds(2_000).map(each => ({ ...each, key: name })),
        )
      }
    })
    await packAll(location)
    const damaged = (await entriesOf(location))[1] ?? expect.unreachable('there is no entry')
    const bytes = Buffer.from(damaged[1])
    bytes[20] = (bytes[20] ?? 0) ^ 1
    await withDatabase(location, async ({ level }) => {
      await level.put(damaged[0], bytes)
      for (const each of [1, 2]) await level.del(packedKey(each))
    })
    await packAll(location, { records: 3 * mostRecords })
    const shape = await shapeOf(location)
    expect(shape.filter(each => each === 3 * mostRecords).length).toBeGreaterThan(0)
    const { faults } = await checkLevelStore(location)
    expect(faults.map(({ fault }) => fault)).toEqual(['its value is not a valid chunk of records'])
  })

  it('does nothing while the disk is short', async () => {
    const location = await newLocation()
    await withStore(location, ({ records }) => appendEach(records, seconds(3_000)))
    let isShort = true
    let looks = 0
    const isShortUntil = async () => {
      if (++looks === 2) isShort = false
      return isShort
    }
    await packAll(
      location,
      {},
      {
        isShort: isShortUntil,
        between: async task => {
          expect(isShort).toBe(false)
          return await task()
        },
      },
    )
    expect(packedIn(await shapeOf(location))).toBeGreaterThan(2_000)
  })

  it.each([true, false])(
    'leaves a whole store when the disk fails a step, and tries again; written: %s',
    async isWritten => {
      const location = await newLocation()
      await withStore(location, ({ records }) => appendEach(records, seconds(3_000)))
      const before = await recordsOf(location)
      let fails = true
      writeBatches(async write => {
        if (!fails || isWritten) await write()
        if (!fails) return
        fails = false
        throw Object.assign(new Error('fsync: input/output error'), { code: 'LEVEL_IO_ERROR' })
      })
      await packAll(location)
      vi.restoreAllMocks()
      expect(fails).toBe(false)
      expect(packedIn(await shapeOf(location))).toBeGreaterThan(2_000)
      expect(await recordsOf(location)).toEqual(before)
      expect(await checkLevelStore(location)).toMatchObject({ records: 3_000, faults: [] })
    },
  )

  it('begins by itself in a store that is open, and ends with it', async () => {
    const location = await newLocation()
    const compaction = { ...usualCompaction, firstLook: 0 }
    const store = await openStore(createCompactingStore({ location }, compaction))
    let packed = 0
    writeBatches(async (write, { sync }) => {
      await write()
      if (sync === false) packed++
    })
    await appendEach(store.records, seconds(3_000))
    expect(await eventually(() => packed > 0)).toBe(true)
    await store.close()
    const closedAt = packed
    expect(packedIn(await shapeOf(location))).toBeGreaterThanOrEqual(mostRecords)
    expect(packed).toBe(closedAt)
    expect(await checkLevelStore(location)).toMatchObject({ records: 3_000, faults: [] })
  })
})
