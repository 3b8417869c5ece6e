import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { ask, type Thing, write } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { otherClock } from '../helpers/other-clock.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { TestBrowser } from './browser.ts'
import { chartPixels } from './chart-pixels.ts'
import { createNamedThing, expectText, signIn } from './dashboard.ts'

const server = serverOfTests()

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
  ['an hour behind', '-3600'],
  ['30 s behind', '-30'],
  ['3 s ahead', '+3'],
  ['20 min ahead', '+1200'],
])('with a browser whose clock is %s', (_, offset) => {
  const browser = new TestBrowser(() => otherClock(offset))

  it('the chart shows the first reading of a new thing at once, and says that it is new', async () => {
    const thing = await createNamedThing(server(), 'new')
    const page = await browser.open(server().url)
    await signIn(page, thing.thingToken)
    await page.getByText('Nothing has arrived yet.').waitFor()
    await writeNow(thing, 1)
    await expect.poll(() => drawn(page)).toBeGreaterThan(3)
    await expectText(age(page), /^(now|\d{1,2} s ago)$/)
    await ask(server(), 'DELETE', `/v2/admin/things/${thing.thingId}`)
  })

  it('the list has a thing that was just heard of among none that are silent', async () => {
    const thing = await createNamedThing(server(), 'heard')
    await writeNow(thing, 1)
    const page = await browser.open(server().url)
    await signIn(page, server().adminKey)
    await page.getByText('1 thing.', { exact: true }).waitFor()
    await expectText(page.locator('.things-table time'), /^(now|\d{1,2} s ago)$/)
    await page.getByLabel('Which things').selectOption('Silent for 10 min')
    await page.getByText('0 of 1 thing.').waitFor()
    await ask(server(), 'DELETE', `/v2/admin/things/${thing.thingId}`)
  })
})

describe('a browser whose clock is set while the page is open', () => {
  let file = ''
  const browser = new TestBrowser(async () => {
    file = join(await temporaryDirectory(() => {}), 'offset')
    await writeFile(file, '+0')
    const { FAKETIME: _, ...environment } = await otherClock('+0')
    return { ...environment, FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1' }
  })

  it.each(['-3600', '+3600', '+0'])('to %s s goes on by the clock of the server', async offset => {
    const thing = await createNamedThing(server(), 'set')
    await writeNow(thing, 1)
    const page = await browser.open(server().url)
    await signIn(page, thing.thingToken)
    await expectText(age(page), /^(now|\d{1,2} s ago)$/)
    const before = await page.evaluate(() => Date.now() - performance.now())
    const asked = page.waitForResponse(/healthz/)
    await writeFile(file, offset)
    await asked
    expect(Math.abs((await page.evaluate(() => Date.now() - performance.now())) - before)).toBeGreaterThan(
      3_000_000,
    )
    await writeNow(thing, 2)
    await expectText(
      page.getByRole('region', { name: 'level', exact: true }).getByRole('status').first(),
      '2',
    )
    await expectText(age(page), /^(now|\d{1,2} s ago)$/)
  })
})
