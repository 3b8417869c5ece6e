import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import type { Append } from '../../../src/store/contract.ts'
import { createLevelStore } from '../../../src/store/level/index.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { failNextBatch, writeBatches } from './write-batches.ts'

const page = { order: 'asc', limit: 1_000 } as const
const thingId = 'aaaaaaaaaaaaaaaa'

afterEach(() => {
  vi.restoreAllMocks()
})

async function open() {
  const location = join(await temporaryDirectory(), 'store')
  return { location, store: await openStore(createLevelStore({ location })) }
}

function write(value: number, more: Partial<Append> = {}): Append {
  const record = { key: 'depth', datetime: value, value: String(value), place: 0, explicit: true }
  const fixed = { thingId, records: [record], store: true, answer: {}, broadcast: true }
  return { ...fixed, ...more }
}

const many = Array.from({ length: 200 }, (_, index) => index)

test('append() of a connection passes large puts, and none with documents of its own', async () => {
  const { store } = await open()
  const settled: string[] = []
  const settles = (name: string, work: Promise<unknown>) => work.then(() => settled.push(name))
  const large = 'x'.repeat(300_000)
  await Promise.all([
    ...[1, 2, 3].map(place =>
      settles(`put ${place}`, store.documents.put({ [`a/${place}`]: { large } }, 'keep')),
    ),
    settles('with a document', store.records.append(write(1, { sender: {}, documents: { b: null } }))),
    settles('of nobody', store.records.append(write(2))),
    settles('passes', store.records.append(write(3, { sender: {}, thingId: 'bbbbbbbbbbbbbbbb' }))),
  ])
  expect(settled).toEqual(['put 1', 'passes', 'put 2', 'put 3', 'with a document', 'of nobody'])
  await store.close()
})

test('put() shares its commit with the appends and puts that wait with it', async () => {
  const { store } = await open()
  let batches = 0
  writeBatches(async write => {
    batches++
    await write()
  })
  await Promise.all(many.map(index => store.documents.put({ [`a/${index}`]: { index } }, 'keep')))
  const ofPuts = batches
  await Promise.all(
    many.flatMap(index => [
      store.records.append(write(index, { documents: { [`b/${index}`]: { index } } })),
      store.documents.put({ [`a/${index}`]: null }, 'keep'),
    ]),
  )
  expect([ofPuts, batches - ofPuts]).toEqual([1, 1])
  expect(await store.documents.list('a/', { limit: 1 })).toEqual([])
  expect(await store.documents.list('b/', { limit: 1_000 })).toHaveLength(many.length)
  await store.close()
})

test('a commit that fails although it is on the disk is taken back, its documents too', async () => {
  const { location, store } = await open()
  await store.documents.put({ changed: { is: 'before' }, removed: { is: 'before' } }, 'keep')
  failNextBatch()
  const documents = { changed: { is: 'after' }, removed: null, added: { is: 'after' } }
  const failed = [
    store.records.append(write(1, { id: 'a', documents })),
    store.documents.put({ changed: { is: 'put' }, other: {} }, 'keep'),
  ]
  for (const each of failed) await expect(each).rejects.toMatchObject({ reason: 'store_unavailable' })
  const before = [
    ['changed', { is: 'before' }],
    ['removed', { is: 'before' }],
  ]
  expect(await store.documents.list('', { limit: 10 })).toEqual(before)
  expect(await store.records.read(thingId, 'depth', page)).toBeUndefined()
  await store.close()

  const reopened = await openStore(createLevelStore({ location }))
  expect(await reopened.documents.list('', { limit: 10 })).toEqual(before)
  const { writeNumber } = await reopened.records.append(write(1, { id: 'a', documents }))
  expect(writeNumber).toBeGreaterThan(0)
  expect(await reopened.documents.get('added')).toEqual({ is: 'after' })
  await reopened.close()
})
