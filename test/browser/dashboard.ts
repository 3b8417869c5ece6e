import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { ServerAddress, Thing } from '../helpers/http-client.ts'
import { ask } from '../helpers/http-client.ts'

export async function createNamedThing(server: ServerAddress, name: string): Promise<Thing> {
  return await ask(server, 'POST', '/v2/admin/things', { name })
}

/** A session of the operator's. @returns its token */
export async function createSession(
  server: ServerAddress,
  things: '*' | readonly string[],
  access: 'read' | 'write',
): Promise<string> {
  const body = { things, access }
  return (await ask<{ sessionToken: string }>(server, 'POST', '/v2/admin/sessions', body)).sessionToken
}

export function credentialInput(page: Page): Locator {
  return page.getByLabel('Thing token, session or admin key')
}

export async function signIn(page: Page, credential: string): Promise<void> {
  await credentialInput(page).fill(credential)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** The page's own name: its one heading of the first level. */
export function title(page: Page): Locator {
  return page.getByRole('heading', { level: 1 })
}

/** Resolves when what a locator holds is, or contains, `text`. */
export async function expectText(locator: Locator, text: string | RegExp): Promise<void> {
  const matching = typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text)
  await expect.poll(() => locator.textContent()).toEqual(matching)
}

/** How many points the chart of a resource shows, as it says to who does not see it. */
export async function chartPoints(page: Page, key: string): Promise<number> {
  const name = (await chart(page, key).getAttribute('aria-label')) ?? ''
  const [, points] = /: ([\d,]+) points?/.exec(name) ?? []
  return points === undefined ? 0 : Number(points.replaceAll(',', ''))
}

export function chart(page: Page, key: string): Locator {
  return page.getByRole('img', { name: `Chart of ${key}` })
}
