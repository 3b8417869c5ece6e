import { expect, it, onTestFinished } from 'vitest'
import {
  count,
  key,
  measured,
  otherThing,
  readAll,
  thing,
  valuesOf,
  write,
} from '../../src/conformance/writes.ts'
import { ThingwireError } from '../../src/errors.ts'
import type { Belief } from '../../src/retention/believed-clock.ts'
import { Retention, type RetentionParts } from '../../src/retention/retention.ts'
import { parseRetentionRule } from '../../src/retention/rules.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openStore } from '../../src/store/open-store.ts'

const hour = 3_600_000
/** A store's clock. */
const ahead = { now: () => Date.now() + 1_000 * hour, behind: () => 0 }

async function memoryStore() {
  const store = await openStore(createMemoryStore())
  onTestFinished(() => store.close())
  return store
}

async function retain(
  parts: Omit<RetentionParts, 'rules' | 'onDefect'>,
  ...rules: readonly string[]
): Promise<Retention> {
  const retention = await Retention.open({
    ...parts,
    rules: rules.flatMap(rule => parseRetentionRule(rule) ?? []),
    onDefect: error => expect.unreachable(String(error)),
  })
  onTestFinished(() => retention.close())
  return retention
}

/** Of so many hours ago. */
function ofHoursAgo(hours: number, more: { key?: string } = {}) {
  return measured(Date.now() - hours * hour, hours, more)
}

it('Retention removes what is older than its rule allows, of all things, and leaves the newest of each resource', async () => {
  const store = await memoryStore()
  const { records } = store
  await records.append(write([9, 7, 5, 3, 1].map(hours => ofHoursAgo(hours))))
  await records.append(write([9, 7].map(hours => ofHoursAgo(hours, { key: 'debug.a' }))))
  await records.append(write([9, 7].map(hours => ofHoursAgo(hours, { key: 'kept' }))))
  await records.append(write([9, 7].map(hours => ofHoursAgo(hours, { key: '$geo' }))))
  await records.append(
    write(
      [9, 3, 1].map(hours => ofHoursAgo(hours)),
      { thingId: otherThing },
    ),
  )
  const retention = await retain(store, '4h', 'debug.*=1h', 'kept=1d')
  await expect.poll(() => retention.lastRun).toBeGreaterThan(0)
  expect(await valuesOf(records)).toEqual([3, 1])
  expect(await valuesOf(records, { key: 'debug.a' })).toEqual([7])
  expect(await valuesOf(records, { key: 'kept' })).toEqual([9, 7])
  expect(await valuesOf(records, { key: '$geo' })).toEqual([7])
  expect(await valuesOf(records, { thingId: otherThing })).toEqual([3, 1])
  expect(retention.removed).toBe(6)
})

it('Retention looks again for what has become too old', async () => {
  const store = await memoryStore()
  const retention = await retain(store, '1s')
  await expect.poll(() => retention.lastRun).toBeGreaterThan(0)
  await store.records.append(write([ofHoursAgo(2), ofHoursAgo(1)]))
  await expect.poll(() => retention.removed).toBe(1)
  expect(await valuesOf(store.records)).toEqual([1])
})

it('Retention goes through more things than it lists at once', async () => {
  const store = await memoryStore()
  const things = count(250).map(index => `thing-${index}`)
  for (const thingId of things) {
    await store.records.append(write([ofHoursAgo(3), ofHoursAgo(2)], { thingId }))
  }
  const retention = await retain(store, '1h')
  await expect.poll(() => retention.removed).toBe(250)
  for (const thingId of things) expect(await readAll(store.records, { thingId })).toHaveLength(1)
})

it('Retention without rules removes nothing, and asks for nothing but the believed time', async () => {
  const store = await memoryStore()
  const things = () => expect.unreachable('it looks for things')
  const before = Date.now()
  const retention = await retain({ ...store, records: { ...store.records, things } })
  expect(await retention.believedTime()).toBeGreaterThanOrEqual(before)
  expect(await retention.believedTime()).toBeLessThanOrEqual(Date.now())
  await retention.close()
})

it('Retention keeps the believed time, and for how long the clock was ahead of it, over restarts', async () => {
  const store = await memoryStore()
  await store.records.append(write([ofHoursAgo(0)]))
  const clock = { ...ahead, newest: () => store.clock.newest() }
  const belief = async () => (await store.documents.get('believed-clock')) as Belief | undefined
  for (let starts = 1; starts <= 2; starts++) {
    const before = await belief()
    const retention = await retain({ ...store, clock, keepEvery: 10 })
    const ran = async () => ((await belief())?.ahead?.ran ?? 0) - (before?.ahead?.ran ?? 0)
    await expect.poll(ran).toBeGreaterThan(20)
    const [after, believed] = [await belief(), await retention.believedTime()]
    expect(after?.time).toBeGreaterThan(before?.time ?? 0)
    expect(believed).toBeLessThanOrEqual(Date.now())
    await retention.close()
  }
})

it('Retention goes on after an error of the store', async () => {
  const store = await memoryStore()
  await store.records.append(write([ofHoursAgo(3), ofHoursAgo(2)]))
  let failures = 1
  const failing = {
    ...store.records,
    removeOld: async (...piece: Parameters<typeof store.records.removeOld>) => {
      if (failures-- > 0) throw new ThingwireError('store_unavailable')
      return await store.records.removeOld(...piece)
    },
  }
  const retention = await retain({ ...store, records: failing }, '1s')
  await expect.poll(() => retention.removed).toBe(1)
})

it('Retention.close() ends within a piece of a long removal', async () => {
  const store = await memoryStore()
  await store.records.append(write([ofHoursAgo(2), ofHoursAgo(1)], { thingId: thing }))
  let pieces = 0
  const endless = {
    ...store.records,
    removeOld: async (_thing: string, _key: string) => ({ count: 1, next: String(++pieces) }),
  }
  const retention = await retain({ ...store, records: endless }, `${key}=1h`)
  await expect.poll(() => pieces).toBeGreaterThan(2)
  await retention.close()
  const done = pieces
  await new Promise(resolve => setTimeout(resolve, 20))
  expect(pieces).toBe(done)
})
