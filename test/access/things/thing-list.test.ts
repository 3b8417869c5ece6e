import { describe, expect, it } from 'vitest'
import type { ThingQuery, ThingRegistry } from '../../../src/access/index.ts'
import { append, openAccess, place } from '../open-access.ts'

async function readAll(registry: ThingRegistry, query: ThingQuery) {
  const pages = []
  let cursor: string | undefined
  do {
    const page = await registry.list(cursor === undefined ? query : { ...query, cursor })
    pages.push(page.things)
    cursor = page.next
  } while (cursor !== undefined)
  return pages
}

describe('ThingRegistry.list()', () => {
  it('gives thousands of things once each, by id, in full pages', async () => {
    const { registry } = await openAccess()
    const created = await Promise.all(Array.from({ length: 2_300 }, () => registry.create({})))
    const ids = created.map(thing => thing.thingId).sort()
    const pages = await readAll(registry, { limit: 500 })
    expect(pages.map(page => page.length)).toEqual([500, 500, 500, 500, 300])
    expect(pages.flat().map(thing => thing.thingId)).toEqual(ids)
  })

  it('ends without a cursor on the last full page', async () => {
    const { registry } = await openAccess()
    for (let count = 0; count < 4; count++) await registry.create({})
    expect((await readAll(registry, { limit: 2 })).map(page => page.length)).toEqual([2, 2])
    expect(await readAll(registry, { limit: 2, name: '' })).toHaveLength(2)
  })

  it('goes on after a thing that was removed between two pages', async () => {
    const { registry } = await openAccess()
    const created = await Promise.all(Array.from({ length: 4 }, () => registry.create({})))
    const ids = created.map(thing => thing.thingId).sort()
    const first = await registry.list({ limit: 2 })
    await registry.remove(first.next ?? '')
    const second = await registry.list({ limit: 2, cursor: first.next ?? '' })
    expect(second.things.map(thing => thing.thingId)).toEqual(ids.slice(2))
  })

  it('finds by part of a name without regard to case, on however many pages', async () => {
    const { registry } = await openAccess()
    await Promise.all(
      Array.from({ length: 2_500 }, (_, number) => registry.create({ name: `Buoy ${number}` })),
    )
    const pages = await readAll(registry, { limit: 10, name: 'BUOY 24' })
    const names = pages.flat().map(thing => thing.name)
    const hundreds = Array.from({ length: 100 }, (_, number) => `Buoy ${2_400 + number}`)
    const tens = Array.from({ length: 10 }, (_, number) => `Buoy ${240 + number}`)
    expect(names.toSorted()).toEqual(['Buoy 24', ...tens, ...hundreds].sort())
    expect(Math.max(...pages.map(page => page.length))).toBe(10)
  })

  it('gives the position as it is, not the newest of the track', async () => {
    const { registry, store } = await openAccess()
    const { thingId } = await registry.create({})
    await append(store, thingId, '$geo', '{"type":"Point","coordinates":[0,0]}', 4_000)
    expect((await registry.list({ limit: 1 })).things[0]).not.toHaveProperty('position')
    await place(store, thingId, 2.22, 41.41)
    const { things } = await registry.list({ limit: 1 })
    expect(things).toMatchObject([{ thingId, position: { lat: 41.41, long: 2.22 } }])
  })

  it('finds by a box, edges included, also across the 180th meridian', async () => {
    const { registry, store } = await openAccess()
    const places = { fiji: [178, -18], tonga: [-175, -21], paris: [2.35, 48.85], edge: [10, 50] } as const
    for (const [name, [long, lat]] of Object.entries(places)) {
      const { thingId } = await registry.create({ name })
      await place(store, thingId, long, lat)
    }
    await registry.create({ name: 'nowhere' })
    const find = async (west: number, south: number, east: number, north: number) => {
      const { things } = await registry.list({ limit: 10, bbox: { west, south, east, north } })
      return things.map(thing => thing.name).sort()
    }
    expect(await find(-180, -90, 180, 90)).toEqual(['edge', 'fiji', 'paris', 'tonga'])
    expect(await find(0, 40, 10, 50)).toEqual(['edge', 'paris'])
    expect(await find(170, -30, -170, 0)).toEqual(['fiji', 'tonga'])
    expect(await find(-170, -30, 170, 0)).toEqual([])
    const both = await registry.list({
      limit: 10,
      name: 'p',
      bbox: { west: 0, south: 40, east: 10, north: 50 },
    })
    expect(both.things.map(thing => thing.name)).toEqual(['paris'])
  })

  it('gives the things of a box once each over small pages', async () => {
    const { registry, store } = await openAccess()
    for (let number = 0; number < 130; number++) {
      const { thingId } = await registry.create({ name: `${number}` })
      await place(store, thingId, number % 2 === 0 ? 5 : 50, 5)
    }
    const pages = await readAll(registry, { limit: 7, bbox: { west: 0, south: 0, east: 10, north: 10 } })
    const names = pages.flat().map(thing => Number(thing.name))
    expect(names.sort((a, b) => a - b)).toEqual(Array.from({ length: 65 }, (_, number) => number * 2))
  })

  it('refuses a cursor that it did not give', async () => {
    const { registry } = await openAccess()
    for (const cursor of ['', 'x', '../tokens/']) {
      await expect(registry.list({ limit: 1, cursor })).rejects.toMatchObject({ reason: 'invalid_cursor' })
    }
  })

  it('gives the things among those that are asked for, by id, on however many pages', async () => {
    const { registry } = await openAccess()
    const created = await Promise.all(
      Array.from({ length: 130 }, (_, number) => registry.create({ name: `Buoy ${number}` })),
    )
    const ids = created.map(thing => thing.thingId).sort()
    const asked = ids.filter((_, place) => place % 2 === 0)
    const [removed = ''] = asked
    await registry.remove(removed)
    const among = new Set([...asked.toReversed(), 'aaaaaaaaaaaaaaaa'])
    const listed = async (query: Partial<ThingQuery>) => {
      const pages = await readAll(registry, { limit: 10, among, ...query })
      expect(Math.max(...pages.map(page => page.length))).toBeLessThanOrEqual(10)
      return pages.flat().map(thing => thing.thingId)
    }
    expect(await listed({})).toEqual(asked.slice(1))
    const { name = '' } = (await registry.list({ limit: 1, among: new Set(ids.slice(2, 3)) })).things[0] ?? {}
    expect(await listed({ name })).toContain(ids[2])
    expect(await listed({ name: 'barge' })).toEqual([])
    expect(await listed({ among: new Set([removed]) })).toEqual([])
    expect(await listed({ among: new Set() })).toEqual([])
  })
})

describe('ThingRegistry.named()', () => {
  it('finds the things of exactly one name among thousands that contain it', async () => {
    const { registry } = await openAccess()
    const names = Array.from({ length: 1_100 }, (_, n) => `pump ${n}`)
    await Promise.all([...names, 'pump', 'Pump', 'pump', ''].map(name => registry.create({ name })))
    expect((await registry.named('pump')).map(({ name }) => name)).toEqual(['pump', 'pump'])
    expect(await registry.named('pum')).toEqual([])
  })
})
