import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { mosquittoSub } from '../clients/mosquitto.ts'
import { ask, type Thing, write } from '../helpers/http-client.ts'
import { connectMqtt } from '../helpers/mqtt-client.ts'
import { serverOfTests } from '../helpers/of-test.ts'
import { TestBrowser } from './browser.ts'
import {
  chart,
  chartPoints,
  createNamedThing,
  createSession,
  expectText,
  signIn,
  title,
} from './dashboard.ts'
import { painted } from './map-pixels.ts'
import { storeVoyage } from './pages.ts'

const server = serverOfTests()
const browser = new TestBrowser()
let boat: Thing
beforeAll(async () => {
  boat = await createNamedThing(server(), 'boat')
  await storeVoyage(server(), boat)
})

async function open(thing: Thing): Promise<Page> {
  const page = await browser.open(server().url)
  await signIn(page, thing.thingToken)
  await title(page).waitFor()
  return page
}

function region(page: Page, name: string) {
  return page.getByRole('region', { name, exact: true })
}

async function publish({ thingToken }: Thing, body: object): Promise<void> {
  const client = await connectMqtt({ url: server().mqttUrl, username: thingToken })
  await client.publish(`things/${thingToken}/write`, body)
  await client.disconnect()
}

describe('the page of a thing', () => {
  it('says why numbers that are sent as text have no chart', async () => {
    const thing = await createNamedThing(server(), 'text')
    await write(server(), thing, { values: [{ key: 'temp', value: '21.9' }] })
    const page = await open(thing)
    await expectText(region(page, 'temp'), 'Send the number without quotes: "value":21.9')
  })

  it('moves the value and the chart with a write from each door', async () => {
    const thing = await createNamedThing(server(), 'live')
    // Apart, so that the chart has a point for each.
    const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()
    await write(server(), thing, { values: [{ key: 'depth', value: 10.5, datetime: ago(20) }] })
    const page = await open(thing)
    const value = region(page, 'depth').getByRole('status').first()
    await expectText(value, '10.5')
    await expect.poll(() => chartPoints(page, 'depth')).toBe(1)
    const before = await chart(page, 'depth').screenshot()

    await write(server(), thing, { values: [{ key: 'depth', value: 11.5, datetime: ago(5) }] })
    await expectText(value, '11.5')
    await expect.poll(() => chartPoints(page, 'depth')).toBe(2)
    const between = await chart(page, 'depth').screenshot()
    expect(between.equals(before)).toBe(false)

    await publish(thing, { values: [{ key: 'depth', value: 12.5 }] })
    await expectText(value, '12.5')
    await expect.poll(() => chartPoints(page, 'depth')).toBe(3)
    expect((await chart(page, 'depth').screenshot()).equals(between)).toBe(false)
    await expectText(region(page, 'Readings').getByRole('row').filter({ hasText: 'depth' }), '12.5')
  })

  it('shows resources as they are described, at once where that changes, and hidden ones on request', async () => {
    const thing = await createNamedThing(server(), 'described')
    const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()
    const described = { name: 'Cellar', unit: '°C', decimals: 2 }
    await write(server(), thing, {
      values: [
        { key: 'ds18b20.temperature', value: 21.456, datetime: ago(20) },
        { key: 'uptime', value: 12, datetime: ago(10) },
        { key: '$meta', value: { 'ds18b20.temperature': described, uptime: { hidden: true } } },
      ],
    })
    const page = await open(thing)
    // A hidden resource is not what is shown first, though it is newer.
    const cellar = region(page, 'Cellar')
    await expectText(cellar.getByRole('status').first(), '21.46 °C')
    await cellar.getByText('ds18b20.temperature').waitFor()
    await expect
      .poll(() => chart(page, 'Cellar').getAttribute('aria-label'))
      .toMatch(/lowest 21\.46 °C, highest 21\.46 °C, last 21\.46 °C$/)
    await expectText(cellar.locator('.chart-unit'), '°C')
    await cellar.getByRole('button', { name: 'Show as table' }).click()
    await expectText(cellar.getByRole('table'), /each for \d+ m?s, in °C.*21\.46/s)

    const readings = region(page, 'Readings')
    const keys = readings.getByRole('rowheader')
    expect(await keys.allTextContents()).toEqual(['Cellar ds18b20.temperature'])
    await expectText(readings.getByRole('row', { name: 'Cellar' }), '21.46 °C')
    await readings.getByRole('button', { name: 'Show 1 hidden' }).click()
    expect(await keys.allTextContents()).toEqual(['Cellar ds18b20.temperature', 'uptime'])
    await readings.getByRole('button', { name: 'Hide 1 hidden' }).click()
    await readings.getByRole('searchbox').fill('UPT')
    await expect.poll(() => keys.allTextContents()).toEqual(['uptime'])
    await readings.getByRole('searchbox').fill('')

    const change = { 'ds18b20.temperature': { name: 'Wine', decimals: null }, uptime: null }
    await publish(thing, { values: [{ key: '$meta', value: change }] })
    await expectText(region(page, 'Wine').getByRole('status').first(), '21.456 °C')
    await expect.poll(() => keys.allTextContents()).toEqual(['uptime', 'Wine ds18b20.temperature'])
  })

  it('takes name, unit, kind and decimals where they are shown, from who may write', async () => {
    const thing = await createNamedThing(server(), 'plain')
    const values = [
      { key: 'probe', value: 21.456 },
      { key: 'front', value: true },
    ]
    await write(server(), thing, { values })
    const page = await open(thing)
    const readings = region(page, 'Readings')
    await readings.getByRole('button', { name: 'probe' }).click()
    await region(page, 'probe').getByRole('button', { name: 'Describe' }).click()
    const form = page.getByRole('form', { name: 'Describe probe' })
    await form.getByLabel('Name').fill('Cellar')
    await form.getByLabel('Unit').fill('°C')
    await form.getByLabel('Decimals').fill('1')
    await form.getByRole('button', { name: 'Save' }).click()
    await expectText(region(page, 'Cellar').getByRole('status').first(), '21.5 °C')
    expect(await form.count()).toBe(0)
    // What is emptied is removed.
    await region(page, 'Cellar').getByRole('button', { name: 'Describe' }).click()
    await form.getByLabel('Unit').fill('')
    await form.getByRole('button', { name: 'Save' }).click()
    await expect.poll(() => region(page, 'Cellar').getByRole('status').first().textContent()).toBe('21.5')

    await readings.getByRole('button', { name: 'front' }).click()
    await region(page, 'front').getByRole('button', { name: 'Describe' }).click()
    const door = page.getByRole('form', { name: 'Describe front' })
    await door.getByLabel('Kind').fill('door')
    await door.getByLabel('Kind').press('Enter')
    await expectText(region(page, 'front').getByRole('status').first(), 'open')

    const reader = await browser.open(`${server().url}/#/things/${thing.thingId}`)
    await signIn(reader, await createSession(server(), [thing.thingId], 'read'))
    await region(reader, 'Readings').waitFor()
    expect(await reader.getByRole('button', { name: 'Describe' }).count()).toBe(0)
  })

  it('reads older data where the chart is zoomed out, and finer data where it is zoomed in', async () => {
    const page = await open(boat)
    await page.getByRole('button', { name: 'depth_m', exact: true }).click()
    await expect.poll(() => chartPoints(page, 'depth_m')).toBeGreaterThan(100)
    const asked: URLSearchParams[] = []
    const intervals: string[] = []
    page.on('request', request => {
      const { searchParams } = new URL(request.url())
      if (searchParams.has('points')) asked.push(searchParams)
    })
    page.on('response', response => {
      const interval = response.headers()['thingwire-interval']
      if (interval !== undefined) intervals.push(interval)
    })
    const begin = () => Date.parse(asked.at(-1)?.get('startDate') ?? '')

    // The voyage is four hours long, the end of which was shown.
    const card = region(page, 'depth_m')
    await card.getByRole('button', { name: 'All', exact: true }).click()
    await expect.poll(begin).toBeLessThan(Date.now() - 4 * 3_600_000)
    await expect.poll(() => chartPoints(page, 'depth_m')).toBeGreaterThan(400)
    const ofAll = intervals.at(-1)
    await card.getByRole('button', { name: 'Zoom in' }).click()
    await expect.poll(() => intervals.at(-1)).not.toBe(ofAll)
    const beginOfHalf = begin()
    await card.getByRole('button', { name: 'Earlier' }).click()
    await expect.poll(begin).toBeLessThan(beginOfHalf)
    expect(Date.parse(asked.at(-1)?.get('endDate') ?? '')).toBeLessThan(Date.now())
    await expect.poll(() => chartPoints(page, 'depth_m')).toBeGreaterThan(100)
  })

  it('leads to the newest points of a history, and names resource and range in the address', async () => {
    const thing = await createNamedThing(server(), 'history')
    const datetime = '20200101120000'
    const values = ['depth', 'speed'].map(key => ({ key, value: 3, datetime }))
    values.push({ key: 'depth', value: 4, datetime: '20200101115500' })
    await write(server(), thing, { values })
    await write(server(), thing, { values: [{ key: '$geo', value: [23.5, 60.25], datetime }] })
    const page = await open(thing)
    await page.getByRole('button', { name: 'depth', exact: true }).click()
    await region(page, 'depth')
      .getByRole('button', { name: /^Newest: 2020-01-01/ })
      .click()
    await expect.poll(() => chartPoints(page, 'depth')).toBe(2)
    await expectText(region(page, 'Position'), 'The newest position is older.')
    await region(page, 'Position').getByRole('button', { name: 'Show the whole track' }).click()
    await expectText(region(page, 'Position'), '1 position shown')

    await page.getByRole('button', { name: 'speed', exact: true }).click()
    await expect.poll(() => chartPoints(page, 'speed')).toBe(1)
    await page.waitForURL(/resource=speed/)
    await page.reload()
    await expect.poll(() => chartPoints(page, 'speed')).toBe(1)
    // What came before the latest one is in the trend, too.
    await page.locator('tr', { hasText: 'depth' }).locator('.sparkline').waitFor()
  })

  it('says what is wrong with settings as JSON, and has nothing to discard before a change', async () => {
    const page = await open(await createNamedThing(server(), 'settings text'))
    const settings = region(page, 'Settings')
    const discard = settings.getByRole('button', { name: 'Discard changes' })
    expect(await discard.isDisabled()).toBe(true)
    await settings.getByRole('button', { name: 'JSON' }).click()
    await settings.getByLabel('Settings as JSON').fill('{"interval": 5,}')
    await expectText(settings.getByRole('alert'), /Not JSON: .*position 15/)
    await discard.click()
    await expect.poll(() => discard.isDisabled()).toBe(true)
    await settings.getByRole('button', { name: 'Fields' }).click()
    await settings.getByText('Add a field').click()
    await settings.getByLabel('Name').fill('horn')
    await settings.getByRole('button', { name: 'Add', exact: true }).click()
    await expect
      .poll(() =>
        settings.getByLabel('horn', { exact: true }).evaluate(input => input === document.activeElement),
      )
      .toBe(true)
  })

  it('shows three kinds of refused writes, each once with its count, and the others on request', async () => {
    const thing = await createNamedThing(server(), 'often refused')
    const records: readonly object[] = [
      { key: 'depth', value: 1, datetime: '20250230000000' },
      { key: 'depth' },
      { key: 'depth', value: 1, geo: { lat: 91, long: 0 } },
      ...['a b', 'c d', 'c d', 'e f'].map(key => ({ key, value: 1 })),
    ]
    for (const record of records) await write(server(), thing, { values: [record] })
    const refused = region(await open(thing), 'Refused writes')
    await expectText(refused, /invalid_key, 4 times since/)
    await refused.getByText('2 other writes').click()
    await refused.getByText('"a b"').waitFor()
    expect(await refused.locator('ol > li').count()).toBe(3)
    await refused.getByRole('button', { name: 'Show 1 more' }).click()
    await expectText(refused, 'invalid_datetime')
    expect(await refused.locator('ol > li').count()).toBe(4)
  })

  it('shows a reason that each record of a write has once', async () => {
    const thing = await createNamedThing(server(), 'refused as a whole')
    const values = Array.from({ length: 8 }, (_, value) => ({ key: 'a b', value }))
    await write(server(), thing, { values })
    const refused = region(await open(thing), 'Refused writes')
    await expectText(refused, '8 times, first in values[0]')
    expect(await refused.locator('ul > li').count()).toBe(1)
  })

  it('shows the track of the voyage on the map and in words', async () => {
    const page = await open(boat)
    const position = region(page, 'Position')
    await expectText(position, /59\.85567° N,? 23\.39902° E/)
    await expect
      .poll(async () => {
        const [, fixes = ''] = /([\d,]+) positions/.exec((await position.textContent()) ?? '') ?? []
        return Number(fixes.replaceAll(',', ''))
      })
      .toBeGreaterThan(1_000)
    await expect.poll(() => painted(page, 'track')).toBeGreaterThan(200)
    expect(await painted(page, 'marker')).toBeGreaterThan(20)
  })

  it('draws no line over a gap of the track, and says that there is one', async () => {
    const thing = await createNamedThing(server(), 'parted')
    const minute = 60_000
    const times = [0, 1, 2, 3, 1_203, 1_204, 1_205].map(time => Date.now() - (1_210 - time) * minute)
    const values = times.map((time, at) => {
      return { key: '$geo', value: [23 + at / 10, 60], datetime: new Date(time).toISOString() }
    })
    await write(server(), thing, { values })
    const page = await open(thing)
    await expectText(
      region(page, 'Position'),
      '7 positions shown. 1 gap without positions: no line is drawn there',
    )
  })

  it('draws the finest coast where it looks closely, and not before', async () => {
    const asked: string[] = []
    const near = await createNamedThing(server(), 'near a coast')
    const page = await browser.open(server().url)
    page.on('request', request => asked.push(request.url()))
    await signIn(page, near.thingToken)
    await expectText(region(page, 'Position'), 'No position yet')
    expect(asked.filter(url => /land-10m/.test(url))).toEqual([])
    const fine = page.waitForResponse(/land-10m/)
    await write(server(), near, { values: [{ key: '$geo', value: [23.5, 59.8] }] })
    expect((await fine).status()).toBe(200)
    expect(asked.some(url => /land-110m/.test(url))).toBe(true)
  })

  it('moves the position with a write of $geo', async () => {
    const thing = await createNamedThing(server(), 'drifter')
    const page = await open(thing)
    await expectText(region(page, 'Position'), 'No position yet')
    await write(server(), thing, { values: [{ key: '$geo', value: [23.5, 60.25] }] })
    await expectText(region(page, 'Position'), /60\.25000° N,? 23\.50000° E/)
    await publish(thing, { values: [{ key: '$geo', value: [23.75, 60.25] }] })
    await expectText(region(page, 'Position'), /23\.75000° E/)
    await expectText(region(page, 'Position'), '2 positions')
  })

  it('brings a change of the settings to who is subscribed to them', async () => {
    const thing = await createNamedThing(server(), 'settings')
    await write(server(), thing, { values: [{ key: '$settings', value: { alarm: { depth: 3 } } }] })
    const { inbox } = await mosquittoSub('mqttv311').subscribe(server(), {
      filters: [`things/${thing.thingToken}/values/$settings`],
      qos: 1,
      username: thing.thingToken,
    })
    const page = await open(thing)
    const settings = region(page, 'Settings')
    await settings.getByRole('textbox', { name: 'depth' }).fill('4.5')
    await settings.getByRole('button', { name: 'Save' }).click()
    await inbox.until(({ payload }) => payload.includes('"alarm":{"depth":4.5}'))
  })

  it('shows a refused write of either door with its reason as it happens', async () => {
    const thing = await createNamedThing(server(), 'refused')
    const page = await open(thing)
    const refused = region(page, 'Refused writes')
    await expectText(refused, 'None')
    await write(server(), thing, { values: [{ key: 'no spaces', value: 1 }] })
    await expectText(refused, /over HTTP: invalid_key/)
    await publish(thing, { values: [{ key: 'depth', value: 1, datetime: '20250230000000' }] })
    await expectText(refused, /over MQTT: invalid_datetime.*over HTTP: invalid_key/)
  })

  it('says that the thing is no more once it is deleted, with a way back to the list', async () => {
    const thing = await createNamedThing(server(), 'short-lived')
    await write(server(), thing, { values: [{ key: 'depth', value: 1 }] })
    // Its chart may ask for new intervals before the page knows.
    const expectedErrors = /status of 404/
    const page = await browser.open(`${server().url}/#/things/${thing.thingId}`, { expectedErrors })
    await page.clock.install()
    await signIn(page, await createSession(server(), '*', 'read'))
    await chart(page, 'depth').waitFor()
    await ask(server(), 'DELETE', `/v2/admin/things/${thing.thingId}`)
    await page.clock.fastForward(10_000)
    await page.getByText('There is no such thing any more.').waitFor()
    expect(await chart(page, 'depth').count()).toBe(0)
    await page.getByRole('link', { name: 'Back to the list' }).click()
    await expectText(title(page), 'Things')
  })

  it('has no refused writes for a session that only reads', async () => {
    const thing = await createNamedThing(server(), 'read only')
    const page = await browser.open(`${server().url}/#/things/${thing.thingId}`)
    await signIn(page, await createSession(server(), [thing.thingId], 'read'))
    await expectText(title(page), 'read only')
    await region(page, 'Readings').waitFor()
    expect(await region(page, 'Refused writes').count()).toBe(0)
  })
})
