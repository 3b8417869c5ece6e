import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect, it, test } from 'vitest'
import { type Thing, write } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { phone, TestBrowser } from './browser.ts'
import { createNamedThing, createSession, expectText, signIn, title } from './dashboard.ts'
import { watchDrawnTexts } from './drawn-texts.ts'

const server = serverOfTests()
const browser = new TestBrowser()
const longName = 'Weatherstation'.repeat(12)
let thing: Thing
beforeAll(async () => {
  thing = await createNamedThing(server(), longName)
  await write(server(), thing, { values: [{ key: '$geo', value: [23.5, 60.25] }] })
})

async function open(hash: string, credential = server().adminKey): Promise<Page> {
  const page = await browser.open(`${server().url}/${hash}`, { viewport: phone })
  await signIn(page, credential)
  await title(page).waitFor()
  return page
}

/** How far the page can be scrolled sideways, CSS pixels. */
async function overflow(page: Page): Promise<number> {
  return await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
}

it('keeps a long name without a space within the page of the thing, and the list', async () => {
  const page = await open('#/', thing.thingToken)
  await expectText(title(page), longName)
  await expectText(page.locator('.who'), longName)
  expect(await overflow(page)).toBe(0)
  const list = await open('#/')
  await list.getByRole('link', { name: longName }).waitFor()
  expect(await overflow(list)).toBe(0)
})

it('shortens a long name on the map', async () => {
  const page = await browser.open(server().url, { viewport: phone })
  const texts = await watchDrawnTexts(page)
  await signIn(page, server().adminKey)
  await expect
    .poll(async () => (await texts()).map(({ text }) => text))
    .toContain(`${longName.slice(0, 23)}…`)
})

it('has the scale of the map where it covers neither the sources nor the buttons', async () => {
  const page = await open('#/', thing.thingToken)
  // There the sources take most of the width.
  await page.setViewportSize({ width: 320, height: 740 })
  const scale = await boxOf(page, '.ol-scale-line')
  for (const other of ['.ol-attribution', '.ol-zoom']) {
    const box = await boxOf(page, other)
    const isApart =
      scale.x >= box.x + box.width ||
      box.x >= scale.x + scale.width ||
      scale.y >= box.y + box.height ||
      box.y >= scale.y + scale.height
    expect({ other, isApart }).toEqual({ other, isApart: true })
  }
})

async function boxOf(page: Page, selector: string) {
  const box = await page.locator(selector).boundingBox()
  if (!box) throw new Error(`${selector} is not shown`)
  return box
}

it.each(['light', 'dark'] as const)(
  'marks the page that is open without striking through who is signed in, %s',
  async scheme => {
    const page = await open('#/')
    await page.emulateMedia({ colorScheme: scheme })
    const marked = page.getByRole('link', { name: 'Things', exact: true })
    // A line of two pixels below its text.
    const width = (await marked.boundingBox())?.width ?? Number.NaN
    expect(await inAccent(page, marked)).toBeGreaterThan(1.9 * width)
    expect(await inAccent(page, page.locator('.who'))).toBe(0)
  },
)

/** How many pixels of the screen have the colour of what can be pressed, where an element is. */
async function inAccent(page: Page, element: Locator): Promise<number> {
  const shot = await element.screenshot({ animations: 'disabled' })
  return await page.evaluate(async png => {
    // Not fetched: the page's Content-Security-Policy lets nothing in from data: addresses.
    const bytes = Uint8Array.from(atob(png), character => character.charCodeAt(0))
    const image = await createImageBitmap(new Blob([bytes]))
    const brush = new OffscreenCanvas(image.width, image.height).getContext('2d')
    if (!brush) throw new Error('no canvas')
    brush.fillStyle = getComputedStyle(document.body).getPropertyValue('--accent')
    brush.fillRect(0, 0, 1, 1)
    const [accent] = new Uint32Array(brush.getImageData(0, 0, 1, 1).data.buffer)
    brush.drawImage(image, 0, 0)
    const { data } = brush.getImageData(0, 0, image.width, image.height)
    return new Uint32Array(data.buffer).filter(pixel => pixel === accent).length
  }, shot.toString('base64'))
}

it('shows how many clients were turned away without scrolling', async () => {
  await fetch(`${server().url}/v2/things/${'x'.repeat(43)}`, { method: 'POST', body: '{}' })
  const page = await open('#/operator')
  const table = page.locator('.figure', { hasText: 'Clients turned away' }).getByRole('table')
  await expectText(table, 'unknown_thing_token')
  const cut = await table.evaluate(element => {
    const card = element.parentElement
    return card && card.scrollWidth - card.clientWidth
  })
  expect(cut).toBe(0)
})

it('says that a session only reads, and until when', async () => {
  const page = await open('#/', await createSession(server(), [thing.thingId], 'read'))
  const who = page.getByText(/^Session, reading only, until 20\d\d-/)
  await who.waitFor()
  const isWhole = await who.evaluate(element => element.scrollHeight <= element.clientHeight)
  expect(isWhole).toBe(true)
})

it('keeps the command that makes the server reachable on one line', async () => {
  const page = await open(`#/things/${thing.thingId}/connect`)
  const command = page.getByText('thingwire serve --host 0.0.0.0', { exact: true })
  await command.waitFor()
  expect(await command.evaluate(element => element.getClientRects().length)).toBe(1)
})

test.each(['#/nopage', '#/things/doesnotexist1234'])('%s is said to be no page', async hash => {
  const page = await open(hash)
  await expectText(title(page), 'No such page')
  await page.getByText(hash).waitFor()
  await page.getByRole('link', { name: 'the first page' }).click()
  await expectText(title(page), 'Things')
})

it('says to who may not operate that there is nothing for them', async () => {
  const page = await open('#/operator', thing.thingToken)
  await expectText(title(page), 'No such page')
})
