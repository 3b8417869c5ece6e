import type { Page } from 'playwright-core'
import { describe, expect, it, test } from 'vitest'
import { TestBrowser } from './browser.ts'
import {
  createNamedThing,
  createSession,
  credentialInput,
  expectText,
  serveDashboard,
  signIn,
  title,
} from './dashboard.ts'

const server = serveDashboard()
const browser = new TestBrowser()
/** What Chromium itself says about a request that is answered with 401. */
const unauthorized = /status of 401/

describe('the sign-in', () => {
  it('says so where the server does not know the credential, and takes another one then', async () => {
    const thing = await createNamedThing(server(), 'buoy')
    const page = await browser.open(server().url, { expectedErrors: unauthorized })
    await signIn(page, 'x'.repeat(43))
    await expectText(page.getByRole('alert'), 'does not know this credential')
    await signIn(page, thing.thingToken)
    await expectText(title(page), 'buoy')
  })

  it('shows a thing itself, and nothing of others', async () => {
    const thing = await createNamedThing(server(), 'lighthouse')
    const page = await browser.open(server().url)
    await signIn(page, thing.thingToken)
    await expectText(title(page), 'lighthouse')
    expect(await page.getByRole('link', { name: 'Operator' }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Things', exact: true }).count()).toBe(0)
  })

  it('shows a session the things that it may see', async () => {
    const seen = await createNamedThing(server(), 'tide gauge')
    await createNamedThing(server(), 'not for everybody')
    const page = await browser.open(server().url)
    await signIn(page, await createSession(server(), [seen.thingId], 'read'))
    await page.getByRole('link', { name: 'tide gauge' }).waitFor()
    expect(await page.getByRole('link', { name: 'not for everybody' }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Operator' }).count()).toBe(0)
  })

  it('shows the admin key every thing, and the way to the page of the operator', async () => {
    await createNamedThing(server(), 'weather mast')
    const page = await browser.open(server().url)
    await signIn(page, server().adminKey)
    await page.getByRole('link', { name: 'weather mast' }).waitFor()
    await page.getByRole('link', { name: 'Operator' }).click()
    await expectText(title(page), 'Operator')
  })

  it('is over with Sign out, also for who comes back later', async () => {
    const thing = await createNamedThing(server(), 'ferry')
    const page = await browser.open(server().url)
    await signIn(page, thing.thingToken)
    await expectText(title(page), 'ferry')
    await page.reload()
    await expectText(title(page), 'ferry')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await credentialInput(page).waitFor()
    expect(await credentialInput(page).evaluate(input => input === document.activeElement)).toBe(true)
    await page.reload()
    await credentialInput(page).waitFor()
    expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage])')).not.toContain(
      thing.thingToken,
    )
  })
})

test('the keyboard alone signs in and opens a thing, and the focus can be seen all the way', async () => {
  await createNamedThing(server(), 'keyboard')
  const page = await browser.open(server().url)
  await credentialInput(page).waitFor()
  await tabTo(page, 'credential')
  await page.keyboard.insertText(server().adminKey)
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'keyboard' }).waitFor()
  await tabTo(page, 'keyboard')
  await page.keyboard.press('Enter')
  await expectText(title(page), 'keyboard')
})

/** Presses Tab until what has this text or id has the focus. @throws Error if nothing has, or the focus is not seen */
async function tabTo(page: Page, wanted: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate(() => {
      const element = document.activeElement
      if (!element || element === document.body) return undefined
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element)
      const hasOutline = outlineStyle !== 'none' && outlineWidth !== '0px'
      return { names: [element.textContent, element.id], isSeen: hasOutline || boxShadow !== 'none' }
    })
    if (!focused) continue
    expect(focused).toMatchObject({ isSeen: true })
    if (focused.names.includes(wanted)) return
  }
  throw new Error(`Tab does not reach ${wanted}`)
}
