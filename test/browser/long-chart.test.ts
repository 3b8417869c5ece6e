import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { type Thing, write } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { noRateLimits } from '../helpers/server-process.ts'
import { TestBrowser } from './browser.ts'
import { chartPixels } from './chart-pixels.ts'
import { chart, chartPoints, createNamedThing, signIn } from './dashboard.ts'

const server = serverOfTests({ environment: noRateLimits })
const browser = new TestBrowser()

/** One record a second, but for a peak of one record. */
const records = 300_000
// Neither the first nor the last of a point.
const peak = 180_123
const begin = Date.UTC(2026, 0, 5)
const recordsPerWrite = 5_000
let thing: Thing

beforeAll(async () => {
  thing = await createNamedThing(server(), 'long')
  for (let from = 0; from < records; from += recordsPerWrite) {
    const values = Array.from({ length: recordsPerWrite }, (_, at) => ({
      key: 'level',
      value: from + at === peak ? 1000 : (from + at) % 10,
      datetime: timeAt(from + at),
    }))
    expect((await write(server(), thing, { values })).status).toBe(201)
  }
})

it('shows the peak of one record among 300,000, also where it is moved and zoomed, and asks for no records', async () => {
  const hash = `#/things/${thing.thingId}?resource=level&seconds=${records}&to=${timeAt(records)}`
  const page = await browser.open(`${server().url}/${hash}`)
  const asked: URLSearchParams[] = []
  page.on('request', request => {
    const { pathname, searchParams } = new URL(request.url())
    if (pathname.endsWith('/resources/level')) asked.push(searchParams)
  })
  const range = () => ['startDate', 'endDate'].map(name => asked.findLast(has('points'))?.get(name))
  await signIn(page, thing.thingToken)

  await expect.poll(() => placeOfPeak(page)).toBeCloseTo(peak / records, 2)
  expect(await chart(page, 'level').getAttribute('aria-label')).toContain('lowest 0, highest 1000')
  expect(range()).toEqual([timeAt(0), timeAt(records)])
  const width = await chart(page, 'level').evaluate(element => element.clientWidth)
  expect(asked.findLast(has('points'))?.get('points')).toBe(String(width))

  await page.getByRole('button', { name: 'Zoom in' }).click()
  await expect.poll(range).toEqual([timeAt(75_000), timeAt(225_000)])
  await expect.poll(() => placeOfPeak(page)).toBeCloseTo(0.7, 2)
  await page.getByRole('button', { name: 'Later' }).click()
  await expect.poll(range).toEqual([timeAt(150_000), timeAt(300_000)])
  await expect.poll(() => placeOfPeak(page)).toBeCloseTo(0.2, 2)

  // To where each record has a point of its own.
  const {
    x,
    y,
    width: plotWidth,
  } = await page.locator('.u-over').evaluate(over => over.getBoundingClientRect())
  await page.mouse.move(x + 0.2 * plotWidth, y + 50)
  await page.keyboard.down('Control')
  for (let turn = 0; turn < 8; turn++) await page.mouse.wheel(0, -100)
  await page.keyboard.up('Control')
  await expect.poll(() => chartPoints(page, 'level')).toBeOneOf([585, 586])
  const [from = 0, to = 0] = range().map(time => Date.parse(time ?? ''))
  expect((to - from) / 1000).toBeCloseTo(150_000 / 2 ** 8, 1)
  // Not quite at 0.2, since the pointer is on whole pixels.
  const place = (Date.parse(timeAt(peak)) - from) / (to - from)
  await expect.poll(() => placeOfPeak(page)).toBeCloseTo(place, 2)

  // Those of the trend beside the latest value are the newest 40 whatever the chart shows.
  expect(new Set(asked.filter(query => !query.has('points')).map(String))).toEqual(new Set(['limit=40']))
})

it('returns to now with a double click, and shows a record as it comes', async () => {
  const hash = `#/things/${thing.thingId}?resource=level&seconds=60&to=${timeAt(records)}`
  const page = await browser.open(`${server().url}/${hash}`)
  await signIn(page, thing.thingToken)
  await expect.poll(() => chartPoints(page, 'level')).toBe(60)
  await chart(page, 'level').dblclick()
  await expect.poll(() => chartPoints(page, 'level')).toBe(0)
  await write(server(), thing, { values: [{ key: 'level', value: 77 }] })
  await expect.poll(() => chart(page, 'level').getAttribute('aria-label')).toContain(': 1 point,')
})

function timeAt(second: number): string {
  return new Date(begin + second * 1000).toISOString()
}

function has(name: string) {
  return (query: URLSearchParams) => query.has(name)
}

/** Where in the width of the chart, 0 to 1, something is drawn in the upper half; NaN if it is nowhere there. */
async function placeOfPeak(page: Page): Promise<number> {
  const { width, height, opacities } = (await chartPixels(page)) ?? { width: 0, height: 0, opacities: [] }
  const upper = opacities.slice(0, width * Math.round(height / 2))
  const places = [...upper.keys()].filter(at => (upper[at] ?? 0) > 64).map(at => at % width)
  return places.reduce((sum, place) => sum + place, 0) / places.length / width
}
