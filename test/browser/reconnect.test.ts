import { expect, onTestFinished, test } from 'vitest'
import { ask, createThing, type Session, write } from '../helpers/http-client.ts'
import { pathOfTest, serverOfTest } from '../helpers/of-test.ts'
import { startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { TestBrowser } from './browser.ts'
import { createNamedThing, expectText, signIn } from './dashboard.ts'

const browser = new TestBrowser()
/** What Chromium itself says about a server that is away. */
const away =
  /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_SOCKET_NOT_CONNECTED|WebSocket connection to/

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

test('the page signs out when it is back from a broken network, if its session was revoked meanwhile', async () => {
  const server = await serverOfTest()
  const network = await pathOfTest(Number(new URL(server.url).port))
  const { thingId } = await createNamedThing(server, 'buoy')
  const body = { things: [thingId], access: 'read' }
  const { sessionToken, sessionId } = await ask<Session>(server, 'POST', '/v2/admin/sessions', body)
  const expectedErrors = new RegExp(`${away.source}|status of 401`)
  const url = `http://127.0.0.1:${network.port}`
  const page = await browser.open(url, { expectedErrors })
  await signIn(page, sessionToken)
  await page.getByRole('link', { name: 'buoy' }).waitFor()
  // Other pages would ask over HTTP by themselves after a while.
  await page.goto(`${url}/#/things/${thingId}/connect`)
  await page.getByText('Nothing has arrived').waitFor()

  network.refuse()
  await page.getByRole('status').filter({ hasText: 'The connection was lost' }).waitFor()
  await ask(server, 'DELETE', `/v2/admin/sessions/${sessionId}`)
  network.restore()
  await expectText(page.getByRole('alert'), 'You were signed out')
})

test('the page of the operator, opened while the server is away, is there when the server is back', async () => {
  const dataDir = await temporaryDirectory()
  let server = await startServer({ dataDir })
  onTestFinished(async () => void (await server.stop()))
  await createThing(server)
  const headers = { authorization: `Bearer ${server.adminKey}` }
  await fetch(`${server.url}/v2/admin/activation-codes`, { method: 'POST', headers, body: '{}' })
  const sessions = { method: 'POST', headers, body: JSON.stringify({ things: '*', access: 'read' }) }
  await fetch(`${server.url}/v2/admin/sessions`, sessions)
  const page = await browser.open(server.url, { expectedErrors: away })
  await signIn(page, server.adminKey)
  // Its code is loaded.
  await page.getByRole('link', { name: 'Operator' }).click()
  await page.getByRole('button', { name: 'Revoke' }).first().waitFor()
  await page.getByRole('link', { name: 'Things', exact: true }).click()

  await server.stop()
  await page.getByRole('status').filter({ hasText: 'The connection was lost' }).waitFor()
  await page.getByRole('link', { name: 'Operator' }).click()
  const problems = page.getByRole('region').getByText('The server does not answer.')
  await expect.poll(() => problems.count()).toBeGreaterThanOrEqual(3)
  const { port } = new URL(server.url)
  server = await startServer({ dataDir, args: ['--http-port', port] })
  for (const name of ['Things', 'Activation codes', 'Sessions', 'This node']) {
    const region = page.getByRole('region', { name, exact: true })
    await region.getByText('The server does not answer.').waitFor({ state: 'detached' })
    const content =
      name === 'This node' ? region.getByRole('heading', { level: 3 }) : region.getByRole('listitem')
    await content.first().waitFor()
  }
})
