import type { Page } from 'playwright-core'
import { expect, it, test } from 'vitest'
import { type Thing, write } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { TestBrowser } from './browser.ts'
import { chartPixels } from './chart-pixels.ts'
import { chartPoints, createNamedThing, expectText, signIn } from './dashboard.ts'
import { watchDrawnTexts } from './drawn-texts.ts'

const server = serverOfTests()
const browser = new TestBrowser()

/**
 * @param apart milliseconds between the values, of which the first is the newest
 * @param age milliseconds since the newest value
 */
async function createThing(values: readonly unknown[], apart = 60_000, age = 0): Promise<Thing> {
  const thing = await createNamedThing(server(), 'charted')
  const newest = Date.now() - age
  const records = values.map((value, at) => ({
    key: 'level',
    value,
    datetime: new Date(newest - at * apart).toISOString(),
  }))
  await write(server(), thing, { values: records })
  return thing
}

test.each([1, 2, 3])('the labels of a chart are 11 CSS pixels high at %i pixels for each', async factor => {
  const thing = await createThing([20, 30, 10])
  const page = await browser.open(server().url, { deviceScaleFactor: factor })
  const texts = await watchDrawnTexts(page)
  await signIn(page, thing.thingToken)
  await expect.poll(() => chartPoints(page, 'level')).toBe(3)
  await expect.poll(async () => (await texts()).map(({ text }) => text)).toContain('20')
  expect(new Set((await texts()).map(({ pixels }) => pixels))).toEqual(new Set([11 * factor]))
})

it.each([20, 300, 308, -30])('a chart of values of 1e%i has labels with that exponent', async exponent => {
  const ten = Number(`1e${exponent}`)
  const thing = await createThing([1, 1.4, 0.6].map(factor => factor * ten))
  const page = await browser.open(server().url)
  const texts = await watchDrawnTexts(page)
  await signIn(page, thing.thingToken)
  const label = `1e${exponent > 0 ? '+' : ''}${exponent}`
  await expect.poll(async () => (await texts()).map(({ text }) => text)).toContain(label)
})

it('a counter is drawn as how much it has grown, with the sum in words, and as its values on request', async () => {
  const thing = await createThing([7.3, 6.8, 6.4, 6.1], 600_000)
  await write(server(), thing, {
    values: [{ key: '$meta', value: { level: { unit: 'kWh', total: true } } }],
  })
  const page = await browser.open(`${server().url}/#/things/${thing.thingId}?resource=level&seconds=7200`)
  await signIn(page, thing.thingToken)
  const plot = page.getByRole('img', { name: 'Chart of level' })
  await expect.poll(() => plot.getAttribute('aria-label')).toMatch(/4 points, growth in 5 min each/)
  await expectText(page.locator('.readout'), '1.2 kWh in all. Bars: growth in 5 min.')
  await page.getByRole('button', { name: 'Show as table' }).click()
  await expectText(
    page.getByRole('table', { name: 'All points, each for 5 min, in kWh' }),
    /0\.5.*0\.4.*0\.3.*0/s,
  )
  await page.getByRole('button', { name: 'Counter', exact: true }).click()
  await expect.poll(() => plot.getAttribute('aria-label')).toMatch(/lowest 6\.1 kWh, highest 7\.3 kWh/)
})

/** How much of the chart is the line, and how much of that is in its middle fifth; and the share of the band. */
async function drawn(page: Page) {
  const { width, height, opacities } = (await chartPixels(page)) ?? { width: 0, height: 0, opacities: [] }
  const between = (least: number, most: number) =>
    [...opacities.keys()].filter(at => (opacities[at] ?? 0) >= least && (opacities[at] ?? 0) <= most)
  const line = between(200, 255)
  const heights = line.map(at => Math.floor(at / width) / height)
  // 15 % of 255, rounded by the canvas.
  const range = between(34, 42).length / opacities.length
  const middle = heights.filter(at => Math.abs(at - 0.5) < 0.1).length / heights.length
  return { range, pixelsOfLine: line.length, middle }
}

it('a noisy signal is a line through the averages, and a faint band from lowest to highest', async () => {
  const thing = await createThing(
    Array.from({ length: 6_000 }, (_, at) => (at % 2) * 100),
    600,
  )
  const page = await browser.open(`${server().url}/#/things/${thing.thingId}?resource=level&seconds=3600`)
  await signIn(page, thing.thingToken)
  await page.getByText('Line: average of 5 s. Band: lowest to highest.').waitFor()
  const { range, pixelsOfLine, middle } = await drawn(page)
  expect(range).toBeGreaterThan(0.5)
  expect(pixelsOfLine).toBeGreaterThan(500)
  // But for the first and the last point, of which a part is in the range.
  expect(middle).toBeGreaterThan(0.9)
})

it('a few readings are dots, one alone as well', async () => {
  const pixels = async (values: readonly number[], apart: number) => {
    // Not at the right edge, which would cut the newest dot in half.
    const thing = await createThing(values, apart, 60_000)
    const page = await browser.open(`${server().url}/#/things/${thing.thingId}?resource=level&seconds=3600`)
    await signIn(page, thing.thingToken)
    await expect.poll(() => chartPoints(page, 'level')).toBe(values.length)
    return (await drawn(page)).pixelsOfLine
  }
  const one = await pixels([20], 0)
  expect(one).toBeGreaterThan(5)
  const line = await pixels(
    Array.from({ length: 181 }, () => 20),
    15_000,
  )
  expect(
    await pixels(
      Array.from({ length: 46 }, () => 20),
      60_000,
    ),
  ).toBeGreaterThan(line + 45 * 4)
})

it.each([
  [900_000, '15 min'],
  [2_000, '2 s'],
  [86_400_000, '1 d'],
])('names an interval of %i ms as %s, in the table, too', async (length, name) => {
  const records = 500
  const thing = await createThing(
    Array.from({ length: records }, (_, at) => at),
    length,
  )
  const seconds = (records * length) / 1000
  const page = await browser.open(
    `${server().url}/#/things/${thing.thingId}?resource=level&seconds=${seconds}`,
  )
  await signIn(page, thing.thingToken)
  await page.getByText(`Line: average of ${name}.`).waitFor()
  await page.getByRole('button', { name: 'Show as table' }).click()
  await page.getByText(`points, each for ${name}`).waitFor()
})

it('a chart of numbers among other values draws the numbers', async () => {
  const thing = await createThing([20, 'unavailable', 30, { a: 1 }, true, 10])
  const page = await browser.open(`${server().url}/#/things/${thing.thingId}?resource=level&seconds=3600`)
  await signIn(page, thing.thingToken)
  await expect.poll(() => chartPoints(page, 'level')).toBe(3)
})

it('an empty chart keeps its first time label inside', async () => {
  const thing = await createNamedThing(server(), 'old')
  const datetime = new Date(Date.now() - 2 * 86_400_000).toISOString()
  await write(server(), thing, { values: [{ key: 'level', value: 1, datetime }] })
  const page = await browser.open(server().url)
  await signIn(page, thing.thingToken)
  await page.getByText('No numbers in this range of time.').waitFor()
  const [canvas, over] = await Promise.all(
    ['canvas', '.u-over'].map(part => page.locator(`.chart-plot ${part}`).boundingBox()),
  )
  expect((over?.x ?? 0) - (canvas?.x ?? 0)).toBeGreaterThanOrEqual(32)
})

it('All shows a reading that is ahead of the clock', async () => {
  const thing = await createThing([3, 2, 1])
  const datetime = new Date(Date.now() + 3 * 3_600_000).toISOString()
  await write(server(), thing, { values: [{ key: 'level', value: 4, datetime }] })
  const page = await browser.open(server().url)
  await signIn(page, thing.thingToken)
  await page.getByRole('button', { name: 'All', exact: true }).click()
  await expect.poll(() => chartPoints(page, 'level')).toBe(4)
  const end = new URLSearchParams(page.url().split('?')[1]).get('to') ?? ''
  expect(Date.parse(end)).toBeGreaterThan(Date.parse(datetime))
})
