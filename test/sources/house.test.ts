import { describe, expect, it } from 'vitest'
import { bridgeDevices, House } from './house.ts'

const plug = '0x00158d00018255df'
const button = '0x00158d0001825511'

describe.each([4, 5] as const)('a source over MQTT, version %i', protocolVersion => {
  it('stores what its devices publish, and relays it', async () => {
    const house = await House.open()
    const hub = await house.connect('hub', { protocolVersion })
    const heard: string[] = []
    hub.on('message', (topic, payload) => heard.push(`${topic} ${payload}`))
    await hub.subscribeAsync('#', { qos: 1 })
    const device = await house.connect('plug', { protocolVersion })
    const sensor = 'tele/plug/SENSOR'
    await device.publishAsync(sensor, '{"Time":"2026-01-01T00:00:00","ENERGY":{"Power":12}}', { qos: 1 })
    await device.publishAsync(sensor, '{"ENERGY":{"Power":13}}', { qos: 0 })
    await device.publishAsync('stat/plug/POWER', 'ON', { qos: 2 })
    await device.publishAsync('any/other', 'x', { qos: 1 })
    expect(await house.records()).toMatchObject({ plug: { 'ENERGY.Power': [12, 13], POWER: [true] } })
    await expect.poll(() => heard).toContain('any/other x')
    expect(heard).toHaveLength(4)
    expect(await house.errors()).toEqual([])
  })

  it('makes one thing of a device that reads before it is discovered, and describes it', async () => {
    const house = await House.open()
    const hub = await house.connect('hub', { protocolVersion })
    await hub.publishAsync('zigbee2mqtt/lamp', '{"power":1}', { qos: 1 })
    await hub.publishAsync('zigbee2mqtt/bridge/devices', bridgeDevices({ [plug]: 'lamp' }), { qos: 1 })
    await hub.publishAsync('zigbee2mqtt/lamp', '{"power":2}', { qos: 1 })
    expect(Object.keys(await house.records())).toEqual(['lamp'])
    expect((await house.records()).lamp?.power).toEqual([1, 2])
    await expect
      .poll(() => house.meta('lamp'))
      .toMatchObject({ power: { unit: 'W', discovered: expect.anything() } })
  })

  it('makes one thing of a device that is discovered first, describes it, and follows swapped names', async () => {
    const house = await House.open()
    const hub = await house.connect('hub', { protocolVersion })
    const devices = 'zigbee2mqtt/bridge/devices'
    await hub.publishAsync(devices, bridgeDevices({ [plug]: 'a', [button]: 'b' }), { qos: 1, retain: true })
    expect(await house.records()).toEqual({})
    await hub.publishAsync('zigbee2mqtt/a', '{"power":1}', { qos: 1 })
    await hub.publishAsync('zigbee2mqtt/b', '{"power":2}', { qos: 1 })
    await hub.publishAsync(devices, bridgeDevices({ [plug]: 'b', [button]: 'a' }), { qos: 1, retain: true })
    await hub.publishAsync('zigbee2mqtt/a', '{"power":3}', { qos: 1 })
    await hub.publishAsync('zigbee2mqtt/b', '{"power":4}', { qos: 1 })
    expect(await house.records()).toMatchObject({ a: { power: [1, 4] }, b: { power: [2, 3] } })
    await expect.poll(() => house.meta('a')).toMatchObject({ power: { unit: 'W' } })
  })

  it.each([
    ['its address', plug],
    ['a name', 'lamp'],
  ])(
    'makes one thing of a device by %s that its gateway also announces to Home Assistant, in any order',
    async (_, name) => {
      const orders = ['lcr', 'lrc', 'clr', 'crl', 'rlc', 'rcl']
      for (const order of orders) {
        const house = await House.open()
        const hub = await house.connect('hub', { protocolVersion })
        const publish = (topic: string, text: string) => hub.publishAsync(topic, text, { qos: 1 })
        const steps: Readonly<Record<string, (called: string, power: number) => Promise<unknown>>> = {
          l: called => publish('zigbee2mqtt/bridge/devices', bridgeDevices({ [plug]: called })),
          c: called => publish(`homeassistant/sensor/${plug}/power/config`, announced(called)),
          r: (called, power) => publish(`zigbee2mqtt/${called}`, `{"power":${power}}`),
        }
        for (const step of order) {
          await steps[step]?.(name, 1)
          if (step !== 'r') await steps.r?.(name, 2)
        }
        for (const step of order.replace('r', '')) await steps[step]?.('desk', 0)
        await steps.r?.('desk', 3)
        const records = Object.values(await house.records())
        expect([order, records.length, records[0]?.power?.at(-1)]).toEqual([order, 1, 3])
      }
    },
  )

  it('gives a thing that was made by a name to the device that had the name first', async () => {
    const house = await House.open()
    const hub = await house.connect('hub', { protocolVersion })
    await hub.publishAsync('zigbee2mqtt/a', '{"power":1}', { qos: 1 })
    await hub.publishAsync('zigbee2mqtt/b', '{"power":2}', { qos: 1 })
    const lists = [
      { [plug]: 'a', [button]: 'b' },
      { [plug]: 'b', [button]: 'a' },
    ]
    await Promise.all([
      ...lists.map(names => hub.publishAsync('zigbee2mqtt/bridge/devices', bridgeDevices(names), { qos: 1 })),
      hub.publishAsync('zigbee2mqtt/a', '{"power":3}', { qos: 1 }),
      hub.publishAsync('zigbee2mqtt/b', '{"power":4}', { qos: 1 }),
    ])
    expect(await house.records()).toMatchObject({ a: { power: [1, 4] }, b: { power: [2, 3] } })
  })

  it('knows after a restart what it was taught', async () => {
    const house = await House.open()
    const hub = await house.connect('hub', { protocolVersion })
    await hub.publishAsync('zigbee2mqtt/bridge/devices', bridgeDevices({ [plug]: 'a' }), { qos: 1 })
    await hub.endAsync()
    await house.restart()
    const again = await house.connect('hub', { protocolVersion })
    await again.publishAsync('zigbee2mqtt/a', '{"power":1}', { qos: 1 })
    expect(await house.records()).toMatchObject({ a: { power: [1] } })
    await expect.poll(() => house.meta('a')).toMatchObject({ power: { unit: 'W' } })
  })

  it('does not store again what retained messages repeat after a connect', async () => {
    const house = await House.open()
    const repeat = async (power: number) => {
      const hub = await house.connect('hub', { protocolVersion })
      for (let place = 0; place < 20; place++)
        await hub.publishAsync(`zigbee2mqtt/d${place}`, `{"power":${power}}`, { qos: 1, retain: true })
      await hub.endAsync()
    }
    await repeat(1)
    await repeat(1)
    await repeat(2)
    const records = await house.records()
    expect(Object.values(records).map(({ power }) => power)).toEqual(Array(20).fill([1, 2]))
  })

  it('takes a packet of a gateway that is larger than that of a thing, after CONNECT alone', async () => {
    const house = await House.open({ server: { maxPacketSize: 10_000 } })
    const hub = await house.connect('hub', { protocolVersion })
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, place) => [`0x${place}`, `d${place}`]))
    await hub.publishAsync('zigbee2mqtt/bridge/devices', bridgeDevices(many), { qos: 1 })
    await hub.publishAsync('zigbee2mqtt/d299', '{"power":1}', { qos: 1 })
    expect(await house.records()).toMatchObject({ d299: { power: [1] } })
  })

  it('refuses a packet over sourcePacketSize, and names that option', async () => {
    const house = await House.open({ server: { maxPacketSize: 10_000, sourcePacketSize: 20_000 } })
    const hub = await house.connect('hub', { protocolVersion })
    const closed = new Promise<void>(resolve => hub.once('close', () => resolve()))
    hub.publish('tele/plug/SENSOR', 'x'.repeat(20_000))
    await closed
    await expect.poll(() => house.errors()).toEqual([expect.stringContaining('over sourcePacketSize, 20000')])
  })

  it('lists what it cannot read with topic, place and reason, and takes the rest', async () => {
    const house = await House.open()
    const hub = await house.connect('hub', { protocolVersion })
    await hub.publishAsync('tele/plug/SENSOR', '{"Power":', { qos: 1 })
    await hub.publishAsync('tele/plug/SENSOR', '{"AM2301":{"Temperature":1e999,"Humidity":50}}', { qos: 1 })
    await hub.publishAsync('tele/plug/SENSOR', '{"AM2301":{"Temperature":null,"Humidity":"nan"}}', { qos: 1 })
    const keys = (await house.records()).plug
    expect(keys).toMatchObject({ 'AM2301.Humidity': [50] })
    const errors = await house.errors()
    expect(errors).toHaveLength(2)
    expect(errors.join()).toContain('tele/plug/SENSOR')
  })

  it('publishes on its topics alone, and its will is read', async () => {
    const house = await House.open({}, { topics: ['tele/#'] })
    const will = { topic: 'tele/plug/LWT', payload: Buffer.from('Offline'), qos: 1, retain: true } as const
    const device = await house.connect('plug', { protocolVersion, will })
    await device.publishAsync('tele/plug/LWT', 'Online', { qos: 1, retain: true })
    device.stream.destroy()
    await expect.poll(async () => (await house.records()).plug).toMatchObject({ online: [true, false] })
    const other = await house.connect('other', { protocolVersion })
    await other.publishAsync('stat/plug/POWER', 'ON', { qos: 1 }).catch(() => {})
    expect(await house.errors()).toEqual([expect.stringContaining('not_a_write_topic')])
  })

  it('ends its connections when its password is changed; its devices keep their things, its clients their sessions', async () => {
    const house = await House.open()
    const session = { protocolVersion, clean: false, properties: { sessionExpiryInterval: 3_600 } } as const
    const hub = await house.connect('hub', session)
    await hub.subscribeAsync('cmnd/#', { qos: 1 })
    await hub.publishAsync('tele/plug/STATE', '{"POWER":"ON"}', { qos: 1 })
    const closed = new Promise<void>(resolve => hub.once('close', () => resolve()))
    await house.renewPassword()
    await closed
    await hub.endAsync(true)
    const other = await house.connect('other', { protocolVersion })
    await other.publishAsync('cmnd/plug/POWER', 'OFF', { qos: 1 })
    expect(await house.firstMessage('hub', session)).toBe('cmnd/plug/POWER')
    await other.publishAsync('tele/plug/STATE', '{"POWER":"OFF"}', { qos: 1 })
    expect(await house.records()).toMatchObject({ plug: { POWER: [true, false] } })
  })

  it('ends its connections when it is removed, and keeps things and records', async () => {
    const house = await House.open()
    const hub = await house.connect('hub', { protocolVersion })
    await hub.publishAsync('tele/plug/STATE', '{"POWER":"ON"}', { qos: 1 })
    const closed = new Promise<void>(resolve => hub.once('close', () => resolve()))
    await house.remove()
    await closed
    expect(await house.records()).toMatchObject({ plug: { POWER: [true] } })
  })
})

/** How Zigbee2MQTT announces a plug to Home Assistant. */
function announced(name: string): string {
  return JSON.stringify({
    ...{ device_class: 'power', unit_of_measurement: 'W', value_template: '{{ value_json.power }}' },
    ...{ state_topic: `zigbee2mqtt/${name}`, unique_id: `${plug}_power_zigbee2mqtt` },
    device: { identifiers: [`zigbee2mqtt_${plug}`], name },
  })
}
