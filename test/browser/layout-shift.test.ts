import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Thing, write } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { desktop, phone, TestBrowser } from './browser.ts'
import { createNamedThing, signIn } from './dashboard.ts'
import { createBoat, pages } from './pages.ts'

const server = serverOfTests()
const browser = new TestBrowser()
/** Good is at most 0.1 (web.dev/cls); this is the sum of all shifts, of which that is the worst second or five. */
const most = 0.1

const things: Record<string, Thing> = {}
beforeAll(async () => {
  things.boat = await createBoat(server())
  things.meter = await createNamedThing(server(), 'meter')
  await write(server(), things.meter, { values: [{ key: 'energy', value: 1 }] })
  things['new one'] = await createNamedThing(server(), 'new one')
  things.door = await createNamedThing(server(), 'door')
  await write(server(), things.door, { values: [{ key: 'state', value: 'open' }] })
})

/** Shows a page again to who is signed in already, and adds up how far what is seen has moved. */
async function shiftsOf(page: Page, complete: () => Promise<unknown>): Promise<number> {
  await page.addInitScript(() => {
    const sum = { shifts: 0 }
    Object.assign(window, { sum })
    new PerformanceObserver(list => {
      for (const entry of list.getEntries() as (PerformanceEntry & {
        value: number
        hadRecentInput: boolean
      })[]) {
        if (!entry.hadRecentInput) sum.shifts += entry.value
      }
    }).observe({ type: 'layout-shift', buffered: true })
  })
  await page.reload()
  await complete()
  await page.waitForLoadState('networkidle')
  // What has been painted has been measured by then.
  await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))))
  return await page.evaluate(() => (window as unknown as { sum: { shifts: number } }).sum.shifts)
}

describe.each(Object.entries({ desktop, phone }))('on a %s', (_, viewport) => {
  it.each(['boat', 'meter', 'new one', 'door'])(
    'the page of the thing %s stays where it is as it comes',
    async name => {
      const thing = things[name]
      if (!thing) throw new Error(name)
      const page = await browser.open(`${server().url}/#/things/${thing.thingId}`, { viewport })
      await signIn(page, server().adminKey)
      const complete =
        name === 'boat' ? () => pages.thing.complete(page) : () => page.getByText('Add a field').waitFor()
      await complete()
      expect(await shiftsOf(page, complete)).toBeLessThanOrEqual(most)
    },
  )

  it('the page of the thing boat stays where it is when the code of the map comes last', async () => {
    const page = await browser.open(`${server().url}/#/things/${things.boat?.thingId}`, { viewport })
    await signIn(page, server().adminKey)
    await pages.thing.complete(page)
    await page.route(/\/position-[^/]*\.js/, async route => {
      await page.getByText('under sail').first().waitFor({ state: 'attached' })
      await route.continue()
    })
    expect(await shiftsOf(page, () => pages.thing.complete(page))).toBeLessThanOrEqual(most)
  })

  it('the list stays where it is as it comes', async () => {
    const page = await browser.open(server().url, { viewport })
    await signIn(page, server().adminKey)
    const complete = () => page.getByText(/The map shows 1 of/).waitFor()
    await complete()
    expect(await shiftsOf(page, complete)).toBeLessThanOrEqual(most)
  })
})
