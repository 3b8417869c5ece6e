import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ThingRegistry } from '../../../src/access/access.ts'
import type { Append, DocumentStore } from '../../../src/core/ports.ts'
import type { StoreDriver } from '../../../src/store/contract.ts'
import { createMemoryStore } from '../../../src/store/memory/index.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { createGate } from '../../helpers/gate.ts'
import { openNodeOfMany } from '../node-of-many.ts'
import { adminKey, documentsUnder, openAccess } from '../open-access.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** A store that holds the times back when they are about to be written, of two things or more. */
function storeWithGate() {
  const memory = createMemoryStore()
  const gate = createGate()
  const transact: DocumentStore['transact'] = async (names, change) => {
    if (names.filter(name => name.startsWith('seen/')).length > 1) await gate.pass()
    return await memory.documents.transact(names, change)
  }
  const driver: StoreDriver = { ...memory, documents: { ...memory.documents, transact } }
  return { driver, gate }
}

describe('ThingSummary.lastSeen', () => {
  it('is when the thing last used its token, and not when the admin used its id', async () => {
    const { access, registry } = await openAccess()
    const { thingId, thingToken } = await registry.create({})
    await access.authorise(thingId, adminKey, 'read')
    const lastSeen = async () => (await registry.list({ limit: 1 })).things[0]?.lastSeen
    expect(await lastSeen()).toBeUndefined()
    const before = Date.now()
    await access.authorise(thingToken, undefined, 'write')
    expect(await lastSeen()).toBeGreaterThanOrEqual(before)
  })

  it('survives a restart after close', async () => {
    const driver = createMemoryStore()
    const first = await openAccess({ driver })
    const things = await Promise.all(Array.from({ length: 600 }, () => first.registry.create({})))
    for (const { thingToken } of things) await first.access.thingOfToken(thingToken)
    const before = (await first.registry.list({ limit: 1_000 })).things
    await first.close()
    const second = await openAccess({ driver })
    expect((await second.registry.list({ limit: 1_000 })).things).toEqual(before)
    expect(before.every(thing => thing.lastSeen !== undefined)).toBe(true)
  })

  it('reaches the store once a minute, not with each write', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] })
    const { access, registry, store } = await openAccess()
    const { thingId, thingToken } = await registry.create({})
    for (let count = 0; count < 100; count++) await access.authorise(thingToken, undefined, 'write')
    const at = Date.now()
    vi.advanceTimersByTime(59_000)
    expect(await documentsUnder(store.documents, 'seen/')).toEqual([])
    vi.advanceTimersByTime(1_000)
    vi.useRealTimers()
    await expect.poll(() => documentsUnder(store.documents, 'seen/')).toEqual([[`seen/${thingId}`, { at }]])
  })

  it('is not kept of a thing that was removed, before or while the times are written', async () => {
    const { driver, gate } = storeWithGate()
    const first = await openAccess({ driver })
    const things = [await first.registry.create({}), await first.registry.create({})] as const
    for (const { thingToken } of things) await first.access.thingOfToken(thingToken)
    const closing = first.close()
    await gate.reached
    await first.registry.remove(things[0].thingId)
    gate.open()
    await closing
    const seen = async () => (await documentsUnder(driver.documents, 'seen/')).map(([name]) => name)
    expect(await seen()).toEqual([`seen/${things[1].thingId}`])
    const second = await openAccess({ driver })
    await second.registry.remove(things[1].thingId)
    expect(await seen()).toEqual([])
  })

  it('of a use while the times are written is not lost', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] })
    const { driver, gate } = storeWithGate()
    const { access, registry } = await openAccess({ driver })
    const { thingId, thingToken } = await registry.create({})
    const other = await registry.create({})
    for (const token of [thingToken, other.thingToken]) await access.thingOfToken(token)
    vi.advanceTimersByTime(60_000)
    await gate.reached
    await access.thingOfToken(thingToken)
    const later = Date.now()
    vi.useRealTimers()
    gate.open()
    await expect.poll(() => documentsUnder(driver.documents, 'seen/')).toHaveLength(2)
    const { things } = await registry.list({ limit: 2 })
    expect(things.find(thing => thing.thingId === thingId)?.lastSeen).toBe(later)
  })

  it('is the latest of all nodes, whichever of them writes it last', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const store = await openStore(createMemoryStore())
    const [first, second, reader] = [
      await openNodeOfMany(store),
      await openNodeOfMany(store),
      await openNodeOfMany(store),
    ]
    const { thingId, thingToken } = await reader.registry.create({})
    const lastSeen = async ({ registry }: typeof reader) =>
      (await registry.list({ limit: 1 })).things[0]?.lastSeen
    await first.access.thingOfToken(thingToken)
    vi.setSystemTime(Date.now() + 1_000)
    const later = Date.now()
    await second.access.thingOfToken(thingToken)
    await second.close()
    for (const node of [first, second, reader]) expect(await lastSeen(node)).toBe(later)
    await first.close()
    expect(await lastSeen(reader)).toBe(later)
    expect(await documentsUnder(store.documents, 'seen/')).toEqual([[`seen/${thingId}`, { at: later }]])
    await reader.close()
    await store.close()
  })
})

describe('ThingSummary.lastWrite', () => {
  const write = (thingId: string, changes: Partial<Append> = {}): Append => ({
    thingId,
    records: [{ key: 'n', value: '1', datetime: Number.NaN, place: 0, explicit: false }],
    store: true,
    broadcast: true,
    answer: {},
    ...changes,
  })
  const lastWrite = async ({ registry }: { readonly registry: ThingRegistry }) => {
    return (await registry.list({ limit: 1 })).things[0]?.lastWrite
  }

  it('is the receipt time of the last write that was stored, whoever wrote', async () => {
    const opened = await openAccess()
    const { thingId } = await opened.registry.create({})
    expect(await lastWrite(opened)).toBeUndefined()
    const times: number[] = []
    opened.store.records.onCommit(({ receivedAt }) => times.push(receivedAt))
    await opened.store.records.append(write(thingId))
    expect(await lastWrite(opened)).toBe(times[0])
    await opened.store.records.append(write(thingId, { store: false }))
    await opened.store.records.remove(thingId, 'n', {})
    expect(await lastWrite(opened)).toBe(times[0])
  })

  it('survives a restart, beside when the thing was last seen', async () => {
    const driver = createMemoryStore()
    const first = await openAccess({ driver })
    const { thingId, thingToken } = await first.registry.create({})
    await first.store.records.append(write(thingId))
    const written = await lastWrite(first)
    await first.close()
    const second = await openAccess({ driver })
    await second.access.thingOfToken(thingToken)
    const { things } = await second.registry.list({ limit: 1 })
    expect(things).toMatchObject([{ lastWrite: written, lastSeen: expect.any(Number) }])
    await second.close()
    const third = await openAccess({ driver })
    expect((await third.registry.list({ limit: 1 })).things).toEqual(things)
  })
})
