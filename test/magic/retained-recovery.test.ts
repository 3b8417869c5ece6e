import { describe, expect, it } from 'vitest'
import type { Append, Receipt } from '../../src/core/ports.ts'
import { ThingwireError } from '../../src/errors.ts'
import type { MagicResource } from '../../src/magic/magic-resource.ts'
import type { StoreDriver } from '../../src/store/contract.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { type OpenRetained, openRetained } from './open-retained.ts'

const one = 'aaaaaaaaaaaaaaaa'
const two = 'bbbbbbbbbbbbbbbb'
const three = 'cccccccccccccccc'
const set = (name: string, value: unknown) => ({ key: `$settings.${name}`, value })
const settings = (value: unknown) => ({ key: '$settings', value })

/** Counts its records: applied twice or not at all, one is seen. */
const count: MagicResource = {
  key: '$count',
  check: ({ value }) => ({ value }),
  apply: (state, { datetime }) => ({ value: ((state?.value as number | undefined) ?? 0) + 1, datetime }),
}
const counted = { key: '$count', value: 1 }

type Append1 = NonNullable<Parameters<typeof openRetained>[0]>['onAppend']

/** A process that dies at one of its appends: from then on nothing of it reaches the store. */
function dyingAt(isLast: (write: Append) => boolean, when: 'before' | 'behind' = 'before') {
  let isDead = false
  let die = () => {}
  const dead = new Promise<void>(resolve => (die = resolve))
  const onAppend: Append1 = async (write, append) => {
    if (!isDead && !isLast(write)) return await append(write)
    const receipt = isDead || when === 'before' ? undefined : await append(write)
    isDead = true
    die()
    return receipt ?? unavailable()
  }
  return { onAppend, dead }
}

function unavailable(): never {
  throw new ThingwireError('store_unavailable')
}

async function documentsOfMarks({ store }: OpenRetained): Promise<readonly string[]> {
  return (await store.documents.list('magic/', { limit: 1_000 })).map(([name]) => name)
}

const stores: readonly (readonly [string, () => Promise<() => StoreDriver>])[] = [
  [
    'memory',
    async () => {
      const driver = createMemoryStore()
      return () => driver
    },
  ],
  [
    'level',
    async () => {
      const location = await temporaryDirectory()
      return () => createLevelStore({ location, durability: 'written' })
    },
  ],
]

describe.each(stores)('RetainedState on %s', (_name, places) => {
  it('applies at the start what was acknowledged and not applied, before what is newer', async () => {
    const driver = await places()
    const { onAppend, dead } = dyingAt(() => true)
    const before = await openRetained({ driver: driver(), onAppend })
    await before.write(one, set('a', 1), { key: 'ordinary', value: 1 })
    await before.write(two, set('a', 2))
    await before.write(one, set('b', 1))
    await dead
    await before.close()
    const after = await openRetained({ driver: driver() })
    await after.write(one, set('a', 3))
    await after.retained.whenApplied()
    expect(before.told()).toEqual([])
    expect(after.told(one)).toEqual([settings({ a: 1 }), settings({ a: 1, b: 1 }), settings({ a: 3, b: 1 })])
    expect(after.told(two)).toEqual([settings({ a: 2 })])
  })

  it.each(['before', 'behind'] as const)('applies each write once if it dies %s an append', async when => {
    const driver = await places()
    const { onAppend, dead } = dyingAt(({ thingId }) => thingId === two, when)
    const before = await openRetained({ driver: driver(), magicResources: [count], onAppend })
    await Promise.all([one, two, three].map(thingId => before.write(thingId, counted)))
    await before.write(three, counted)
    await dead
    await before.close()
    const after = await openRetained({ driver: driver(), magicResources: [count] })
    await after.write(one, counted)
    await after.write(two, counted)
    await after.retained.whenApplied()
    const told = (thingId: string) =>
      [...before.told(thingId), ...after.told(thingId)].map(({ value }) => value)
    expect([one, two, three].map(told)).toEqual([
      [1, 2],
      [1, 2],
      [1, 2],
    ])
  })

  it.each(['before', 'behind'] as const)(
    'goes on inside a write of many commits if it dies %s one of them',
    async when => {
      const driver = await places()
      let appends = 0
      const { onAppend, dead } = dyingAt(() => ++appends === 3, when)
      const before = await openRetained({ driver: driver(), onAppend })
      await before.write(one, settings({ fill: 'x'.repeat(60_000) }))
      await before.retained.whenApplied()
      await before.write(one, ...Array.from({ length: 50 }, (_, index) => set('n', index)))
      await dead
      await before.close()
      const after = await openRetained({ driver: driver() })
      await after.retained.whenApplied()
      expect(after.told().length).toBeGreaterThan(0)
      const numbers = [...before.told(), ...after.told()].map(({ value }) => (value as { n?: number }).n)
      expect(numbers).toEqual([undefined, ...Array.from({ length: 50 }, (_, index) => index)])
    },
  )

  it('takes what is committed while it starts, once and behind what was there', async () => {
    const driver = await places()
    const { onAppend, dead } = dyingAt(() => true)
    const before = await openRetained({ driver: driver(), magicResources: [count], onAppend })
    await before.write(one, counted)
    await dead
    await before.close()
    const after = await openRetained({
      driver: driver(),
      magicResources: [count],
      duringStart: [counted, set('a', 1)],
    })
    await after.retained.whenApplied()
    expect(after.told()).toEqual([
      { key: '$count', value: 1 },
      { key: '$count', value: 2 },
      settings({ a: 1 }),
    ])
  })

  it('does not go back over what it has applied, with nothing to read again', async () => {
    const driver = await places()
    const before = await openRetained({ driver: driver(), magicResources: [count] })
    for (let index = 0; index < 5; index++) await before.write(one, counted)
    await before.retained.whenApplied()
    await before.close()
    const after = await openRetained({ driver: driver(), magicResources: [count] })
    await after.retained.whenApplied()
    expect(after.told()).toEqual([])
    expect((await after.store.records.state(one, '$count'))?.value).toBe('5')
  })

  it('keeps no mark of a thing for long', async () => {
    const driver = await places()
    const opened = await openRetained({ driver: driver(), magicResources: [count] })
    for (let index = 0; index < 200; index++) {
      await opened.write(`${index}`.padStart(16, 'a'), counted)
      await opened.retained.whenApplied()
    }
    expect((await documentsOfMarks(opened)).length).toBeLessThan(5)
  })
})

describe('RetainedState when the store fails', () => {
  it('tries again until the store is back, in order, and lets other things go on', async () => {
    let isBack = false
    let failures = 0
    let fail = () => {}
    const failed = new Promise<void>(resolve => (fail = resolve))
    const { retained, write, told } = await openRetained({
      magicResources: [count],
      onAppend: async (write, append) => {
        if (isBack || write.thingId !== one) return await append(write)
        if (++failures === 3) fail()
        return unavailable()
      },
    })
    await write(one, counted)
    await write(two, counted)
    await write(one, counted, counted)
    await failed
    expect(told().map(({ value }) => value)).toEqual([1])
    isBack = true
    await retained.whenApplied()
    expect(told(one).map(({ value }) => value)).toEqual([1, 2, 3])
  })

  it('applies and announces once what the store has committed though it was too late', async () => {
    const { retained, write, told, store } = await openRetained({ magicResources: [count], onAppend: late })
    await write(one, counted)
    await write(one, counted)
    await retained.whenApplied()
    await write(one, counted)
    await retained.whenApplied()
    expect(told().map(({ value }) => value)).toEqual([1, 2, 3])
    expect((await store.records.state(one, '$count'))?.value).toBe('3')
  })

  it('announces once what is not to be kept, and was committed though it was too late', async () => {
    const { retained, writeWith, told, store } = await openRetained({
      magicResources: [count],
      onAppend: late,
    })
    await writeWith(one, { store: false }, counted)
    await retained.whenApplied()
    await writeWith(one, { store: false }, counted)
    await retained.whenApplied()
    expect(told().map(({ value }) => value)).toEqual([1, 1])
    expect(await store.records.state(one, '$count')).toBeUndefined()
  })

  it('announces once a removal that the store has committed though it was too late', async () => {
    const { retained, write, told } = await openRetained({ onAppend: late })
    await write(one, settings({ a: 1, b: 2 }))
    await retained.whenApplied()
    await retained.remove(one, '$settings.a')
    await retained.remove(one, '$settings')
    expect(told()).toEqual([settings({ a: 1, b: 2 }), settings({ b: 2 }), settings(undefined)])
  })

  it('comes to the same as without faults, whatever fails and wherever it is killed', async () => {
    for (let round = 0; round < 200; round++) await runWithFaults(round)
  })
})

/** Committed, but not waited for any more: its sender does not know. */
async function late(write: Append, append: (write: Append) => Promise<Receipt>): Promise<never> {
  await append(write)
  throw new ThingwireError('store_timeout')
}

async function runWithFaults(seed: number): Promise<void> {
  const random = createRandom(seed)
  const driver = createMemoryStore()
  const things = [one, two, three]
  const told = new Map<string, unknown[]>(things.map(thingId => [thingId, []]))
  const written = new Map<string, number>()
  for (let life = 0; life < 4; life++) {
    let appends = 0
    const death = dyingAt(() => ++appends > 3 + random(6), random(2) === 0 ? 'before' : 'behind')
    const isLastLife = life === 3
    const opened = await openRetained({
      driver,
      magicResources: [count],
      onAppend: async (write, append) => {
        if (random(4) === 0) return unavailable()
        return isLastLife ? await append(write) : await (death.onAppend?.(write, append) ?? append(write))
      },
    })
    const writes = Array.from({ length: 12 }, () => {
      const thingId = things[random(3)] ?? one
      const records = 1 + random(2)
      written.set(thingId, (written.get(thingId) ?? 0) + records)
      return opened.write(thingId, ...Array.from({ length: records }, () => counted))
    })
    await Promise.all(writes)
    await Promise.race([opened.retained.whenApplied(), death.dead])
    await opened.close()
    for (const thingId of things) told.get(thingId)?.push(...opened.told(thingId).map(({ value }) => value))
  }
  for (const thingId of things) {
    const all = Array.from({ length: written.get(thingId) ?? 0 }, (_, index) => index + 1)
    expect(told.get(thingId), `seed ${seed}`).toEqual(all)
  }
}

function createRandom(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1
  return below => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) >>> 0
    return (state >>> 8) % below
  }
}
