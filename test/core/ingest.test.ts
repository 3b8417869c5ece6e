import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Limits } from '../../src/access/limits/limits.ts'
import { createIngest, type Ingest } from '../../src/core/ingest.ts'
import type { WriteOptions } from '../../src/core/parse.ts'
import type { RecordStore } from '../../src/core/ports.ts'
import { writeFormats } from '../../src/formats/write-formats.ts'
import { Live } from '../../src/live/index.ts'
import { createMagicRegistry } from '../../src/magic/registry.ts'
import type { Store } from '../../src/store/contract.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openStore } from '../../src/store/open-store.ts'

const thingId = 'thing'
const good = { values: [{ key: 'reading', value: 1 }] }
const hour = 3_600_000
const bad = { values: [{ key: 'reading' }] }
const storeTimeout = 5_000
const now = Date.parse('2026-11-21T09:30:00Z')

let store: Store
let ingest: Ingest
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now })
  store = await openStore(createMemoryStore())
  const { records, refused, clock, nodes } = store
  ingest = createIngest({
    records,
    refused,
    magic: createMagicRegistry(),
    formats: writeFormats,
    clock,
    live: new Live({ records, nodes, isShared: false }, 0),
    isShared: false,
    limits: new Limits(),
    storeTimeout,
  })
})
afterEach(async () => {
  await store.close()
  vi.useRealTimers()
})

function write(body: unknown, options: WriteOptions = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return ingest.write({ thingId, door: 'http', body: Buffer.from(text), options })
}

async function read(): Promise<readonly string[]> {
  const page = await store.records.read(thingId, 'reading', { order: 'asc', limit: 100 })
  return page?.records.map(({ value }) => value) ?? []
}

describe('createIngest()', () => {
  it('write() has stored and told the records when it resolves', async () => {
    const told: unknown[] = []
    store.records.onCommit(commit => told.push(commit))
    expect(await write(good, { broadcast: false })).toEqual({})
    expect(await read()).toEqual(['1'])
    const record = { key: 'reading', value: '1', datetime: now, place: 0, explicit: false }
    const kept = { receivedAt: now, stored: true, latest: [] }
    expect(told).toEqual([{ thingId, writeNumber: 1, records: [record], broadcast: false, ...kept }])
  })

  it('write() commits in the order of the calls', async () => {
    await Promise.all(
      Array.from({ length: 50 }, (_, value) => write({ values: [{ key: 'reading', value }] })),
    )
    expect(await read()).toEqual(Array.from({ length: 50 }, (_, value) => String(value)))
  })

  it('write() gives receipt times that do not go back with the clock', async () => {
    await write(good)
    vi.setSystemTime(now - 500)
    await write({ values: [{ key: 'reading', value: 2 }] })
    const page = await store.records.read(thingId, 'reading', { order: 'asc', limit: 10 })
    expect(page?.records.map(({ datetime }) => datetime)).toEqual([now, now])
  })

  it('write() takes a datetime up to 24 hours ahead of the newest receipt time while the clock is behind it', async () => {
    await write(good)
    vi.setSystemTime(now - 23 * hour)
    const at = (time: number) =>
      write({ values: [{ key: 'reading', value: 2, datetime: new Date(time).toISOString() }] })
    await at(now + 24 * hour)
    await expect(at(now + 24 * hour + 1)).rejects.toMatchObject({ reason: 'datetime_out_of_range' })
    expect(await read()).toEqual(['1', '2'])
  })

  it('write() of a record without a datetime has the receipt time of its commit, not of the call', async () => {
    const { records, refused, clock, nodes } = store
    let letGo = () => {}
    const held = new Promise<void>(resolve => {
      letGo = resolve
    })
    const submit: RecordStore['submit'] = (append, ticket) => {
      void held.then(() => records.submit(append, ticket))
    }
    const slow = createIngest({
      records: { ...records, submit },
      refused,
      magic: createMagicRegistry(),
      formats: writeFormats,
      clock,
      live: new Live({ records, nodes, isShared: false }, 0),
      isShared: false,
      limits: new Limits(),
      storeTimeout,
    })
    const body = Buffer.from(JSON.stringify(good))
    const writing = slow.write({ thingId, door: 'http', body, options: {} })
    vi.setSystemTime(now + 2_000)
    letGo()
    await writing
    const page = await records.read(thingId, 'reading', { order: 'asc', limit: 10 })
    expect(page?.records.map(({ datetime }) => datetime)).toEqual([now + 2_000])
  })

  it('write() keeps what it refuses among the refused writes', async () => {
    await expect(write(bad, { id: 'w1' })).rejects.toMatchObject({ reason: 'invalid_value' })
    await expect(write('not JSON')).rejects.toMatchObject({ reason: 'invalid_json' })
    const [second, first, ...others] = await store.refused.list(thingId, 100)
    expect(others).toEqual([])
    expect(second).toMatchObject({ datetime: now, door: 'http', reason: 'invalid_json', excerpt: 'not JSON' })
    expect(second).not.toHaveProperty('errors')
    expect(second).not.toHaveProperty('id')
    expect(first).toMatchObject({
      reason: 'invalid_value',
      errors: [{ index: 0, field: 'value', reason: 'invalid_value' }],
      id: 'w1',
      excerpt: JSON.stringify(bad),
    })
  })

  it('write() keeps refused writes in the order in which they came, however long an id is looked for', async () => {
    let lookedFor = () => {}
    const second = new Promise<void>(resolve => {
      lookedFor = resolve
    })
    const { answerOf } = store.records
    const records: RecordStore = {
      ...store.records,
      answerOf: async (...query) => {
        if (query[1] === 'w1') await second
        else lookedFor()
        return await answerOf(...query)
      },
    }
    const slow = createIngest({
      records,
      refused: store.refused,
      magic: createMagicRegistry(),
      formats: writeFormats,
      clock: store.clock,
      live: new Live({ ...store, isShared: false }, 0),
      isShared: false,
      limits: new Limits(),
      storeTimeout,
    })
    const refuse = (id: string) =>
      slow.write({ thingId, door: 'mqtt', body: Buffer.from('{"values":1}'), options: { id } })
    await Promise.allSettled([refuse('w1'), refuse('w2')])
    expect((await store.refused.list(thingId, 100)).map(({ id }) => id)).toEqual(['w2', 'w1'])
  })

  it('write() refuses for good what the store cannot keep among the refused writes', async () => {
    await store.close()
    await expect(write(bad)).rejects.toMatchObject({ reason: 'invalid_value' })
    await expect(write(good)).rejects.toMatchObject({ reason: 'store_unavailable' })
  })

  it('write() answers a known id like the first, and keeps no refusal of its body', async () => {
    const mixed = { values: [...good.values, ...bad.values] }
    const first = await write(mixed, { partial: true, id: 'w1' })
    expect(first.rejected).toMatchObject([{ index: 1, field: 'value', reason: 'invalid_value' }])
    expect(await write(mixed, { partial: true, id: 'w1' })).toEqual(first)
    expect(await write(bad, { id: 'w1' })).toEqual(first)
    expect(await write(good, { id: 'w1', store: false, broadcast: false })).toEqual(first)
    expect(await read()).toEqual(['1'])
    expect(await store.refused.list(thingId, 100)).toEqual([])
  })

  it('write() of a dry run tells nobody', async () => {
    const told: unknown[] = []
    store.records.onCommit(commit => told.push(commit))
    expect(await write(good, { store: false, broadcast: false, id: 'w1' })).toEqual({})
    expect(told).toEqual([])
    expect(await read()).toEqual([])
  })

  it('write() with store off tells the records and keeps none', async () => {
    const told: unknown[] = []
    store.records.onCommit(({ records }) => told.push(...records.map(({ value }) => value)))
    await write(good, { store: false })
    expect(told).toEqual(['1'])
    expect(await read()).toEqual([])
  })
})
