import type { Browser, BrowserContextOptions } from 'playwright-core'
import { problemsOf } from '../../test/browser/browser.ts'
import { signIn } from '../../test/browser/dashboard.ts'
import type { Thing } from '../../test/helpers/http-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'

export interface ColdLoad {
  /** From the start of the navigation to the value of a resource that can be seen. */
  readonly milliseconds: number
  /** What the page reports as an error, and requests to other hosts. */
  readonly problems: readonly string[]
}

type Profile = NonNullable<BrowserContextOptions['storageState']>

/** A profile in which nothing but the credential is kept, as of someone who has the dashboard open each morning. */
export async function signedInProfile(
  browser: Browser,
  { url }: ServerProcess,
  thing: Thing,
): Promise<Profile> {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(url)
  await page.getByLabel('Keep me signed in').check()
  await signIn(page, thing.thingToken)
  await page.getByRole('heading', { level: 1, name: thing.thingId }).waitFor()
  const profile = await context.storageState()
  await context.close()
  return profile
}

/** Opens the dashboard with nothing in the cache, and waits for the latest value of `key`. */
export async function loadCold(
  browser: Browser,
  { url }: ServerProcess,
  profile: Profile,
  key: string,
): Promise<ColdLoad> {
  const context = await browser.newContext({ storageState: profile })
  const page = await context.newPage()
  const problems = problemsOf(page, new URL(url).host)
  const begin = performance.now()
  await page.goto(url, { waitUntil: 'commit' })
  const row = page.getByRole('region', { name: 'Readings' }).getByRole('row').filter({ hasText: key })
  await row.getByRole('status').filter({ hasText: /\d/ }).waitFor()
  const milliseconds = performance.now() - begin
  // What is loaded after the first value may report something, too.
  await page.waitForLoadState('networkidle')
  await context.close()
  return { milliseconds, problems }
}
