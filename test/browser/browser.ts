import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'

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
  /** Console errors that belong to what the test does, such as the browser's own about a refused request. */
  readonly expectedErrors?: RegExp
}

/** How long anything in a page may take, milliseconds: far more than it does. */
const deadline = 30_000

/** Starts Chromium. Whoever starts it closes it. @param environment beside that of this process */
export async function launchBrowser(environment: NodeJS.ProcessEnv = {}): Promise<Browser> {
  const all = Object.entries({ ...process.env, ...environment })
  const env = Object.fromEntries(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  return await chromium.launch({ executablePath, args: flags, headless: true, env })
}

/** One browser for the tests of a file. */
export class TestBrowser {
  #browser: Browser | undefined

  /** @param environment gives what the browser has beside that of this process */
  constructor(environment: () => Promise<NodeJS.ProcessEnv> = async () => ({})) {
    beforeAll(async () => {
      this.#browser = await launchBrowser(await environment())
    })
    afterAll(() => this.#browser?.close())
  }

  /**
   * A page with a profile of its own, closed when the test has finished. The test fails if the page reports an error or
   * asks another host for anything.
   */
  async open(url: string, setup: PageSetup = {}): Promise<Page> {
    if (!this.#browser) throw new Error('the browser is started by beforeAll()')
    const { viewport = desktop, colorScheme = 'light', deviceScaleFactor = 1, expectedErrors } = setup
    const context = await this.#browser.newContext({ viewport, colorScheme, deviceScaleFactor })
    context.setDefaultTimeout(deadline)
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
