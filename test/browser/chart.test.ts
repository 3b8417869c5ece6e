import { expect, it, test } from 'vitest'
import { type Thing, write } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { TestBrowser } from './browser.ts'
import { chartPoints, createNamedThing, signIn } from './dashboard.ts'
import { watchDrawnTexts } from './drawn-texts.ts'

const server = serverOfTests()
const browser = new TestBrowser()

async function createThing(values: readonly number[]): Promise<Thing> {
  const thing = await createNamedThing(server(), 'charted')
  const now = Date.now()
  const records = values.map((value, minutes) => ({
    key: 'level',
    value,
    datetime: new Date(now - minutes * 60_000).toISOString(),
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
