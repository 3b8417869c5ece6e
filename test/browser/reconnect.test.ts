import { expect, onTestFinished, test } from 'vitest'
import { createThing, write } from '../helpers/http-client.ts'
import { startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { TestBrowser } from './browser.ts'
import { expectText, signIn } from './dashboard.ts'

const browser = new TestBrowser()
/** What Chromium itself says about a server that is away. */
const away = /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|WebSocket connection to/

test('the page says that it is not live while the server is away, and goes on by itself when it is back', async () => {
  const dataDir = await temporaryDirectory()
  let server = await startServer({ dataDir })
  onTestFinished(async () => void (await server.stop()))
  const thing = await createThing(server)
  await write(server, thing, { values: [{ key: 'depth', value: 10.5 }] })
  const page = await browser.open(server.url, { expectedErrors: away })
  await signIn(page, thing.thingToken)
  const value = page.getByRole('region', { name: 'depth', exact: true }).getByRole('status').first()
  await expectText(value, '10.5')
  const isLoadedOnce = await page.evaluateHandle(() => document.body)

  await server.stop()
  const bar = page.getByRole('status').filter({ hasText: 'The connection was lost' })
  await bar.waitFor()
  const { port } = new URL(server.url)
  server = await startServer({ dataDir, args: ['--http-port', port] })
  await bar.waitFor({ state: 'hidden' })
  await write(server, thing, { values: [{ key: 'depth', value: 11.5 }] })
  await expectText(value, '11.5')
  expect(await page.evaluate(body => document.body === body, isLoadedOnce)).toBe(true)
})
