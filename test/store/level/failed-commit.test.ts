import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import type { Append, Commit, RecordStore } from '../../../src/store/contract.ts'
import { createLevelStore } from '../../../src/store/level/index.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { failNextBatch, writeBatches } from './write-batches.ts'

const thingId = 'aaaaaaaaaaaaaaaa'
const key = 'depth'
const failed = { reason: 'store_unavailable' }
const wholeLog = { after: 0, before: Number.POSITIVE_INFINITY, order: 'asc', limit: 100 } as const

afterEach(() => {
  vi.restoreAllMocks()
})

async function open() {
  const location = join(await temporaryDirectory(), 'store')
  return { location, store: await openStore(createLevelStore({ location })) }
}

function write(value: number, more: Partial<Append> = {}): Append {
  const record = { key, datetime: value, value: String(value), place: 0, explicit: true }
  const fixed = { thingId, records: [record], store: true, answer: {}, broadcast: true }
  return { ...fixed, ...more }
}

function state(key: string, value: string) {
  return { key, record: { key, datetime: 1, value } }
}

async function latestNow(records: RecordStore, query: { key?: string } = {}) {
  const snapshot = await records.snapshot()
  const found: string[] = []
  for await (const page of snapshot.latest(query)) {
    found.push(...page.map(({ key, record }) => `${key} ${record.value}`))
  }
  await snapshot.close()
  return found.sort()
}

test('a commit that fails although it is on the disk takes its states and its log entry back', async () => {
  const { location, store } = await open()
  store.records.logWhen(() => true)
  await store.records.append(write(1, { states: [state('$changed', '1'), state('$removed', '1')] }))
  const log = await store.records.readLog(wholeLog)
  const told: Commit[] = []
  store.records.onCommit(commit => told.push(commit))
  failNextBatch()
  const states = [state('$changed', '2'), { key: '$removed', record: undefined }, state('$added', '2')]
  const both = [write(2, { records: [], states }), write(3, { states: [state('$changed', '3')] })]
  const other = { ...write(4), thingId: 'other' }
  const failing = [...both, other].map(each =>
    expect(store.records.append(each)).rejects.toMatchObject(failed),
  )
  await Promise.all(failing)
  const check = async (records: RecordStore) => {
    expect(await latestNow(records)).toEqual(['$changed 1', '$removed 1', 'depth 1'])
    for (const each of ['$changed', '$removed', 'depth']) {
      expect(await latestNow(records, { key: each })).toEqual([`${each} 1`])
    }
    expect(await latestNow(records, { key: '$added' })).toEqual([])
    expect(await records.readLog(wholeLog)).toEqual(log)
  }
  await check(store.records)
  expect(told).toEqual([])
  await store.close()
  const reopened = await openStore(createLevelStore({ location }))
  await check(reopened.records)
  await reopened.close()
})

test('remove() that fails although it is on the disk leaves the newest record, and tells it when it is called again', async () => {
  const { store } = await open()
  const { records } = store
  records.logWhen(() => true)
  await records.append(write(1))
  await records.append(write(2))
  await records.remove(thingId, key, { to: 2 })
  const log = await records.readLog(wholeLog)
  const told: Commit[] = []
  records.onCommit(commit => told.push(commit))
  failNextBatch()
  await expect(records.remove(thingId, key, {})).rejects.toMatchObject(failed)
  expect(told).toEqual([])
  expect(await records.readLog(wholeLog)).toEqual(log)
  expect(await latestNow(records, { key })).toEqual(['depth 2'])
  expect(await records.resources(thingId)).toEqual([key])
  expect(await records.remove(thingId, key, {})).toBe(1)
  expect(told.map(({ latest }) => latest)).toEqual([[{ key, record: undefined }]])
  expect(await records.readLog(wholeLog)).toEqual([...log, ...told])
  expect(await latestNow(records, { key })).toEqual([])
  await store.close()
})

test('a snapshot is of no use any more when the database has recovered under it', async () => {
  const { store } = await open()
  const { records } = store
  const many = Array.from({ length: 1_000 }, (_, place) => ({
    ...{ key: `key-${place}`, datetime: 1, value: '1', explicit: true },
    place,
  }))
  await records.append(write(1, { records: many }))
  const snapshot = await records.snapshot()
  const reader = snapshot.latest({})[Symbol.asyncIterator]()
  await reader.next()
  failNextBatch()
  await expect(records.append(write(2))).rejects.toMatchObject(failed)
  const readOn = async () => {
    while (!(await reader.next()).done) {}
  }
  await expect(readOn()).rejects.toMatchObject(failed)
  await expect(snapshot.latest({})[Symbol.asyncIterator]().next()).rejects.toMatchObject(failed)
  await snapshot.close()
  expect(await latestNow(records)).toHaveLength(many.length)
  await store.close()
})

test('a refused write that fails to be stored is listed once, behind those before and before those behind', async () => {
  const { store } = await open()
  const add = (message: string) =>
    store.refused.add(thingId, { datetime: 1, door: 'http', reason: 'invalid_json', message, excerpt: '' })
  await add('first')
  let fails = true
  writeBatches(async write => {
    await write()
    if (!fails) return
    fails = false
    throw Object.assign(new Error('input/output error'), { code: 'LEVEL_IO_ERROR' })
  })
  await add('second')
  await add('third')
  const listed = await store.refused.list(thingId, 100)
  expect(listed.map(({ message }) => message)).toEqual(['third', 'second', 'first'])
  await store.close()
})
