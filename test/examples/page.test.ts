import { chromium } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { createThing, write } from '../helpers/http-client.ts'
import { startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { runExample } from './run-example.ts'

test('examples/page shows in Chromium what is there and what is written', async () => {
  const server = await startServer({ dataDir: await temporaryDirectory() })
  onTestFinished(async () => void (await server.stop()))
  const thing = await createThing(server)
  await write(server, thing, { values: [{ key: 'depth', value: 9.8 }] })
  const args = ['--http-port', '0', '--thingwire', server.url]
  const site = await runExample('page/server.ts', args, /^The page is at (\S+)$/, {
    THING_TOKEN: thing.thingToken,
  })
  onTestFinished(async () => void (await site.stop()))
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  onTestFinished(() => browser.close())

  const page = await browser.newPage()
  await page.goto(site.ready[0] ?? '')
  await page.getByRole('row', { name: /^depth 9\.8 / }).waitFor()
  await write(server, thing, { values: [{ key: 'depth', value: 9.9 }] })
  await page.getByRole('row', { name: /^depth 9\.9 / }).waitFor()
  expect(await page.getByRole('status').innerText()).toBe('Live.')
  expect(await page.content()).not.toContain(thing.thingToken)
})
