import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/formats/format.ts'
import { homeAssistant } from '../../src/formats/homeassistant/homeassistant.ts'
import { announced, plug, pulse } from './announced.ts'
import { play, testHostileInput, testSamples } from './play.ts'
import type { Sample } from './samples.ts'

const samples: readonly Sample[] = JSON.parse(
  readFileSync(new URL('samples/homeassistant.json', import.meta.url), 'utf8'),
)
const recordsOf = (...messages: Parameters<typeof announced>) =>
  Object.fromEntries(
    [...play(homeAssistant, announced(...messages)).records].map(([device, records]) => [
      device,
      Object.fromEntries(records.map(({ key, value }) => [key, value])),
    ]),
  )

describe('homeassistant, by the messages of devices', () => {
  testSamples(homeAssistant, samples)
  testHostileInput(homeAssistant, 'homeassistant/sensor/probe/config', samples)
})

describe('homeassistant', () => {
  it.each([
    ['homeassistant/sensor/plug/config', 'form'],
    ['homeassistant/sensor/node/plug/config', 'form'],
    ['homeassistant/sensor/switch/plug/config', 'form'],
    ['homeassistant/device/plug/config', 'form'],
    ['homeassistant/light/plug/config', 'form'],
    ['house/ha/sensor/plug/config', 'form'],
    ['sensor/plug/config', undefined],
    ['homeassistant/sensor/config', undefined],
    ['homeassistant/sensor/plug/state', undefined],
    ['tasmota/discovery/2462ABC0FFEE/config', undefined],
    ['plug/state', 'fact'],
    ['a/b/cells', 'fact'],
    ['a/cells', undefined],
    ['a/b/c/cells', undefined],
  ])('knows %s by %s', (topic, known) => {
    const reader = homeAssistant.begin()
    for (const state_topic of ['plug/state', '+/+/cells']) {
      const payload = Buffer.from(JSON.stringify({ state_topic }))
      const { facts } = reader.read({
        topic: `homeassistant/sensor/${state_topic.length}/config`,
        payload,
        receivedAt: 0,
      })
      for (const [name, fact] of facts ?? []) reader.learn(name, fact)
    }
    expect(reader.knows(topic)).toBe(known)
  })

  it('reads each component of a device, and the members that all share', () => {
    const { records, unread, describe } = play(
      homeAssistant,
      announced(
        {
          'device/0AFFD2': {
            '~': 'bedroom',
            dev: { ids: 'ea334450945afc', name: 'Bedroom' },
            o: { name: 'bla2mqtt' },
            stat_t: '~/state',
            cmps: {
              t1: {
                p: 'sensor',
                val_tpl: '{{ value_json.temperature | round(1) }}',
                unit_of_meas: '°C',
                dev_cla: 'temperature',
                name: null,
              },
              h1: {
                p: 'sensor',
                val_tpl: '{{ value_json.humidity }}',
                unit_of_meas: '%',
                name: 'Bedroom Humidity',
                en: false,
              },
              heater: { p: 'switch', stat_t: 'heater/~', pl_on: 1, pl_off: 0 },
              rgb: { p: 'sensor', val_tpl: '{{ value_json.r }},{{ value_json.g }}' },
              lamp: { p: 'light' },
              removed: { p: 'sensor' },
            },
          },
        },
        { 'bedroom/state': { temperature: 21.34, humidity: 50 }, 'heater/bedroom': '1' },
      ),
    )
    expect(records.get('ea334450945afc')).toEqual([
      { key: 'temperature', value: 21.34 },
      { key: 'humidity', value: 50 },
      { key: 'heater', value: true },
    ])
    expect(describe('ea334450945afc')).toEqual({
      alias: 'ea334450945afc',
      name: 'Bedroom',
      resources: {
        temperature: { name: 'Bedroom', unit: '°C', kind: 'temperature', decimals: 1 },
        humidity: { name: 'Humidity', unit: '%', hidden: true },
        heater: {},
      },
    })
    expect(unread).toEqual([
      {
        place: 'components.rgb.value_template',
        reason: 'must be a template that reads one member, but it reads several, such as r and g',
      },
    ])
  })

  it.each<[string, unknown, unknown, unknown]>([
    ['a text in JSON with a unit', { ...pulse }, { power: '12.5' }, { plug: { power: 12.5 } }],
    [
      'a text in JSON without a unit',
      { ...pulse, unit_of_measurement: undefined },
      { power: '0012' },
      { plug: { power: '0012' } },
    ],
    ['null', pulse, { power: null }, {}],
    ['a member that is not there', pulse, { voltage: 230 }, {}],
    [
      'a member that every object has',
      { ...pulse, value_template: '{{ value_json.constructor.name }}' },
      {},
      {},
    ],
    [
      'the length of a text',
      { ...pulse, value_template: '{{ value_json.state.length }}' },
      { state: 'ON' },
      {},
    ],
    ['an object', pulse, { power: { a: 1, b: { c: 2 } } }, { plug: { 'power.a': 1, 'power.b.c': 2 } }],
    ['an array', pulse, { power: [1, 2] }, { plug: { power: [1, 2] } }],
    [
      'an index beyond the end',
      { ...pulse, value_template: '{{ value_json.power[2] }}' },
      { power: [1, 2] },
      {},
    ],
    ['unavailable', pulse, 'unavailable', {}],
    ['a bare value', { ...pulse, value_template: undefined }, '+3', { plug: { power: 3 } }],
    [
      '`value` beside others',
      { ...pulse, value_template: '{{ value_json.value }}' },
      { value: 3, time: 1 },
      { plug: { power: 3 } },
    ],
  ])('reads %s', (_, config, state, records) => {
    expect(recordsOf({ 'sensor/plug_power': config }, { 'plug/state': state })).toEqual(records)
  })

  it.each<[string, Record<string, unknown>, unknown, unknown]>([
    ['ON', {}, 'ON', true],
    ['OFF', {}, 'OFF', false],
    ['another payload', { payload_on: 'open', payload_off: 'closed' }, 'closed', false],
    ['a number', { payload_on: '0', payload_off: '1' }, '0', true],
    [
      'the state before the command',
      { payload_on: 'x', payload_off: 'y', state_on: 'up', state_off: 'down' },
      'up',
      true,
    ],
    [
      'a boolean',
      { payload_on: true, payload_off: false, value_template: '{{ value_json.x }}' },
      { x: true },
      true,
    ],
    [
      'a boolean that is the other way round',
      { payload_on: false, payload_off: true, value_template: '{{ value_json.x }}' },
      { x: true },
      false,
    ],
    ['a boolean where texts are expected', { value_template: '{{ value_json.x }}' }, { x: true }, true],
    ['a text that is neither', {}, 'TOGGLE', 'TOGGLE'],
  ])('reads the state of a switch: %s', (_, members, state, value) => {
    const config = { state_topic: 'plug/state', device: plug, ...members }
    const [reading] = Object.values(recordsOf({ 'switch/relay': config }, { 'plug/state': state }))
    expect(Object.values(reading ?? {})).toEqual([value])
  })

  it('gives a select and a text what the device sent', () => {
    const entity = (state_topic: string) => ({ state_topic, device: plug })
    expect(
      recordsOf({ 'select/mode': entity('mode'), 'text/code': entity('code') }, { mode: '1', code: '0012' }),
    ).toEqual({ plug: { mode: '1', code: '0012' } })
  })

  it('gives two members of a device that have the same name different keys, which stay', () => {
    const relay = (id: number) => ({ ...pulse, state_topic: `plug/status/switch:${id}` })
    const configs = { 'sensor/plug_0_power': relay(0), 'sensor/plug_1_power': relay(1) }
    const { records } = play(homeAssistant, [
      ...announced(configs),
      ...announced(configs, { 'plug/status/switch:1': { power: 2 }, 'plug/status/switch:0': { power: 1 } }),
    ])
    expect(records.get('plug')).toEqual([
      { key: '1_power', value: 2 },
      { key: 'power', value: 1 },
    ])
  })

  it('keeps the key of an entity whose topic changes with the name of its device', () => {
    const named = (name: string) => ({
      'sensor/0x01/power': { ...pulse, state_topic: `zigbee2mqtt/${name}` },
      'number/0x01/power': { ...pulse, state_topic: `zigbee2mqtt/${name}` },
    })
    const { records } = play(homeAssistant, [
      ...announced(named('before')),
      ...announced(named('after'), { 'zigbee2mqtt/before': { power: 1 }, 'zigbee2mqtt/after': { power: 2 } }),
    ])
    expect(records.get('plug')).toEqual([{ key: 'power', value: 2 }])
  })

  it('notes a device whose last entity is emptied as gone, and reads it no longer', () => {
    const reader = homeAssistant.begin()
    const send = (topic: string, payload: string): Outcome => {
      const outcome = reader.read({ topic, payload: Buffer.from(payload), receivedAt: 0 })
      for (const [name, fact] of outcome.facts ?? []) reader.learn(name, fact)
      return outcome
    }
    const [one, two] = ['homeassistant/sensor/one/config', 'homeassistant/sensor/two/config']
    const config = JSON.stringify(pulse)
    const cases: [string, string, Partial<Outcome>][] = [
      [one, '', {}],
      [one, config, { described: ['plug'], gone: [] }],
      [two, config, { described: ['plug'], gone: [] }],
      [two, config, {}],
      [one, '{"migrate_discovery":true}', {}],
      [one, '', { facts: new Map([[one, null]]), described: ['plug'], gone: [] }],
      [two, '', { facts: new Map([[two, null]]), described: [], gone: ['plug'] }],
    ]
    for (const [topic, payload, expected] of cases) {
      const { readings, unread = [], ...outcome } = send(topic, payload)
      expect([readings, unread]).toEqual([[], []])
      expect(outcome).toMatchObject(expected)
      if (!expected.gone) expect(outcome).toEqual({})
    }
    expect(reader.knows('plug/state')).toBeUndefined()
    expect(reader.describe('plug')).toBeUndefined()
  })

  it.each([
    'homeassistant/switch//config',
    'homeassistant/switch//pump/config',
    'homeassistant/switch/pump//config',
  ])('takes no announcement on %s, which names nothing', topic => {
    expect(homeAssistant.begin().knows(topic)).toBeUndefined()
  })

  it('names a device by its identifiers, else by an address, else by the topic', () => {
    const device = (device: unknown) => ({ ...pulse, device })
    expect(
      Object.keys(
        recordsOf(
          {
            'sensor/a': device({ ids: [7, 'other'] }),
            'sensor/b': device({
              cns: [
                ['serial', 's'],
                ['mac', 'AA:BB'],
              ],
            }),
            'sensor/node/c': device({}),
            'sensor/d': device(undefined),
          },
          { 'plug/state': { power: 1 } },
        ),
      ),
    ).toEqual(['7', 'AA:BB', 'node', 'd'])
  })

  it.each<[string, unknown, string, string]>([
    ['not JSON', '{', '', 'must be a JSON object, but it is not JSON'],
    ['a list', [], '', 'must be a JSON object, but it is an array'],
    [
      'a wildcard',
      { ...pulse, state_topic: 'a/#' },
      'state_topic',
      'must be a topic, in which + may stand for at most three levels in front, but it is another filter',
    ],
    [
      'the clock',
      { ...pulse, value_template: '{{ now() }}' },
      'value_template',
      'must be a template that reads the message alone, but it reads the clock or states of Home Assistant',
    ],
    [
      'no member',
      { ...pulse, value_template: '{{ 1 }}' },
      'value_template',
      'must be a template that reads one member, but it reads none by name',
    ],
    [
      'a template that is no text',
      { ...pulse, value_template: 7 },
      'value_template',
      'must be a template that reads one member, but it reads none by name',
    ],
    [
      'a long template',
      { ...pulse, value_template: `{{ value }}${' '.repeat(1_024)}` },
      'value_template',
      'must be at most 1024 characters, but it is 1035',
    ],
  ])('names %s in a discovery message as unread', (_, config, place, reason) => {
    expect(play(homeAssistant, announced({ 'sensor/x': config })).unread).toEqual([{ place, reason }])
  })

  it.each<[string, unknown, unknown, string]>([
    ['no JSON', pulse, 'on', 'must be a JSON object, but it is not JSON'],
    ['a number', pulse, '7', 'must be a JSON object, but it is a number'],
    [
      'an object for a bare value',
      { ...pulse, value_template: undefined },
      { power: 1 },
      'must be one value, since the discovery message names no member, but it is an object',
    ],
  ])('names a state as unread: %s', (_, config, state, reason) => {
    expect(play(homeAssistant, announced({ 'sensor/x': config }, { 'plug/state': state })).unread).toEqual([
      { place: '', reason },
    ])
  })

  it('takes what there is room for of a device with too many entities, and names the rest', () => {
    const cmps = Object.fromEntries(
      Array.from({ length: 1_001 }, (_, at) => [
        `c${at}`,
        { p: 'sensor', val_tpl: `{{ value_json.c${at} }}` },
      ]),
    )
    const { unread, describe, records } = play(
      homeAssistant,
      announced(
        { 'device/pack': { dev: plug, stat_t: 'plug/state', cmps }, 'sensor/more': pulse },
        { 'plug/state': { c0: 1, c999: 2, c1000: 3, power: 4 } },
      ),
    )
    expect(Object.keys(describe('plug')?.resources ?? {})).toHaveLength(1_000)
    expect(records.get('plug')).toEqual([
      { key: 'c0', value: 1 },
      { key: 'c999', value: 2 },
    ])
    expect(unread).toEqual([
      { place: 'components', reason: 'must be at most 1000, but they are 1001' },
      {
        place: '',
        reason: 'must be at most 0 entities more (1000 of a device, 20000 of a source), but it is 1',
      },
    ])
  })
})
