import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { built } from '../helpers/built.ts'
import { launchBrowser } from './browser.ts'

/**
 * `npm run picture [-- <file>]`: the picture of the README. It shows the page of the boat in the built dashboard while the
 * demo runs.
 */

const command = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
/** Of the file: it is in every clone and every page that shows it. */
const maximumBytes = 100_000
const viewport = { width: 1200, height: 702 }
const deviceScaleFactor = 1.5
const file = process.argv[2] ?? fileURLToPath(new URL('../../docs/picture.webp', import.meta.url))

await built()
// The demo is to be watched: on a terminal.
const demo = spawn('script', ['-qec', `exec '${process.execPath}' '${command}' demo`, '/dev/null'])
const browser = await launchBrowser()
try {
  const page = await browser.newPage({
    viewport,
    colorScheme: 'light',
    deviceScaleFactor,
  })
  await page.goto(await link())
  await page.getByRole('link', { name: 'boat', exact: true }).click()
  await page.getByRole('button', { name: 'speed_kn', exact: true }).click()
  await untilComplete(page)
  await showCoast(page)
  const picture = await photograph(page)
  if (picture.length > maximumBytes)
    throw new Error(`the picture has ${picture.length} bytes, at most ${maximumBytes}`)
  await writeFile(file, picture)
  console.log(file)
} finally {
  await browser.close()
  demo.stdin.write('\u0003')
}

/** What the demo prints when its history is stored. */
async function link(): Promise<string> {
  let output = ''
  for await (const part of demo.stdout) {
    output += part
    const [found] = /http:\S+#session=[\w-]{43}/.exec(output) ?? []
    if (found !== undefined) return found
  }
  throw new Error(`the demo ended: ${output}`)
}

async function untilComplete(page: Page): Promise<void> {
  await page.getByRole('img', { name: /^Chart of speed_kn: [\d,]+ points/ }).waitFor()
  await page.getByText('positions shown').waitFor()
  await page.getByRole('button', { name: 'Save' }).waitFor()
  await page.locator('.sparkline').first().waitFor()
  await page.waitForLoadState('networkidle')
}

/** The coast is a few kilometres off: from near, the boat would sail on land. */
async function showCoast(page: Page): Promise<void> {
  const map = page.getByRole('application')
  for (let step = 0; step < 3; step++) {
    await map.getByRole('button', { name: '–' }).click()
    // The map takes 250 ms to get there.
    await page.waitForTimeout(500)
  }
  await page.mouse.move(0, 0)
  await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur())
  await page.waitForLoadState('networkidle')
}

/** WebP has a third of the bytes of PNG. Playwright makes PNG and JPEG alone. */
async function photograph(page: Page): Promise<Buffer> {
  const devTools = await page.context().newCDPSession(page)
  const { data } = await devTools.send('Page.captureScreenshot', {
    ...{ format: 'webp', quality: 85 },
    clip: { x: 0, y: 0, ...viewport, scale: deviceScaleFactor },
  })
  return Buffer.from(data, 'base64')
}
