import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import type { Thing } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { accessibleNodes, headingFaults, unnamed } from './accessibility-tree.ts'
import { desktop, TestBrowser } from './browser.ts'
import { faintTexts } from './contrast.ts'
import { createBoat, type PageName, pages, showPage } from './pages.ts'

const server = serverOfTests()
const browser = new TestBrowser()
/** The last is the narrowest phone. */
const looks = [
  { colorScheme: 'light', viewport: desktop },
  { colorScheme: 'dark', viewport: { width: 360, height: 740 } },
] as const
let boat: Thing
beforeAll(async () => {
  boat = await createBoat(server())
})

test.each(Object.keys(pages) as PageName[])(
  'the page %s has names, headings in order and legible text, and fits a phone',
  async name => {
    const page = await browser.open(`${server().url}/${pages[name].hash(boat)}`)
    await showPage(page, name, server().adminKey)
    const nodes = await accessibleNodes(page)
    expect(unnamed(nodes)).toEqual([])
    expect(headingFaults(nodes)).toEqual([])
    for (const { colorScheme, viewport } of looks) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize(viewport)
      const pixelsToScrollSideways = await overflow(page)
      const faults = { colorScheme, faint: await faintTexts(page), pixelsToScrollSideways }
      expect(faults).toEqual({ colorScheme, faint: [], pixelsToScrollSideways: 0 })
    }
  },
)

/** How far the page can be scrolled sideways. */
async function overflow(page: Page): Promise<number> {
  return await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
}
