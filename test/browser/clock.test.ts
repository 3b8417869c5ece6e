import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { ask, type Thing, write } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { TestBrowser } from './browser.ts'
import { chartPixels } from './chart-pixels.ts'
import { createNamedThing, expectText, signIn } from './dashboard.ts'

const server = serverOfTests()
const browser = new TestBrowser()

/** How many pixels of the chart are its line. */
async function drawn(page: Page): Promise<number> {
  return (await chartPixels(page))?.opacities.filter(opacity => opacity > 200).length ?? 0
}

async function writeNow(thing: Thing, value: number): Promise<void> {
  expect((await write(server(), thing, { values: [{ key: 'level', value }] })).status).toBe(201)
}

function age(page: Page) {
  return page.getByRole('region', { name: 'Readings', exact: true }).locator('time')
}

describe.each([
  ['right', 0],
  ['an hour behind', -3_600_000],
  ['30 s behind', -30_000],
  ['3 s behind', -3_000],
  ['3 s ahead', 3_000],
  ['20 min ahead', 1_200_000],
  ['a year ahead', 365 * 86_400_000],
])('with a browser whose clock is %s', (_, clockAhead) => {
  it('the chart shows the first reading of a new thing at once, and says that it is new', async () => {
    const thing = await createNamedThing(server(), 'new')
    const page = await browser.open(server().url, { clockAhead })
    await signIn(page, thing.thingToken)
    await page.getByText('Nothing has arrived yet.').waitFor()
    await writeNow(thing, 1)
    await expect.poll(() => drawn(page)).toBeGreaterThan(3)
    await expectText(age(page), /^(now|\d{1,2} s ago)$/)
    await page.close()
    await ask(server(), 'DELETE', `/v2/admin/things/${thing.thingId}`)
  })

  it('the list has a thing that was just heard of among none that are silent', async () => {
    const thing = await createNamedThing(server(), 'heard')
    await writeNow(thing, 1)
    const page = await browser.open(server().url, { clockAhead })
    await signIn(page, server().adminKey)
    await page.getByText('1 thing.', { exact: true }).waitFor()
    await expectText(page.locator('.things-table time'), /^(now|\d{1,2} s ago)$/)
    await page.getByLabel('Which things').selectOption('Silent for 10 min')
    await page.getByText('0 of 1 thing.').waitFor()
    await page.close()
    await ask(server(), 'DELETE', `/v2/admin/things/${thing.thingId}`)
  })
})

it.each([-3_600_000, 3_600_000])(
  'a browser whose clock is set by %i ms while the page is open goes on by the clock of the server',
  async by => {
    const thing = await createNamedThing(server(), 'set')
    await writeNow(thing, 1)
    const page = await browser.open(server().url, { clockAhead: 0 })
    await signIn(page, thing.thingToken)
    await expectText(age(page), /^(now|\d{1,2} s ago)$/)
    const asked = page.waitForResponse(/healthz/)
    await page.evaluate(next => (window as unknown as { setClock(next: number): void }).setClock(next), by)
    await asked
    await writeNow(thing, 2)
    await expectText(
      page.getByRole('region', { name: 'level', exact: true }).getByRole('status').first(),
      '2',
    )
    await expectText(age(page), /^(now|\d{1,2} s ago)$/)
  },
)
