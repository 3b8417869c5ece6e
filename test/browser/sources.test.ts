import { expect, it } from 'vitest'
import { runCommand } from '../cli/command.ts'
import { installedPub, mosquittoVersion } from '../clients/mosquitto.ts'
import { Program } from '../clients/program.ts'
import { serverOfTest } from '../helpers/of-test.ts'
import { TestBrowser } from './browser.ts'
import { chart, expectText, signIn, title } from './dashboard.ts'

const browser = new TestBrowser()

/** An announcement is retained. */
const announce = (topic: string, payload: object) => ['-r', '-t', topic, '-m', JSON.stringify(payload)]
const send = (topic: string, payload: object | number) => ['-t', topic, '-m', JSON.stringify(payload)]

/** What each device publishes, as arguments of mosquitto_pub, and one resource of its thing as the page shows it. */
const devices = [
  {
    ...{ thing: 'Plug', resource: 'ENERGY.Power', value: '12.5 W' },
    publishes: [
      announce('tasmota/discovery/2462ABC0FFEE/config', {
        ...{ dn: 'Plug', mac: '2462ABC0FFEE', t: 'plug' },
        ...{ ft: '%prefix%/%topic%/', tp: ['cmnd', 'stat', 'tele'] },
      }),
      send('tele/plug/SENSOR', { Time: '2026-11-21T09:30:00', ENERGY: { Power: 12.5, Voltage: 227 } }),
    ],
  },
  {
    ...{ thing: 'garden', resource: 'Temperature', value: '21.5 °C' },
    publishes: [
      announce('zigbee2mqtt/bridge/devices', [
        {
          ...{ ieee_address: '0x0017880104e45522', friendly_name: 'garden' },
          definition: {
            exposes: [{ type: 'numeric', property: 'temperature', label: 'Temperature', unit: '°C' }],
          },
        },
      ]),
      send('zigbee2mqtt/garden', { temperature: 21.5, linkquality: 81 }),
    ],
  },
  {
    ...{ thing: 'cellar', resource: 'Humidity', value: '61.5 %' },
    publishes: [
      announce('homeassistant/sensor/cellar/humidity/config', {
        ...{ name: 'Humidity', dev_cla: 'humidity', unit_of_meas: '%', uniq_id: 'ESPsensorhumidity' },
        ...{ stat_t: 'cellar/sensor/humidity/state', dev: { ids: '6055f97b55e0', name: 'cellar' } },
      }),
      send('cellar/sensor/humidity/state', 61.5),
    ],
  },
  {
    ...{ thing: 'shellyplus1pm-441793d69718', resource: 'switch_0.apower', value: '8.9 W' },
    publishes: [send('shellyplus1pm-441793d69718/status/switch:0', { id: 0, output: true, apower: 8.9 })],
  },
]

it.each([4, 5] as const)(
  'an open page shows the devices that have what one command prints (MQTT version %i)',
  async version => {
    const server = await serverOfTest({ environment: { THINGWIRE_HOST: '0.0.0.0' } })
    const page = await browser.open(`${server.url}/#/operator`)
    await signIn(page, server.adminKey)
    await page.getByText('No sources.').waitFor()
    await page.getByText('No things yet.').waitFor()

    const { stdout } = await runCommand(['sources', 'add', 'house'], { server })
    const printed = (entry: string) => new RegExp(`^ +${entry} +(\\S+)$`, 'm').exec(stdout)?.[1] ?? ''
    const broker = ['-h', printed('host'), '-p', printed('port')]
    const login = ['-u', printed('user'), '-P', printed('password')]
    for (const published of devices.flatMap(({ publishes }) => publishes)) {
      const args = [...broker, ...login, '-V', mosquittoVersion(version), '-q', '1', ...published]
      expect(await new Program(installedPub, args).exited).toMatchObject({ code: 0, output: '' })
    }

    await page.getByText('4 things').waitFor()
    for (const { thing, resource, value } of devices) {
      await page.getByRole('link', { name: thing, exact: true }).click()
      await expectText(title(page), thing)
      await page.getByRole('row').getByRole('button', { name: resource }).click()
      await expectText(page.locator('.selected-resource .latest'), value)
      const points = expect.poll(() => chart(page, resource).getAttribute('aria-label'))
      await points.toMatch(new RegExp(`: 1 point, .* last ${value}$`))
      await page.getByRole('link', { name: 'Operator' }).click()
    }
  },
)
