import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { ask, type Thing, write } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { desktop, phone, TestBrowser } from './browser.ts'
import { createNamedThing, signIn } from './dashboard.ts'
import { watchDrawnTexts } from './drawn-texts.ts'
import { painted, paintedRows } from './map-pixels.ts'

const server = serverOfTests()
const browser = new TestBrowser()

type Place = readonly [long: number, lat: number]

async function createAt(name: string, ...places: readonly Place[]): Promise<Thing> {
  const thing = await createNamedThing(server(), name)
  const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
  const values = places.map((value, index) => ({ key: '$geo', value, datetime: at(places.length - index) }))
  expect((await write(server(), thing, { values })).status).toBe(201)
  return thing
}

/** Pixels of a marker with a radius of 7, of which the rim is of another colour. */
const wholeMarker = 80
/** Pixels of the same in its own colour alone, from top to bottom. */
const wholeHeight = 10

async function openThing(thing: Thing): Promise<Page> {
  const page = await browser.open(server().url)
  await signIn(page, thing.thingToken)
  await expect.poll(() => painted(page, 'marker')).toBeGreaterThan(wholeMarker)
  return page
}

it('the map of the things is close to those on both sides of 180 degrees', async () => {
  const things = [await createAt('Fiji', [179.5, -17]), await createAt('beyond', [-179.5, -17.2])]
  const page = await browser.open(server().url)
  await signIn(page, server().adminKey)
  await page.getByText('The map shows the 2 things in the list.').waitFor()
  await expect.poll(() => painted(page, 'marker')).toBeGreaterThan(2 * wholeMarker)
  expect(await scaleOf(page)).toBeLessThan(100_000)
  for (const { thingId } of things) await ask(server(), 'DELETE', `/v2/admin/things/${thingId}`)
})

it.each([
  ['a desktop', desktop],
  ['a phone', phone],
])(
  'the map of the things on %s has a whole marker for each, from 180 degrees to the pole',
  async (_, viewport) => {
    const things = [
      await createAt('east of Fiji', [179.9, -17]),
      await createAt('west of Fiji', [-179.9, -17.1]),
      await createAt('date line from the west', [180, 0]),
      await createAt('date line from the east', [-180, 0]),
      await createAt('Finland', [24, 60]),
      await createAt('pole', [0, 90]),
    ]
    const page = await browser.open(server().url, { viewport })
    await signIn(page, server().adminKey)
    await page.getByText('The map shows the 6 things in the list.').waitFor()
    // The pole, Finland, the equator and Fiji, whose two things are at one place as far as this map goes.
    const whole = expect.toSatisfy((height: number) => height >= wholeHeight)
    await expect.poll(() => markerHeights(page)).toEqual([whole, whole, whole, whole])
    for (const { thingId } of things) await ask(server(), 'DELETE', `/v2/admin/things/${thingId}`)
  },
)

describe('the map of a thing', () => {
  it.each<[string, Place[]]>([
    [
      'eastward',
      [
        [179.5, -17],
        [-179.5, -17.2],
      ],
    ],
    [
      'westward',
      [
        [-179.5, -17],
        [179.5, -17.2],
      ],
    ],
    [
      'there and back',
      [
        [179.5, -17],
        [-179.5, -17.2],
        [179.6, -17.1],
      ],
    ],
    [
      'and ends on it',
      [
        [179.5, -17],
        [180, -17.2],
      ],
    ],
    [
      'and ends on it, from the other side',
      [
        [-179.5, -17],
        [180, -17.2],
      ],
    ],
    [
      'elsewhere than over it',
      [
        [23.5, 60],
        [24.5, 60.1],
      ],
    ],
  ])('is close to a track over 180 degrees: %s', async (_, places) => {
    const page = await openThing(await createAt('crossing', ...places))
    await expect.poll(() => painted(page, 'track')).toBeGreaterThan(100)
    expect(await scaleOf(page)).toBeLessThan(100_000)
  })

  it.each<[string, Place[]]>([
    ['on land', [[37.6, 55.7]]],
    ['at sea', [[-40, 35]]],
    ['at a pole', [[0, 90]]],
    [
      'of a thing that does not move',
      [
        [37.6, 55.7],
        [37.60001, 55.70001],
        [37.6, 55.7],
      ],
    ],
  ])('has degrees around a lone position %s, and is no closer than a coast is right', async (_, places) => {
    const thing = await createAt('lone', ...places)
    const page = await browser.open(server().url)
    const texts = await watchDrawnTexts(page)
    await signIn(page, thing.thingToken)
    await expect.poll(() => painted(page, 'marker')).toBeGreaterThan(wholeMarker)
    await expect.poll(async () => (await texts()).some(({ text }) => /\d°/.test(text))).toBe(true)
    expect(await scaleOf(page)).toBeGreaterThanOrEqual(1_000)
  })
})

/** The heights in pixels of the markers on the map, from the north; those at one latitude are one. */
async function markerHeights(page: Page): Promise<number[]> {
  const rows = await paintedRows(page, 'marker')
  const runs = rows.map(count => (count > 0 ? 'x' : ' ')).join('')
  return runs.split(/ +/).flatMap(run => (run === '' ? [] : [run.length]))
}

/** Metres that the scale of the map stands for. */
async function scaleOf(page: Page): Promise<number> {
  const text = (await page.locator('.ol-scale-line-inner').textContent()) ?? ''
  const [, count, unit] = /^(\d+) (k?m)$/.exec(text) ?? []
  return Number(count) * (unit === 'km' ? 1000 : 1)
}
