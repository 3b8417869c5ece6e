import { describe, expect, it } from 'vitest'
import { type SourceReader, wholeOf } from '../../src/formats/format.ts'
import { zigbee2mqtt } from '../../src/formats/zigbee2mqtt.ts'
import { play, testSamples } from './play.ts'
import samples from './samples/zigbee2mqtt.json' with { type: 'json' }

const list = 'zigbee2mqtt/bridge/devices'
const state = { type: 'binary', property: 'state', access: 7, value_on: 'ON', value_off: 'OFF' }

function entry(address: string, name: string, exposes: readonly object[] = [state]) {
  return { ieee_address: address, friendly_name: name, definition: { exposes } }
}

function read(reader: SourceReader, topic: string, payload: unknown) {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
  return wholeOf(reader.read({ topic, payload: Buffer.from(text), receivedAt: 0 }))
}

/** A reader that has learned lists of devices, one after the other. */
function readerAfter(...lists: readonly (readonly object[])[]): SourceReader {
  const reader = zigbee2mqtt.begin()
  for (const devices of lists) {
    for (const [name, fact] of read(reader, list, devices).facts ?? []) reader.learn(name, fact)
  }
  return reader
}

describe('zigbee2mqtt', () => {
  testSamples(zigbee2mqtt, samples)

  it.each([
    [list, 'form'],
    ['home/zigbee/bridge/devices', 'form'],
    ['home/zigbee/bridge/state', undefined],
    ['zigbee2mqtt/lamp', 'form'],
    ['zigbee2mqtt', undefined],
    ['homeassistant/sensor/0x1/config', undefined],
    ['tele/plug/SENSOR', undefined],
    ['shellies/plug/relay/0', undefined],
  ])('knows(%j) is %j without a list', (topic, known) => {
    expect(zigbee2mqtt.begin().knows(topic)).toBe(known)
  })

  it.each([
    ['zigbee2mqtt/kitchen/lamp', 'fact'],
    ['zigbee2mqtt/kitchen/lamp/availability', 'fact'],
    ['zigbee2mqtt/kitchen/lamp/l1/set/state', 'fact'],
    ['zigbee2mqtt/kitchen', 'form'],
  ])('knows(%j) is %j after a list with kitchen/lamp', (topic, known) => {
    expect(readerAfter([entry('0x1', 'kitchen/lamp')]).knows(topic)).toBe(known)
  })

  it('knows another base after its list, and keeps names of two gateways apart', () => {
    const reader = zigbee2mqtt.begin()
    const payload = [{ type: 'Coordinator', ieee_address: '0x0', friendly_name: 'Coordinator' }]
    for (const [name, fact] of read(reader, 'home/zigbee/bridge/devices', payload).facts ?? []) {
      reader.learn(name, fact)
    }
    expect(reader.knows('home/zigbee/bridge/state')).toBe('form')
    const devices = ['home/zigbee/attic', 'zigbee2mqtt/attic'].map(
      topic => read(reader, topic, { state: 'ON' }).readings[0]?.device,
    )
    expect(devices).toEqual(['home/zigbee/attic', 'attic'])
  })

  it('goes by the newest list when two devices swap their names', () => {
    const reader = readerAfter([entry('0x1', 'a'), entry('0x2', 'b')], [entry('0x1', 'b'), entry('0x2', 'a')])
    const devices = ['a', 'b'].map(
      name => read(reader, `zigbee2mqtt/${name}`, { state: 'ON' }).readings[0]?.device,
    )
    expect(devices).toEqual(['0x2', '0x1'])
    expect([reader.describe('0x1')?.name, reader.describe('0x2')?.name]).toEqual(['b', 'a'])
  })

  it('says only what is new in a list, and which devices are gone', () => {
    const devices = [entry('0x1', 'a'), entry('0x2', 'b')]
    const reader = readerAfter(devices)
    expect(read(reader, list, devices).facts?.size).toBe(0)
    const { facts, described, gone } = read(reader, list, [entry('0x1', 'c')])
    expect([[...(facts?.keys() ?? [])], described, gone]).toEqual([
      ['device 0x1', 'device 0x2'],
      ['0x1'],
      ['0x2'],
    ])
    for (const [name, fact] of facts ?? []) reader.learn(name, fact)
    expect([reader.knows('zigbee2mqtt/b'), reader.describe('0x2')]).toEqual(['form', undefined])
  })

  it('teaches no number that JSON does not keep', () => {
    const text = JSON.stringify([entry('0x1', 'a', [{ ...state, value_on: 1 }])])
    const { facts } = read(zigbee2mqtt.begin(), list, text.replace('"value_on":1', '"value_on":1e999'))
    const taught = [...(facts?.values() ?? [])]
    expect(taught).toEqual(JSON.parse(JSON.stringify(taught)))
    expect(taught).toHaveLength(1)
  })

  it('gives descriptions that are not too long', () => {
    const expose = {
      type: 'numeric',
      property: 'power',
      label: 'x'.repeat(90),
      endpoint: 'y'.repeat(20),
      unit: 'u'.repeat(33),
    }
    expect(readerAfter([entry('0x1', 'a', [expose])]).describe('0x1')?.resources).toEqual({
      power: { name: `${'x'.repeat(90)} ${'y'.repeat(9)}` },
    })
  })

  it('leaves devices of another base alone', () => {
    const reader = readerAfter([entry('0x1', 'a')])
    expect(read(reader, 'other/bridge/devices', [entry('0x2', 'a')]).gone).toEqual([])
  })

  it.each([
    ['texts', { ...state, value_on: 'LOCK', value_off: 'UNLOCK' }, 'UNLOCK', false],
    ['numbers', { ...state, value_on: 1, value_off: 0 }, 1, true],
    ['a third text', state, 'TOGGLE', 'TOGGLE'],
    [
      'booleans of a contact sensor, which are not inverted',
      { ...state, value_on: false, value_off: true },
      true,
      true,
    ],
    ['a text of an enum', { type: 'enum', property: 'state', values: ['ON'] }, 'ON', 'ON'],
  ])('reads a state of %s', (_, expose, sent, value) => {
    const reader = readerAfter([entry('0x1', 'a', [expose])])
    expect(read(reader, 'zigbee2mqtt/a', { state: sent }).readings[0]?.records).toEqual([
      { key: 'state', value },
    ])
  })

  it('describes nested composites, and no member that is only set', () => {
    const leaf = (property: string, access = 1) => ({ type: 'numeric', property, access, label: property })
    const exposes = [
      { type: 'climate', features: [leaf('local_temperature'), leaf('boost', 2)] },
      {
        type: 'composite',
        property: 'schedule',
        features: [{ type: 'composite', property: 'day', features: [leaf('hour')] }],
      },
      { type: 'list', property: 'errors', access: 1, item_type: { type: 'text', name: 'error' } },
      leaf('__proto__'),
    ]
    const { resources } = readerAfter([entry('0x1', 'a', exposes)]).describe('0x1') ?? {}
    expect(Object.keys(resources ?? {})).toEqual(['local_temperature', 'schedule.day.hour'])
  })

  it.each([
    ['kitchen/lamp', { state: 'ON' }, 'kitchen/lamp'],
    ['kitchen/lamp/state', 'ON', 'kitchen/lamp'],
    ['kitchen/new', { state: 'ON' }, 'kitchen/new'],
  ])('separates a name with a slash from an attribute: %s', (path, payload, device) => {
    const reader = readerAfter([entry('0x1', 'kitchen')])
    expect(read(reader, `zigbee2mqtt/${path}`, payload).readings[0]?.device).toBe(device)
  })

  it.each([
    ['zigbee2mqtt/lamp', '21', 'must be a JSON object, but it is a number'],
    ['zigbee2mqtt/lamp', '{', 'must be a JSON object, but it is not JSON'],
    [list, '{"devices":[]}', 'must be a JSON array of devices, but it is an object'],
  ])('lists what it cannot read on %s: %s', (topic, payload, reason) => {
    expect(read(zigbee2mqtt.begin(), topic, payload)).toEqual({
      readings: [],
      unread: [{ place: '', reason }],
    })
  })

  it('takes the devices of a list that it can read, and names at most 20 of the others', () => {
    const broken = Array.from({ length: 30 }, (_, index) => ({ ieee_address: index }))
    const { described, unread } = read(zigbee2mqtt.begin(), list, [...broken, entry('0x1', 'a')])
    expect(described).toEqual(['0x1'])
    expect(unread?.length).toBe(20)
    expect(unread?.[3]).toEqual({
      place: '[3]',
      reason: 'must be an object with ieee_address and friendly_name',
    })
  })

  it('reads what was retained and emptied as nothing', () => {
    const messages = ['lamp', 'lamp/availability', 'bridge/devices'].map(path => `zigbee2mqtt/${path}`)
    expect(
      play(
        zigbee2mqtt,
        messages.map(topic => ({ topic, payload: '' })),
      ),
    ).toMatchObject({ unread: [] })
  })
})
