import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { afterEach, expect, test, vi } from 'vitest'
import type { Append } from '../../../src/store/contract.ts'
import { createLevelStore } from '../../../src/store/level/index.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { failNextBatch } from './write-batches.ts'

const things = ['aaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbb']
const keys = ['$geo', '$settings.a', 'depth', 'depth.b', 'heading']
const fixed = { store: true, answer: {}, broadcast: true }

afterEach(() => {
  vi.restoreAllMocks()
})

/** A store as version 0.1.0 left it. */
async function storeOfFormat1(): Promise<string> {
  const location = join(await temporaryDirectory(), 'store')
  const store = await openStore(createLevelStore({ location }))
  for (const thingId of things) {
    const records = keys.map((key, place) => ({ key, datetime: 1, value: '1', place }))
    const write: Append = { ...fixed, thingId, records }
    await store.records.append(write)
  }
  await store.close()
  const level = new ClassicLevel(location)
  await level.clear({ gte: 'b', lt: 'c' })
  await level.put('m:format', '1')
  await level.close()
  return location
}

async function thingsByKey(location: string): Promise<Record<string, string[]>> {
  const store = await openStore(createLevelStore({ location }))
  const snapshot = await store.records.snapshot()
  const found: Record<string, string[]> = {}
  for (const key of keys) {
    for await (const page of snapshot.latest({ key })) found[key] = page.map(({ thingId }) => thingId)
  }
  await store.close()
  return found
}

async function formatOf(location: string): Promise<string | undefined> {
  const level = new ClassicLevel(location)
  const format = await level.get('m:format')
  await level.close()
  return format
}

const byKey = { depth: things, 'depth.b': things, heading: things }

test('open() makes the index by key that a store of format 1 has not', async () => {
  const location = await storeOfFormat1()
  expect(await thingsByKey(location)).toEqual(byKey)
  expect(await formatOf(location)).toBe('3')
})

test('open() makes the index anew where it was broken off', async () => {
  const location = await storeOfFormat1()
  failNextBatch()
  await expect(openStore(createLevelStore({ location }))).rejects.toThrow()
  expect(await formatOf(location)).toBe('1')
  expect(await thingsByKey(location)).toEqual(byKey)
  expect(await formatOf(location)).toBe('3')
})

test('open() makes an index of more resources than it puts at once', async () => {
  const location = join(await temporaryDirectory(), 'store')
  await (await openStore(createLevelStore({ location }))).close()
  const level = new ClassicLevel<string, Buffer>(location, { valueEncoding: 'buffer' })
  const count = 25_000
  await level.open()
  const batch = level.batch()
  for (let number = 1; number <= count; number++) {
    const value = Buffer.alloc(4)
    value.writeUInt32BE(number)
    batch.put(`kthing${String(number).padStart(11, '0')}\0depth`, value)
  }
  await batch.put('m:format', Buffer.from('1')).write()
  await level.close()
  await (await openStore(createLevelStore({ location }))).close()
  const indexed = new ClassicLevel<string, Buffer>(location, { valueEncoding: 'buffer' })
  const numbers = (await indexed.values({ gte: 'bdepth\0', lt: 'bdepth\x01' }).all()).map(bytes =>
    bytes.readUInt32BE(),
  )
  await indexed.close()
  expect(numbers).toHaveLength(count)
  expect(numbers.every((number, index) => number === index + 1)).toBe(true)
})

test('open() takes a store of format 2, which has an entry for each record, as it is', async () => {
  const location = join(await temporaryDirectory(), 'store')
  const store = await openStore(createLevelStore({ location }))
  for (const value of ['1', '2']) {
    const record = { key: 'depth', datetime: 1, value, place: 0 }
    await store.records.append({ ...fixed, thingId: 'aaaaaaaaaaaaaaaa', records: [record] })
  }
  await store.close()
  const level = new ClassicLevel(location)
  await level.put('m:format', '2')
  await level.close()
  const reopened = await openStore(createLevelStore({ location }))
  const page = await reopened.records.read('aaaaaaaaaaaaaaaa', 'depth', { order: 'asc', limit: 10 })
  expect(page?.records.map(({ value }) => value)).toEqual(['1', '2'])
  await reopened.close()
  expect(await formatOf(location)).toBe('3')
})

test('open() refuses a format that it does not know, and changes nothing', async () => {
  for (const format of ['4', '0', 'x']) {
    const location = await storeOfFormat1()
    const level = new ClassicLevel(location)
    await level.put('m:format', format)
    await level.close()
    await expect(openStore(createLevelStore({ location }))).rejects.toThrow('it has format')
    expect(await formatOf(location)).toBe(format)
  }
})
