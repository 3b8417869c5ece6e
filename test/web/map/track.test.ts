import { describe, expect, it } from 'vitest'
import { nextOf } from '../../../web/src/api/link.ts'
import type { Fix } from '../../../web/src/thing/fix.ts'
import { grown, type Pages, readTrack } from '../../../web/src/thing/track.ts'
import { serve } from '../../clients/serve.ts'
import { createThing, type Thing, write } from '../../helpers/http-client.ts'

const server = serve()
const all = { label: 'All' }
const signal = new AbortController().signal
/** Milliseconds between the fixes. */
const step = 10_000

describe('readTrack()', () => {
  it('gives every fix of a track of one page, oldest first', async () => {
    const thing = await createThing(server())
    const fixes = await sail(thing, 300)
    expect(await readTrack(apiOf(thing), thing.thingId, all, signal)).toEqual({ fixes })
  })

  it('gives the newest 1,000 fixes whole and the older ones thinned to 1,000 at most', async () => {
    const thing = await createThing(server())
    const fixes = await sail(thing, 5_000)
    const track = await readTrack(apiOf(thing), thing.thingId, all, signal)
    const older = track.fixes.slice(0, -1000)
    expect(track.fixes.slice(-1000)).toEqual(fixes.slice(-1000))
    expect(track.every).toBe(41_000)
    expect(older.length).toBeGreaterThan(970)
    expect(older.length).toBeLessThanOrEqual(1000)
    expect(older.map(fix => fix.datetime)).toEqual(older.map(fix => fix.datetime).toSorted((a, b) => a - b))
    expect(older[0]?.lat).toBeCloseTo(fixes[0]?.lat ?? Number.NaN, 2)
  })

  it('leaves out what is before the range', async () => {
    const thing = await createThing(server())
    await write(server(), thing, { values: [{ key: '$geo', value: [1, 1], datetime: '20200101000000' }] })
    const fixes = await sail(thing, 10)
    const range = { label: 'Last day', length: 86_400_000 }
    expect((await readTrack(apiOf(thing), thing.thingId, range, signal)).fixes).toEqual(fixes)
  })
})

describe('grown()', () => {
  it('adds a newer fix at the end', () => {
    expect(grown({ fixes: [fixAt(0)] }, fixAt(1)).fixes).toEqual([fixAt(0), fixAt(1)])
  })

  it('leaves out a fix that is there already, such as the retained one', () => {
    expect(grown({ fixes: [fixAt(0), fixAt(1)] }, fixAt(1)).fixes).toEqual([fixAt(0), fixAt(1)])
  })

  it('stays bounded, with its first and its last fix', () => {
    let track = { fixes: [fixAt(0)] as readonly Fix[] }
    for (let at = 1; at < 10_000; at++) track = grown(track, fixAt(at))
    expect(track.fixes.length).toBeLessThanOrEqual(4_000)
    expect(track.fixes[0]).toEqual(fixAt(0))
    expect(track.fixes.at(-1)).toEqual(fixAt(9_999))
  })
})

function fixAt(at: number): Fix {
  return { lat: 0, long: at / 1000, datetime: at }
}

/** Writes fixes that end now, in whole intervals. @returns them, oldest first */
async function sail(thing: Thing, count: number): Promise<Fix[]> {
  const end = Date.now() - (Date.now() % step)
  const fixes = Array.from({ length: count }, (_, at) => {
    return { lat: 60 + at / 10_000, long: 23, datetime: end - (count - 1 - at) * step }
  })
  const values = fixes.map(({ lat, long, datetime }) => {
    return { key: '$geo', value: [long, lat], datetime: new Date(datetime).toISOString() }
  })
  expect((await write(server(), thing, { values })).status).toBe(201)
  return fixes
}

/** The interface as the page has it, from outside of a browser. */
function apiOf({ thingToken }: Thing): Pages {
  return {
    async getPage<T>(path: string) {
      const response = await fetch(server().url + path, {
        headers: { authorization: `Bearer ${thingToken}` },
      })
      if (!response.ok) throw new Error(`nothing was read: ${response.status}`)
      const next = nextOf(response.headers.get('link'))
      return { body: (await response.json()) as T, ...(next === undefined ? {} : { next }) }
    },
  }
}
