import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { expect, test } from 'vitest'
import { Database } from '../../../src/store/level/database/database.ts'
import { createLevelStore, restoreLevelStore } from '../../../src/store/level/index.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

async function newStore(): Promise<string> {
  const location = join(await temporaryDirectory(), 'store')
  await (await openStore(createLevelStore({ location }))).close()
  return location
}

async function storedAs(location: string, key: string): Promise<string | undefined> {
  const level = new ClassicLevel<string, string>(location, { valueEncoding: 'hex' })
  const value = await level.get(key)
  await level.close()
  return value
}

async function change(location: string, key: string, value: string | undefined): Promise<void> {
  const level = new ClassicLevel(location)
  await (value === undefined ? level.del(key) : level.put(key, value))
  await level.close()
}

test('open() gives a new store its format and an identity of its own, and keeps them', async () => {
  const [one, other] = [await newStore(), await newStore()]
  const identity = await storedAs(one, 'm:identity')
  expect(await storedAs(one, 'm:format')).toBe(Buffer.from('5').toString('hex'))
  expect(identity).toMatch(/^[0-9a-f]{32}$/)
  expect(await storedAs(other, 'm:identity')).not.toBe(identity)
  await (await openStore(createLevelStore({ location: one }))).close()
  expect(await storedAs(one, 'm:identity')).toBe(identity)
})

test('open() says once that it has made a store', async () => {
  const location = join(await temporaryDirectory(), 'store')
  let made = 0
  for (let start = 0; start < 2; start++) {
    await (await openStore(createLevelStore({ location, onCreated: () => made++ }))).close()
  }
  expect(made).toBe(1)
})

test('open() refuses a format that it does not know, and changes nothing', async () => {
  for (const format of ['2', '3', '6', '0', 'x']) {
    const location = await newStore()
    await change(location, 'm:format', format)
    await expect(openStore(createLevelStore({ location }))).rejects.toThrow('it has format')
    expect(await storedAs(location, 'm:format')).toBe(Buffer.from(format).toString('hex'))
  }
})

test('open() refuses a database that has keys and is no store, or has no identity', async () => {
  const location = await newStore()
  await change(location, 'm:identity', undefined)
  await expect(openStore(createLevelStore({ location }))).rejects.toThrow('it has no identity')
  const foreign = join(await temporaryDirectory(), 'store')
  await change(foreign, 'a', 'b')
  await expect(openStore(createLevelStore({ location: foreign }))).rejects.toThrow('not a Thingwire store')
  expect(await storedAs(foreign, 'm:format')).toBeUndefined()
})

test('open() finishes the making of a store that was broken off', async () => {
  const before = join(await temporaryDirectory(), 'store')
  await mkdir(before)
  await writeFile(join(before, 'LOCK'), '')
  await writeFile(join(before, 'MANIFEST-000001'), '')
  await (await openStore(createLevelStore({ location: before }))).close()
  expect(await storedAs(before, 'm:identity')).toBeDefined()
  const behind = join(await temporaryDirectory(), 'store')
  const level = new ClassicLevel(behind)
  await level.open()
  await level.close()
  await (await openStore(createLevelStore({ location: behind }))).close()
  expect(await storedAs(behind, 'm:identity')).toBeDefined()
})

test('open() makes no store where one has lost its CURRENT, and leaves what is there', async () => {
  const location = await newStore()
  await rm(join(location, 'CURRENT'))
  const files = async () => (await readdir(location)).filter(name => /^\d+\./.test(name))
  const before = await files()
  await expect(openStore(createLevelStore({ location }))).rejects.toThrow('cannot open the store')
  expect(await files()).toEqual(before)
})

test('a database that is not to be made is an error where there is none', async () => {
  const location = join(await temporaryDirectory(), 'store')
  await expect(new Database(location).open()).rejects.toThrow('cannot open the store')
})

test('restoreLevelStore() gives the store an identity of its own', async () => {
  const location = await newStore()
  const store = await openStore(createLevelStore({ location }))
  const copy = join(await temporaryDirectory(), 'copy')
  await restoreLevelStore(store.backup(), copy)
  await store.close()
  const identity = await storedAs(copy, 'm:identity')
  expect(identity).toMatch(/^[0-9a-f]{32}$/)
  expect(identity).not.toBe(await storedAs(location, 'm:identity'))
})
