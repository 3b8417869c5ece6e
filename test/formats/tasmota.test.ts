import { describe, expect, it } from 'vitest'
import { tasmota } from '../../src/formats/tasmota.ts'
import { play, testSamples } from './play.ts'
import samples from './samples/tasmota.json' with { type: 'json' }

const config = {
  topic: 'tasmota/discovery/2462ABC0FFEE/config',
  payload: { dn: 'Plug', t: 'plug', ft: 'home/%topic%/%prefix%/', tp: ['cmnd', 'stat', 'tele'] },
}

/** A reader that has learned what the messages teach. */
function readerAfter(...messages: readonly { topic: string; payload: unknown }[]) {
  const reader = tasmota.begin()
  for (const { topic, payload } of messages) {
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
    const { facts } = reader.read({ topic, payload: Buffer.from(text), receivedAt: 0 })
    for (const [name, fact] of facts ?? []) reader.learn(name, fact)
  }
  return reader
}

function read(reader: ReturnType<typeof readerAfter>, topic: string, payload: string | Buffer) {
  return reader.read({ topic, payload: Buffer.from(payload), receivedAt: 0 })
}

describe('tasmota', () => {
  testSamples(tasmota, samples)

  it.each([
    ['tele/plug/SENSOR', 'form'],
    ['tele/zigbee/8F20/SENSOR', 'form'],
    ['stat/plug/POWER2', 'form'],
    ['home/plug/tele/LWT', 'form'],
    ['tasmota/discovery/2462ABC0FFEE/sensors', 'form'],
    ['tasmota/discovery/2462ABC0FFEE', undefined],
    ['cmnd/plug/POWER', undefined],
    ['tele//SENSOR', undefined],
    ['tele/SENSOR', undefined],
    ['tele/plug/anything', undefined],
    ['homeassistant/sensor/plug/config', undefined],
    ['zigbee2mqtt/plug', undefined],
    ['shellies/plug/relay/0', undefined],
  ])('knows(%j) is %j without discovery', (topic, known) => {
    expect(tasmota.begin().knows(topic)).toBe(known)
  })

  it.each([
    ['home/plug/tele/SENSOR', 'fact'],
    ['home/plug/stat/RESULT', 'fact'],
    ['home/plug/tele/8F20/SENSOR', 'fact'],
    ['home/plug/cmnd/POWER', undefined],
    ['home/other/tele/SENSOR', 'form'],
  ])('knows(%j) is %j after discovery of home/plug', (topic, known) => {
    expect(readerAfter(config).knows(topic)).toBe(known)
  })

  it.each([
    ['%prefix%/%topic%/', 'tele/plug/LWT', 'plug'],
    ['%topic%/%prefix%/', 'plug/tele/LWT', 'plug'],
    ['house//%topic%/%id%/%prefix%', 'house/plug/C0FFEE/tele/LWT', 'house/plug/C0FFEE'],
    ['%hostname%/%topic%/', 'plug-1234/plug/LWT', 'plug-1234/plug'],
  ])('expands the full topic %j to %j, of the alias %j', (ft, topic, alias) => {
    const reader = readerAfter({ ...config, payload: { ...config.payload, ft, hn: 'plug-1234' } })
    expect(read(reader, topic, 'Online').readings).toEqual([
      { device: '2462ABC0FFEE', alias, records: [{ key: 'online', value: true }] },
    ])
  })

  it('names a device by its topic as discovery will name it', () => {
    const [before] = read(tasmota.begin(), 'home/plug/tele/LWT', 'Online').readings
    const [after] = read(readerAfter(config), 'home/plug/tele/LWT', 'Online').readings
    expect(before?.device).toBe(after?.alias)
  })

  it('forgets the topics of a device that changes them', () => {
    const moved = readerAfter(config, { ...config, payload: { ...config.payload, t: 'lamp' } })
    expect([moved.knows('home/plug/tele/X'), moved.knows('home/lamp/tele/X')]).toEqual([undefined, 'fact'])
  })

  it('keeps the readings of a device whose discovery is emptied together, until it announces itself again', () => {
    const emptied = ['config', 'sensors'].map(part => ({
      topic: `tasmota/discovery/2462ABC0FFEE/${part}`,
      payload: '',
    }))
    expect(read(readerAfter(config), config.topic, '').gone).toEqual(['2462ABC0FFEE'])
    const reader = readerAfter(config, ...emptied)
    expect(reader.describe('2462ABC0FFEE')).toBeUndefined()
    const message = ['home/plug/tele/SENSOR', '{"ENERGY":{"Power":5}}'] as const
    const reading = {
      device: '2462ABC0FFEE',
      alias: 'home/plug',
      records: [{ key: 'ENERGY.Power', value: 5 }],
    }
    // A description would say that the device is there again.
    expect(read(reader, ...message)).toEqual({ readings: [reading] })
    expect(read(reader, 'tasmota/discovery/2462ABC0FFEE/sensors', '{"sn":{"ENERGY":{"Power":5}}}')).toEqual({
      readings: [],
    })
    const again = readerAfter(config, ...emptied, config)
    expect(again.describe('2462ABC0FFEE')?.name).toBe('Plug')
    expect(read(again, ...message)).toMatchObject({ readings: [reading], described: ['2462ABC0FFEE'] })
  })

  it('gives the topics of a device whose discovery is emptied to another one that announces them', () => {
    const emptied = { topic: config.topic, payload: '' }
    const other = { ...config, topic: 'tasmota/discovery/2462AB000001/config' }
    const deviceOf = (reader: ReturnType<typeof readerAfter>) =>
      read(reader, 'home/plug/tele/LWT', 'Online').readings[0]?.device
    const reader = readerAfter(config, emptied, other)
    expect(deviceOf(reader)).toBe('2462AB000001')
    const { facts } = read(readerAfter(config, emptied), other.topic, JSON.stringify(other.payload))
    expect([...(facts ?? [])].find(([name]) => name === 'config 2462ABC0FFEE')).toEqual([
      'config 2462ABC0FFEE',
      null,
    ])
  })

  it('cuts names of relays that are longer than a description takes', () => {
    const fn = ['x'.repeat(101), 'Fan']
    const reader = readerAfter({ ...config, payload: { ...config.payload, fn } })
    expect(reader.describe('2462ABC0FFEE')?.resources).toEqual({
      POWER1: { name: 'x'.repeat(100) },
      POWER2: { name: 'Fan' },
    })
  })

  it('teaches units once, and again when the device changes its unit', () => {
    const sensor = (unit: string) => `{"DHT11":{"Temperature":21},"TempUnit":"${unit}"}`
    const reader = readerAfter({ topic: 'tele/air/SENSOR', payload: sensor('C') })
    expect(read(reader, 'tele/air/SENSOR', sensor('C')).facts).toBeUndefined()
    const { facts, described } = read(reader, 'tele/air/SENSOR', sensor('F'))
    for (const [name, fact] of facts ?? []) reader.learn(name, fact)
    expect(described).toEqual(['air'])
    expect(reader.describe('air')?.resources['DHT11.Temperature']?.unit).toBe('°F')
  })

  it('gives no unit that the message does not name, and none to a text', () => {
    const { facts } = read(
      tasmota.begin(),
      'tele/air/SENSOR',
      '{"DHT11":{"Temperature":21},"TX23":{"Speed":{"Act":3}},"IRHVAC":{"Power":"On"},"TempUnit":"?"}',
    )
    expect(facts).toBeUndefined()
  })

  it.each([
    ['tele/plug/SENSOR', Buffer.of(0xff), 'must be UTF-8, but it is not'],
    ['tele/plug/SENSOR', '{"Power":', 'must be a JSON object, but it is not JSON'],
    ['tele/plug/STATE', '[1]', 'must be a JSON object, but it is an array'],
    [config.topic, '{"t":"plug"}', 'must be a JSON object with t, ft and tp, but it is an object'],
    [
      config.topic,
      '{"t":1,"ft":{},"tp":[{}]}',
      'must be a JSON object with t, ft and tp, but it is an object',
    ],
    ['tasmota/discovery/2462ABC0FFEE/sensors', '5', 'must be a JSON object, but it is a number'],
  ])('lists what it cannot read on %s', (topic, payload, reason) => {
    expect(read(tasmota.begin(), topic, payload)).toEqual({ readings: [], unread: [{ place: '', reason }] })
  })

  it.each(['', 'unavailable', '{}', 'null'])('reads nothing of an empty LWT or result: %j', payload => {
    const topics = ['tele/plug/LWT', 'stat/plug/RESULT']
    expect(
      play(
        tasmota,
        topics.map(topic => ({ topic, payload })),
      ).records.size,
    ).toBe(0)
  })
})
