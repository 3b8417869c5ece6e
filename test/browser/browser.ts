import { type Browser, chromium, type Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { ofTests } from '../helpers/of-test.ts'

/** Debian's, from the package chromium. */
const executablePath = '/usr/bin/chromium'
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export const desktop = { width: 1280, height: 800 }
export const phone = { width: 390, height: 844 }

export interface PageSetup {
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly colorScheme?: 'light' | 'dark'
  /** Pixels of the screen for each CSS pixel. */
  readonly deviceScaleFactor?: number
  /** Milliseconds that the clock of the page is ahead; negative: behind. `setClock` of the window changes it. */
  readonly clockAhead?: number
  /** Console errors that belong to what the test does, such as the browser's own about a refused request. */
  readonly expectedErrors?: RegExp
}

/** How long anything in a page may take, milliseconds: far more than it does. */
const deadline = 30_000

/** Starts Chromium. Whoever starts it closes it. */
export async function launchBrowser(): Promise<Browser> {
  return await chromium.launch({ executablePath, args: flags, headless: true })
}

/** One browser for the tests of a file. */
export class TestBrowser {
  readonly #browser = ofTests(launchBrowser, browser => browser.close())

  /**
   * A page with a profile of its own, closed when the test has finished. The test fails if the page reports an error or
   * asks another host for anything.
   */
  async open(url: string, setup: PageSetup = {}): Promise<Page> {
    const {
      viewport = desktop,
      colorScheme = 'light',
      deviceScaleFactor = 1,
      clockAhead,
      expectedErrors,
    } = setup
    const context = await this.#browser.newContext({ viewport, colorScheme, deviceScaleFactor })
    context.setDefaultTimeout(deadline)
    if (clockAhead !== undefined) await context.addInitScript(moveClock, clockAhead)
    const page = await context.newPage()
    const problems = problemsOf(page, new URL(url).host, expectedErrors)
    onTestFinished(async () => {
      await context.close()
      expect(problems).toEqual([])
    })
    await page.goto(url)
    return page
  }
}

/** Runs in the page. Chromium itself waits for minutes where libfaketime moves its clock. */
function moveClock(ahead: number): void {
  const Real = Date
  let distance = ahead
  class Moved extends Real {
    constructor(...parts: readonly number[]) {
      // Typed as one of them: there may be a year, a month and so on.
      super(...((parts.length === 0 ? [Real.now() + distance] : parts) as [number]))
    }
    static override now(): number {
      return Real.now() + distance
    }
  }
  Object.assign(globalThis, { Date: Moved, setClock: (next: number) => (distance = next) })
}

/** What is wrong with a page, added to while it is open. */
export function problemsOf(page: Page, host: string, expectedErrors?: RegExp): readonly string[] {
  const problems: string[] = []
  page.on('console', message => {
    if (message.type() !== 'error' || expectedErrors?.test(message.text())) return
    problems.push(`console: ${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', error => problems.push(`uncaught: ${error.stack ?? error.message}`))
  const checkAddress = (address: string) => {
    const { protocol, host: asked } = new URL(address)
    const isLocal = protocol === 'data:' || protocol === 'blob:' || asked === host
    if (!isLocal) problems.push(`asked another host: ${address}`)
  }
  page.on('request', request => checkAddress(request.url()))
  page.on('websocket', socket => checkAddress(socket.url()))
  return problems
}
