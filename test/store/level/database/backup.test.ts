import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Store } from '../../../../src/store/contract.ts'
import { packedForm } from '../../../../src/store/level/chunks/packed-chunk.ts'
import { checkLevelStore, createLevelStore, restoreLevelStore } from '../../../../src/store/level/index.ts'
import { createCompactingStore } from '../../../../src/store/level/store.ts'
import { openStore } from '../../../../src/store/open-store.ts'
import { temporaryDirectory } from '../../../helpers/temporary-directory.ts'
import { noPacking } from '../../store-places.ts'
import { entriesOf, packAll } from '../compaction/packed-store.ts'

const thingId = 'aaaaaaaaaaaaaaaa'

test('backup() gives what restoreLevelStore() makes the same store of', async () => {
  const directory = await temporaryDirectory()
  const store = await openStore(createCompactingStore({ location: join(directory, 'store') }, noPacking))
  await append(store, 0, 2_500)
  await store.documents.transact([], () => ({
    put: { 'things/a': { name: 'boat' } },
    result: undefined,
    purpose: 'keep',
  }))
  const { keys } = await restoreLevelStore(store.backup(), join(directory, 'copy'))
  // Resource, its index, chunks of records, head, number of the batch, format, identity and document.
  expect(keys).toBe(2 + Math.ceil(2_500 / 128) + 5)

  const copy = await openStore(createLevelStore({ location: join(directory, 'copy') }))
  const query = { order: 'asc', limit: 10_000 } as const
  expect(await copy.records.read(thingId, 'depth', query)).toEqual(
    await store.records.read(thingId, 'depth', query),
  )
  expect(await copy.documents.get('things/a')).toEqual({ name: 'boat' })
  await Promise.all([copy.close(), store.close()])
})

test('backup() gives what is packed, and what is not, with the watermarks', async () => {
  const directory = await temporaryDirectory()
  const [location, copied] = [join(directory, 'store'), join(directory, 'copy')]
  const filling = await openStore(createLevelStore({ location }))
  await append(filling, 0, 2_500)
  await filling.close()
  await packAll(location)
  const store = await openStore(createCompactingStore({ location }, noPacking))
  await append(store, 2_500, 10)
  await restoreLevelStore(store.backup(), copied)
  await store.close()
  const entries = await entriesOf(copied)
  expect(entries).toEqual(await entriesOf(location))
  expect(entries.some(([, bytes]) => bytes[0] === packedForm)).toBe(true)
  expect(await checkLevelStore(copied)).toMatchObject({ records: 2_510, faults: [] })
  await packAll(copied)
  expect(await entriesOf(copied)).toEqual(entries)
})

test('backup() leaves out what is written while it is read', async () => {
  const directory = await temporaryDirectory()
  const store = await openStore(createLevelStore({ location: join(directory, 'store') }))
  await append(store, 0, 5_000)
  const backup = store.backup()[Symbol.asyncIterator]()
  const first = await backup.next()
  await append(store, 5_000, 100)
  const rest = { [Symbol.asyncIterator]: () => backup }
  await restoreLevelStore(concatenate([first.value], rest), join(directory, 'copy'))

  const copy = await openStore(createLevelStore({ location: join(directory, 'copy') }))
  expect((await copy.records.read(thingId, 'depth', { order: 'asc', limit: 10_000 }))?.records).toHaveLength(
    5_000,
  )
  await Promise.all([copy.close(), store.close()])
})

test.each([
  ['cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length - 40)],
  ['cut off in the last byte', (bytes: Buffer) => bytes.subarray(0, bytes.length - 1)],
  [
    'damaged',
    (bytes: Buffer) =>
      Buffer.concat([bytes.subarray(0, 60), Buffer.from([bytes[60] === 1 ? 2 : 1]), bytes.subarray(61)]),
  ],
  ['no backup', () => Buffer.from('PK\u0003\u0004 something else altogether')],
  ['empty', () => Buffer.alloc(0)],
  ['longer by a byte', (bytes: Buffer) => Buffer.concat([bytes, Buffer.of(0)])],
  ['there twice', (bytes: Buffer) => Buffer.concat([bytes, bytes])],
])('restoreLevelStore() refuses a file that is %s and leaves nothing', async (_, spoil) => {
  const directory = await temporaryDirectory()
  const store = await openStore(createLevelStore({ location: join(directory, 'store') }))
  await append(store, 0, 10)
  const pieces: Uint8Array[] = []
  for await (const piece of store.backup()) pieces.push(piece)
  await store.close()
  const spoiled = concatenate([spoil(Buffer.concat(pieces))])
  await expect(restoreLevelStore(spoiled, join(directory, 'copy'))).rejects.toThrow('cannot restore')
  expect(await readdir(directory)).toEqual(['store'])
})

test('restoreLevelStore() does not touch a directory that holds something', async () => {
  const directory = await temporaryDirectory()
  await mkdir(join(directory, 'full'))
  await writeFile(join(directory, 'full', 'precious'), '')
  await expect(restoreLevelStore(concatenate([]), join(directory, 'full'))).rejects.toThrow('not empty')
  expect(await readdir(join(directory, 'full'))).toEqual(['precious'])
})

async function append(store: Store, from: number, count: number): Promise<void> {
  const records = Array.from({ length: count }, (_, place) => ({
    key: 'depth',
    datetime: 1_700_000_000_000 + from + place,
    value: String(place),
    place,
    explicit: true,
  }))
  await store.records.append({ thingId, records, store: true, broadcast: true, answer: {} })
}

async function* concatenate(
  first: Uint8Array[],
  rest: AsyncIterable<Uint8Array> = (async function* () {})(),
) {
  yield* first
  yield* rest
}
