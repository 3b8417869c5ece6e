import { describe, expect, it } from 'vitest'
import { nextOf } from '../../../../web/src/api/link.ts'
import type { Fix } from '../../../../web/src/thing/position/fix.ts'
import {
  grown,
  type Pages,
  readTrack,
  stretchesOf,
  type Track,
} from '../../../../web/src/thing/position/track.ts'
import { createThing, type Thing, write } from '../../../helpers/http-client.ts'
import { serverOfTests } from '../../../helpers/of-test.ts'

const server = serverOfTests()
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

describe('stretchesOf()', () => {
  const minutes = 60_000
  const lengthsOf = (track: Track) => stretchesOf(track).map(({ length }) => length)
  const at = (...times: number[]) => times.map(time => fixAt(time * minutes))

  it.each([
    ['none', at(), []],
    ['one position', at(5), [1]],
    ['two positions, however far apart', at(0, 1_200), [2]],
    ['an even track', at(0, 1, 2, 3, 4), [5]],
    ['steps of up to five times the usual one', at(0, 1, 2, 7, 8), [5]],
    ['20 hours between two days', at(0, 1, 2, 3, 1_203, 1_204, 1_205), [4, 3]],
    ['a lone position between two gaps', at(0, 1, 2, 3, 100, 200, 201, 202, 203), [4, 1, 4]],
    ['a lone position at the end', at(0, 1, 2, 60), [3, 1]],
    ['a lone position at the beginning', at(0, 60, 61, 62, 63), [1, 4]],
    ['several gaps', at(0, 1, 2, 50, 51, 52, 100, 101, 102), [3, 3, 3]],
    ['slow positions, hours apart', at(0, 60, 120, 180, 600), [4, 1]],
  ])('parts %s', (_what, fixes, lengths) => {
    expect(lengthsOf({ fixes })).toEqual(lengths)
  })

  it('loses no position, and keeps their order', () => {
    const fixes = at(0, 1, 2, 50, 200, 201, 900)
    expect(stretchesOf({ fixes }).flat()).toEqual(fixes)
  })

  it('judges the thinned part by its intervals, and the rest by its own steps', () => {
    const thinnedPart = at(0, 60, 120, 480)
    const whole = at(540, 541, 542, 560, 561, 562)
    const track = { fixes: [...thinnedPart, ...whole], every: 60 * minutes, wholeFrom: 540 * minutes }
    expect(lengthsOf(track)).toEqual([3, 4, 3])
  })

  it('leaves the gap open between the two parts of a track', () => {
    const track = { fixes: at(0, 1, 2, 3, 300, 301, 302), every: minutes, wholeFrom: 300 * minutes }
    expect(lengthsOf(track)).toEqual([4, 3])
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
      const next = nextOf(response.headers.get('link'), response.url)
      return { body: (await response.json()) as T, ...(next === undefined ? {} : { next }) }
    },
  }
}
