import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from '../helpers/server-process.ts'
import { desktop, launchBrowser, phone } from './browser.ts'
import { createBoat, type PageName, pages, showPage } from './pages.ts'

/**
 * `node --import tsx test/browser/screenshots.ts <directory>`: each page of the built dashboard on a desktop and
 * on a phone, light and dark, with the voyage loaded.
 */

const directory = process.argv[2]
if (directory === undefined) {
  console.error('Cannot take screenshots: name the directory that they go to')
  process.exit(1)
}
await mkdir(directory, { recursive: true })
const dataDir = await mkdtemp(join(tmpdir(), 'thingwire-screenshots-'))
const server = await startServer({ dataDir })
const browser = await launchBrowser()
try {
  const boat = await createBoat(server)
  for (const name of Object.keys(pages) as PageName[]) {
    for (const [size, viewport] of Object.entries({ desktop, phone })) {
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await browser.newPage({ viewport, colorScheme })
        await page.goto(`${server.url}/${pages[name].hash(boat)}`)
        await showPage(page, name, server.adminKey)
        await page.waitForLoadState('networkidle')
        const path = join(directory, `${name}-${size}-${colorScheme}.png`)
        await page.screenshot({ path, fullPage: true })
        await page.close()
        console.log(path)
      }
    }
  }
} finally {
  await browser.close()
  await server.stop()
  await rm(dataDir, { recursive: true, force: true })
}
