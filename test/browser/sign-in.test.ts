import type { Page } from 'playwright-core'
import { describe, expect, it, test } from 'vitest'
import { ask } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { TestBrowser } from './browser.ts'
import { createNamedThing, createSession, credentialInput, expectText, signIn, title } from './dashboard.ts'

const server = serverOfTests()
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

describe('a link that signs in', () => {
  const link = (session: string) => `${server().url}/#session=${session}`
  const kept = (page: Page) => page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')
  const offer = (page: Page) => page.getByRole('alert').filter({ hasText: 'You opened a link' })

  /** A page that this device keeps signed in, as the thing of this name. */
  async function openKept(name: string) {
    const { thingToken } = await createNamedThing(server(), name)
    const page = await browser.open(server().url, { expectedErrors: unauthorized })
    await page.getByLabel('Keep me signed in on this device').check()
    await signIn(page, thingToken)
    await expectText(title(page), name)
    return { page, thingToken }
  }

  async function follow(page: Page, session: string): Promise<Page> {
    const tab = await page.context().newPage()
    await tab.goto(link(session))
    return tab
  }

  it('shows the things of its session, and is in no request, no address and no history after that', async () => {
    const { thingId } = await createNamedThing(server(), 'sloop')
    const session = await createSession(server(), [thingId], 'write')
    // A page before it, to which Back leads. Its browser asks for an icon.
    const page = await browser.open(`${server().url}/icon.svg`, { expectedErrors: /status of 404/ })
    const asked: string[] = []
    page.on('request', request => asked.push(request.url().replace(/#.*/, '')))
    await page.goto(link(session))
    await page.getByRole('link', { name: 'sloop' }).click()
    await expectText(title(page), 'sloop')
    expect(new URL(page.url()).hash).toBe(`#/things/${thingId}`)
    await page.goBack()
    await page.getByRole('link', { name: 'sloop' }).waitFor()
    expect(page.url()).toBe(`${server().url}/#/`)
    expect(asked.filter(url => url.includes(session))).toEqual([])
  })

  it('is for its tab alone, and over with Sign out', async () => {
    const { thingId } = await createNamedThing(server(), 'ketch')
    const session = await createSession(server(), [thingId], 'read')
    const page = await browser.open(link(session))
    await page.getByRole('link', { name: 'ketch' }).waitFor()
    await page.reload()
    await page.getByRole('link', { name: 'ketch' }).waitFor()
    const other = await page.context().newPage()
    await other.goto(server().url)
    await credentialInput(other).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await credentialInput(page).waitFor()
    expect(await kept(page)).not.toContain(session)
  })

  it('says so where its session has ended, and takes a credential then', async () => {
    const { thingToken } = await createNamedThing(server(), 'yawl')
    const page = await browser.open(link('x'.repeat(43)), { expectedErrors: unauthorized })
    await expectText(page.getByRole('alert'), 'Its session was revoked or has expired')
    expect(page.url()).toBe(`${server().url}/#/`)
    await signIn(page, thingToken)
    await expectText(title(page), 'yawl')
  })

  it.each(['a thing’s token', 'the admin key', 'a part of a session', 'nothing'])(
    'does not with %s',
    async held => {
      const { thingId, thingToken } = await createNamedThing(server(), 'schooner')
      const session = await createSession(server(), [thingId], 'read')
      const credentials = [thingToken, server().adminKey, session.slice(1), '']
      const at = ['a thing’s token', 'the admin key', 'a part of a session', 'nothing'].indexOf(held)
      const page = await browser.open(link(credentials[at] ?? ''))
      await expectText(page.getByRole('alert'), 'This link does not sign in')
      expect(await kept(page)).toBe('[{},{}]')
    },
  )

  it('asks who is signed in already, who may stay so', async () => {
    const { page } = await openKept('my own boat')
    const { thingId } = await createNamedThing(server(), 'somebody else’s')
    const tab = await follow(page, await createSession(server(), [thingId], 'write'))
    await offer(tab).waitFor()
    await expectText(title(tab), 'my own boat')
    await tab.getByRole('button', { name: 'Stay signed in as before' }).click()
    await expect.poll(() => offer(tab).count()).toBe(0)
    await tab.reload()
    await expectText(title(tab), 'my own boat')
  })

  it('signs in where who is signed in agrees: in that tab, while this device keeps what it kept', async () => {
    const { page, thingToken } = await openKept('home')
    const { thingId } = await createNamedThing(server(), 'abroad')
    const session = await createSession(server(), [thingId], 'write')
    const tab = await follow(page, session)
    await tab.getByRole('button', { name: 'Use the link in this tab' }).click()
    await tab.getByRole('link', { name: 'abroad' }).waitFor()
    await tab.reload()
    await tab.getByRole('link', { name: 'abroad' }).waitFor()
    await page.reload()
    await expectText(title(page), 'home')
    expect(JSON.parse(String(await kept(tab)))).toEqual([
      { 'thingwire.credential': thingToken },
      { 'thingwire.credential': session },
    ])
  })

  it('signs nobody out: not where its session is unknown, and not in a page that is open', async () => {
    const { page } = await openKept('steadfast')
    await page.evaluate(`location.hash = 'session=${'x'.repeat(43)}'`)
    await offer(page).waitFor()
    expect(page.url()).toBe(`${server().url}/#/`)
    await page.getByRole('button', { name: 'Use the link in this tab' }).click()
    await expectText(page.getByRole('alert').first(), 'This link does not sign in')
    await expectText(title(page), 'steadfast')
    await page.getByRole('button', { name: 'Close' }).click()
    await page.reload()
    await expectText(title(page), 'steadfast')
  })

  it('leaves this device signed in when its session is revoked', async () => {
    const { page } = await openKept('remains')
    const { thingId } = await createNamedThing(server(), 'visited')
    const body = { things: [thingId], access: 'read' }
    const { sessionToken, sessionId } = await ask<{ sessionToken: string; sessionId: string }>(
      server(),
      'POST',
      '/v2/admin/sessions',
      body,
    )
    const tab = await follow(page, sessionToken)
    await tab.getByRole('button', { name: 'Use the link in this tab' }).click()
    await tab.getByRole('link', { name: 'visited' }).waitFor()
    await ask(server(), 'DELETE', `/v2/admin/sessions/${sessionId}`)
    await expectText(tab.getByRole('alert'), 'You were signed out')
    await tab.reload()
    await expectText(title(tab), 'remains')
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
