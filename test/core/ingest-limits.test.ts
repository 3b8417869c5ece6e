import { describe, expect, it, onTestFinished } from 'vitest'
import { type LimitOptions, Limits } from '../../src/access/limits/limits.ts'
import { createIngest, type Ingest } from '../../src/core/ingest.ts'
import type { BackPressure, RefusedWrite } from '../../src/core/ports.ts'
import { ThingwireError } from '../../src/errors.ts'
import { writeFormats } from '../../src/formats/write-formats.ts'
import { createMagicRegistry } from '../../src/magic/registry.ts'
import type { Store } from '../../src/store/contract.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { openStore } from '../../src/store/open-store.ts'

const thingId = 'thing'
const always: BackPressure = { room: () => undefined }

interface Opened {
  readonly store: Store
  readonly limits: Limits
  readonly ingest: Ingest
  /** What is told of refused writes. */
  readonly told: RefusedWrite[]
  /** Nothing is paid but by the time that a test lets pass. */
  pass(milliseconds: number): void
}

async function open(options: Partial<LimitOptions>, live = always, storeTimeout = 5_000): Promise<Opened> {
  const store = await openStore(createMemoryStore())
  const { records, refused, clock } = store
  let now = 0
  const limits = new Limits(options, () => now)
  const parts = {
    records,
    refused,
    magic: createMagicRegistry(),
    formats: writeFormats,
    clock,
    live,
    isShared: false,
    limits,
    storeTimeout,
  }
  const ingest = createIngest(parts)
  const told: RefusedWrite[] = []
  ingest.onRefused((_, refusal) => told.push(refusal))
  onTestFinished(async () => {
    ingest.drain()
    await store.close()
  })
  const pass = (milliseconds: number) => {
    now += milliseconds
  }
  return { store, limits, ingest, told, pass }
}

async function write({ ingest }: Opened, door: 'http' | 'mqtt', body: unknown, id = thingId) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return await ingest.write({ thingId: id, door, body: Buffer.from(text), options: {} })
}

function reading(value: unknown, key = 'n') {
  return { values: [{ key, value }] }
}

async function values({ store }: Opened, key = 'n'): Promise<readonly unknown[]> {
  const page = await store.records.read(thingId, key, { order: 'asc', limit: 1_000 })
  return page?.records.map(({ value }) => JSON.parse(value)) ?? []
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, number) => number)
}

const slow = { writesPerSecond: 1 }
/** Writes that are free at first: those of 5 s, and the one that overdraws. */
const burst = 6

describe('createIngest() and its limits', () => {
  it('write() over HTTP is refused before it is read, and noted nowhere', async () => {
    const opened = await open(slow)
    for (const value of numbers(burst)) await write(opened, 'http', reading(value))
    for (const body of [reading(burst), 'not JSON']) {
      await expect(write(opened, 'http', body)).rejects.toMatchObject({
        reason: 'write_rate_exceeded',
        retryAfter: 1,
      })
    }
    await write(opened, 'http', reading('of another'), 'other')
    expect(await values(opened)).toEqual(numbers(burst))
    expect(opened.told).toEqual([])
    expect(opened.limits.met.get('write_rate_exceeded')).toBe(2)
  })

  it('write() costs as much where it is refused for its content', async () => {
    const opened = await open(slow)
    for (const _ of numbers(burst)) await write(opened, 'http', 'not JSON').catch(() => {})
    expect(opened.told).toHaveLength(burst)
    await expect(write(opened, 'http', reading(1))).rejects.toMatchObject({ reason: 'write_rate_exceeded' })
  })

  it('write() may have more records than are left, and is followed by none until they are paid', async () => {
    const opened = await open({ recordsPerSecond: 10 })
    const large = { values: numbers(200).map(value => ({ key: 'n', value })) }
    await write(opened, 'http', large)
    await expect(write(opened, 'http', reading(1))).rejects.toMatchObject({
      reason: 'record_rate_exceeded',
      retryAfter: 15,
    })
    expect(await values(opened)).toHaveLength(200)
    expect(opened.limits.met.get('record_rate_exceeded')).toBe(1)
  })

  it('write() over MQTT waits its turn, and is stored in the order of the calls', async () => {
    const opened = await open({ writesPerSecond: 100 })
    const writing = numbers(540).map(value => write(opened, 'mqtt', reading(value)))
    await writing[500]
    expect(await values(opened)).toHaveLength(501)
    opened.pass(200)
    await writing[520]
    expect(await values(opened)).toHaveLength(521)
    await expect(write(opened, 'http', reading('refused'))).rejects.toMatchObject({
      reason: 'write_rate_exceeded',
    })
    opened.pass(200)
    await Promise.all(writing)
    expect(await values(opened)).toEqual(numbers(540))
    expect(opened.limits.met.get('write_rate_exceeded')).toBe(39 + 1)
  })

  it('write() over MQTT has what is refused for its content wait as well', async () => {
    const opened = await open(slow)
    for (const value of numbers(burst)) await write(opened, 'mqtt', reading(value))
    const refused = write(opened, 'mqtt', 'not JSON')
    await new Promise(resolve => setImmediate(resolve))
    expect(opened.told).toEqual([])
    opened.ingest.drain()
    await expect(refused).rejects.toMatchObject({ reason: 'invalid_json' })
    expect(opened.told).toHaveLength(1)
  })

  it('drain() has what waits stored', async () => {
    const opened = await open(slow)
    const writing = numbers(burst + 20).map(value => write(opened, 'mqtt', reading(value)))
    opened.ingest.drain()
    await Promise.all(writing)
    expect(await values(opened)).toEqual(numbers(burst + 20))
  })

  it('write() that waits when its thing is removed is not stored', async () => {
    const opened = await open(slow)
    for (const value of numbers(burst)) await write(opened, 'mqtt', reading(value))
    const waiting = write(opened, 'mqtt', reading('late'))
    opened.limits.rate.revoke({ principals: new Set([`thing.${thingId}`]) })
    await expect(waiting).rejects.toMatchObject({ reason: 'unknown_thing' })
    expect(await values(opened)).toEqual(numbers(burst))
  })

  it('noteRefused() notes one dropped write a second of each thing', async () => {
    const { ingest, store, told } = await open({})
    const error = new ThingwireError('write_rate_exceeded')
    const drop = (id: string) =>
      ingest.noteRefused({ thingId: id, door: 'mqtt', error, body: Buffer.from('1') })
    await Promise.all([...numbers(100).map(() => drop(thingId)), drop('other')])
    expect(told).toMatchObject([
      { reason: 'write_rate_exceeded', excerpt: '1' },
      { reason: 'write_rate_exceeded', excerpt: '1' },
    ])
    expect(await store.refused.list(thingId, 100)).toHaveLength(1)
    expect(await store.refused.list('other', 100)).toHaveLength(1)
  })

  it('noteRefused() costs the thing as much as a write, and notes nothing of one that is in debt', async () => {
    const opened = await open(slow)
    const { ingest, told } = opened
    const error = new ThingwireError('body_too_large')
    for (const _ of numbers(burst + 3)) await ingest.noteRefused({ thingId, door: 'http', error })
    expect(told).toHaveLength(burst)
    await expect(write(opened, 'http', reading(1))).rejects.toMatchObject({ reason: 'write_rate_exceeded' })
    const refusal = new ThingwireError('settings_too_large')
    await ingest.noteRefused({ thingId, door: 'magic', error: refusal })
    expect(told).toHaveLength(burst + 1)
  })

  it('write() that makes too many resources is refused for good, noted and told', async () => {
    const opened = await open({ resourcesPerThing: 2 })
    const { limits, store, told } = opened
    await write(opened, 'mqtt', reading(1, 'a'))
    const tooMany = {
      values: [...reading(2, 'a').values, ...reading(2, 'b').values, ...reading(2, 'c').values],
    }
    await expect(write(opened, 'mqtt', { ...tooMany, id: 'w1' })).rejects.toMatchObject({
      reason: 'too_many_resources',
    })
    await expect(write(opened, 'http', { ...tooMany, partial: true })).rejects.toMatchObject({
      reason: 'too_many_resources',
    })
    expect(told).toMatchObject([
      { reason: 'too_many_resources', door: 'mqtt', id: 'w1' },
      { reason: 'too_many_resources', door: 'http' },
    ])
    expect(await store.refused.list(thingId, 10)).toHaveLength(2)
    expect(await values(opened, 'a')).toEqual([1])
    expect(limits.met.get('too_many_resources')).toBe(2)
    await write(opened, 'mqtt', { ...reading(2, 'b'), id: 'w1' })
    expect(await store.records.resources(thingId)).toEqual(['a', 'b'])
  })

  it('write() that finds no room for live messages in time is refused', async () => {
    let giveRoom = () => {}
    let room: Promise<void> | undefined = new Promise<void>(resolve => {
      giveRoom = resolve
    })
    const opened = await open({}, { room: () => room }, 20)
    const outcomes = await Promise.allSettled(numbers(3).map(value => write(opened, 'http', reading(value))))
    expect(outcomes).toMatchObject(outcomes.map(() => ({ reason: { reason: 'too_many_waiting' } })))
    await expect(write(opened, 'mqtt', reading(3))).rejects.toMatchObject({ reason: 'too_many_waiting' })
    expect(opened.limits.met.get('too_many_waiting')).toBe(4)
    giveRoom()
    room = undefined
    await write(opened, 'http', reading(4))
    expect(await values(opened)).toEqual([4])
  })

  it('write() goes on when there is room for live messages in time', async () => {
    let giveRoom = () => {}
    const room = new Promise<void>(resolve => {
      giveRoom = resolve
    })
    const opened = await open({}, { room: () => room })
    const writing = numbers(20).map(value => write(opened, 'http', reading(value)))
    giveRoom()
    await Promise.all(writing)
    expect(await values(opened)).toEqual(numbers(20))
    expect(opened.limits.met.get('too_many_waiting')).toBe(0)
  })
})
