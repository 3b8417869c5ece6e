import { expect, it } from 'vitest'
import { write } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { TestBrowser } from './browser.ts'
import { createNamedThing, expectText, signIn } from './dashboard.ts'

const server = serverOfTests()
const browser = new TestBrowser()

type Records = Readonly<Record<string, unknown>>

/** @param writes each of them one write, the last one just now, those before a second apart */
async function open(...writes: readonly Records[]) {
  const thing = await createNamedThing(server(), 'first')
  const send = async (records: Records, ago: number) => {
    const datetime = new Date(Date.now() - 1000 * ago).toISOString()
    const values = Object.entries(records).map(([key, value]) => ({ key, value, datetime }))
    expect((await write(server(), thing, { values })).status).toBe(201)
  }
  for (const [at, records] of writes.entries()) await send(records, writes.length - at)
  const page = await browser.open(server().url)
  await signIn(page, thing.thingToken)
  const shown = page.locator('.selected-resource h2')
  const listed = async (key: string) => await page.getByRole('button', { name: key, exact: true }).waitFor()
  return { page, shown, listed, send }
}

it.each<[string, Records[], string]>([
  ['the number written last', [{ speed: 5 }, { course_deg: 224 }, { depth: 10 }], 'depth'],
  ['no angle because of its name', [{ course_deg: 224, speed_kn: 5 }], 'speed_kn'],
  ['a number where texts are newer', [{ depth: 10 }, { state: 'sail' }], 'depth'],
  ['a text where there is no number', [{ state: 'sail' }], 'state'],
])('the first chart is of %s, and stays as keys arrive', async (_, writes, key) => {
  const { shown, listed, send } = await open(...writes)
  await expectText(shown, key)
  for (const [at, name] of ['aaa', 'battery', 'zzz'].entries()) {
    await send({ [name]: at }, 0)
    await listed(name)
    expect(await shown.textContent()).toBe(key)
  }
})

it('the first write of a new thing brings its chart, and the next changes nothing', async () => {
  const { page, shown, listed, send } = await open()
  await page.getByText('Nothing has arrived yet.').waitFor()
  await send({ battery: 3.7, state: 'on', temperature: 21.5 }, 0)
  await listed('temperature')
  expect(await shown.textContent()).toBe('temperature')
  await send({ aaa: 1, battery: 3.6 }, 0)
  await listed('aaa')
  expect(await shown.textContent()).toBe('temperature')
})

it('a thing that writes its position alone is not asked to be connected', async () => {
  const { page, send } = await open({ $geo: [23.54, 60.08] })
  await page.getByText('The thing has written its position alone.').waitFor()
  expect(await page.getByText('Nothing has arrived yet.').count()).toBe(0)
  await send({ depth: 9 }, 0)
  await expectText(page.locator('.selected-resource h2'), 'depth')
})

it('the chart follows the address, also back and forward', async () => {
  const { page, shown, listed } = await open({ speed: 5 }, { course: 224 }, { depth: 10 })
  await expectText(shown, 'depth')
  await listed('speed')
  const thingId = (await page.locator('.thing-head code').textContent()) ?? ''
  const goTo = (query: string) => page.evaluate(hash => location.assign(hash), `#/things/${thingId}${query}`)
  await goTo('?resource=speed')
  await expectText(shown, 'speed')
  await goTo('?resource=course&seconds=60')
  await expectText(shown, 'course')
  await page.goBack()
  await expectText(shown, 'speed')
  expect(new URL(page.url()).hash).toBe(`#/things/${thingId}?resource=speed`)
  await page.goForward()
  await expectText(shown, 'course')
  await goTo('')
  await expectText(shown, 'depth')
})

it('a sensor that writes a text now and then keeps its chart', async () => {
  const { page, send } = await open({ level: 1 }, { level: 2 })
  const plot = await page.locator('.chart-plot canvas').elementHandle()
  await send({ level: 'unavailable' }, 0)
  await expectText(page.locator('.selected-resource .latest'), 'unavailable')
  expect(await plot?.evaluate(canvas => canvas.isConnected)).toBe(true)
})

it.each([
  [-1.7e308, 1.7e308],
  [0, Number.MAX_VALUE],
  [5e-324, 0],
])('the trend of %f and %f is a line', async (one, other) => {
  const { page } = await open({ level: one }, { level: other })
  await expect.poll(() => page.locator('polyline').getAttribute('points')).toMatch(/^[\d. ,]+$/)
})
