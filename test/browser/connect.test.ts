import { expect, it } from 'vitest'
import { write } from '../helpers/http-client.ts'
import { mqttOfTest, serverOfTests } from '../helpers/of-test.ts'
import { TestBrowser } from './browser.ts'
import { createNamedThing, expectText, signIn, title } from './dashboard.ts'

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

it('the page to connect a device makes a source for a house, and shows its things with their first message', async () => {
  const { thingId } = await createNamedThing(server(), 'first')
  const page = await browser.open(`${server().url}/#/things/${thingId}/connect`)
  await signIn(page, server().adminKey)
  await page.getByRole('button', { name: /^Tasmota, Zigbee2MQTT/ }).click()
  await page.getByLabel('Server address for the device').fill('192.168.1.20')
  await page.getByRole('button', { name: 'Add source' }).click()
  await page.getByRole('heading', { name: 'Enter this in the device' }).waitFor()
  const entries = await page.locator('dl dd code').allTextContents()
  const [host, port, username = '', password = ''] = entries
  expect([host, port]).toEqual(['192.168.1.20', new URL(server().mqttUrl).port])

  await expectText(page.locator('main').getByRole('status'), 'Waiting for the first message…')
  const client = await mqttOfTest({ url: server().mqttUrl, username, password })
  const config = {
    dn: 'Plug',
    mac: '2462ABC0FFEE',
    t: 'plug',
    ft: 'tele/%topic%/',
    tp: ['cmnd', 'stat', 'tele'],
  }
  await client.publish('tasmota/discovery/2462ABC0FFEE/config', config, { retain: true })
  await client.publish('tele/plug/SENSOR', { ENERGY: { Power: 12 } })
  await page.getByText('1 new thing:').waitFor()
  await page.getByRole('link', { name: 'Plug' }).click()
  await expectText(title(page), 'Plug')
  await page.getByText('Device 2462ABC0FFEE').waitFor()
  await expectText(page.getByRole('region', { name: 'ENERGY.Power' }), '12 W')

  // An emptied announcement says that the device is gone.
  await client.publish('tasmota/discovery/2462ABC0FFEE/config', '', { retain: true })
  await page.reload()
  await page.getByText('The device is gone').waitFor()

  // A source opens no page.
  await page.getByRole('button', { name: 'Sign out' }).click()
  await signIn(page, password)
  await expectText(page.getByRole('alert'), 'This is the password of a source.')
})
