import { expect, it } from 'vitest'
import { write } from '../helpers/http-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { TestBrowser } from './browser.ts'
import { expectText, signIn, title } from './dashboard.ts'

const server = serverOfTests()
const browser = new TestBrowser()

it('the page to connect a device has the token of the thing that was just made, and says what arrives', async () => {
  const page = await browser.open(`${server().url}/#/operator`)
  await signIn(page, server().adminKey)
  const things = page.getByRole('region', { name: 'Things', exact: true })
  await things.getByLabel('Name', { exact: true }).fill('shed')
  await things.getByRole('button', { name: 'Create thing' }).click()
  const thingToken = (await things.getByText(/^[\w-]{43}$/).textContent()) ?? ''
  await things.getByRole('link', { name: 'Connect your device' }).click()

  await expectText(title(page), 'Connect your device')
  await expectText(page.locator('pre'), thingToken)
  await page.getByLabel('Server address for the device').fill('192.168.1.20')
  await page.getByText('thingwire serve --host 0.0.0.0').waitFor()
  const thing = { thingId: '', thingToken }
  await page.getByText('Nothing has arrived since you opened this page').waitFor()
  await write(server(), thing, { values: [{ key: 'temperature', value: 21.5 }] })
  await page.getByText('Received: temperature 21.5').waitFor()
  await write(server(), thing, { values: [{ key: 'no spaces', value: 1 }] })
  await page.getByText(/^Refused: .*\(invalid_key\)$/).waitFor()

  await page.getByLabel('The thing’s token').fill('x')
  await page.getByText('A token has 43 characters. This one has 1.').waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await signIn(page, server().adminKey)
  await page.getByText('the programs contain YOUR_THING_TOKEN').waitFor()
  expect(await page.content()).not.toContain(thingToken)
})
