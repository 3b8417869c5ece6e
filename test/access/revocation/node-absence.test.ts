import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Revocation } from '../../../src/access/access.ts'
import { createMemoryStore } from '../../../src/store/memory/index.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { openNodeOfMany } from '../node-of-many.ts'

/** For how long the process stood still, so that the clock went on and no timer ran, milliseconds. */
let stoodStill = 0

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  stoodStill = 0
  const running = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => running() + stoodStill)
})
afterEach(() => void vi.restoreAllMocks().useRealTimers())

const all = { hashes: new Set(), principals: new Set(), all: true }

describe('a node that is cut off from the others', () => {
  it.each(['dead', 'unknown'] as const)(
    'tells within 30 s that any credential may be dead, once (%s)',
    async health => {
      const node = await openNodeOfMany(await openStore(createMemoryStore()))
      const told: Revocation[] = []
      node.access.onRevoke(revocation => told.push(revocation))
      await vi.advanceTimersByTimeAsync(600_000)
      expect(told).toEqual([])
      node.health = health
      await vi.advanceTimersByTimeAsync(15_000)
      expect(told).toEqual([])
      await vi.advanceTimersByTimeAsync(15_000)
      expect(told).toEqual([all])
      await vi.advanceTimersByTimeAsync(600_000)
      expect(told).toEqual([all])
      node.health = 'alive'
      await vi.advanceTimersByTimeAsync(5_000)
      node.health = health
      await vi.advanceTimersByTimeAsync(30_000)
      expect(told).toEqual([all, all])
    },
  )

  it('tells nothing after it stood still for longer, if it is among them again by its second look', async () => {
    const node = await openNodeOfMany(await openStore(createMemoryStore()))
    const told: Revocation[] = []
    node.access.onRevoke(revocation => told.push(revocation))
    await vi.advanceTimersByTimeAsync(10_000)
    stoodStill += 35_000
    node.health = 'dead'
    await vi.advanceTimersByTimeAsync(2_500)
    node.health = 'alive'
    await vi.advanceTimersByTimeAsync(60_000)
    expect(told).toEqual([])
    stoodStill += 35_000
    node.health = 'dead'
    await vi.advanceTimersByTimeAsync(5_000)
    expect(told).toEqual([all])
  })

  it.each([
    ['is cut off', 0, 30_000],
    ['stood still', 35_000, 2_500],
  ])('asks the store again for what it had in memory when it %s', async (_, still, looks) => {
    const store = await openStore(createMemoryStore())
    const node = await openNodeOfMany(store)
    const { thingToken } = await node.registry.create({})
    await node.access.thingOfToken(thingToken)
    await store.close()
    await node.access.thingOfToken(thingToken)
    stoodStill += still
    node.health = still > 0 ? 'dead' : 'unknown'
    await vi.advanceTimersByTimeAsync(looks)
    const refused = node.access.thingOfToken(thingToken)
    await expect(refused).rejects.toMatchObject({ reason: 'store_unavailable' })
  })
})
