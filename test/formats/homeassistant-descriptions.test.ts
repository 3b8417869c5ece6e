import { describe, expect, it } from 'vitest'
import { homeAssistant } from '../../src/formats/homeassistant/homeassistant.ts'
import { announced, plug, pulse } from './announced.ts'
import { play } from './play.ts'

describe('homeassistant, descriptions', () => {
  it.each([
    ['total_increasing', true],
    ['total', undefined],
    ['measurement', undefined],
  ])('of the state class %s has total %j: a total that may fall is no counter', (state_class, total) => {
    const { describe } = play(homeAssistant, announced({ 'sensor/power': { ...pulse, state_class } }))
    expect(describe('plug')?.resources.power?.total).toBe(total)
  })

  it('describes a member by the entity that gives it as it is', () => {
    const scaled = {
      ...pulse,
      value_template: '{{ value_json.power / 1000 }}',
      unit_of_measurement: 'kW',
      name: 'Thousands',
    }
    for (const configs of [
      { 'sensor/scaled': scaled, 'sensor/power': pulse },
      { 'sensor/power': pulse, 'sensor/scaled': scaled },
    ]) {
      const { records, describe } = play(homeAssistant, announced(configs, { 'plug/state': { power: 1200 } }))
      expect(records.get('plug')).toEqual([{ key: 'power', value: 1200 }])
      // The first announcement may have been written as a description before the second one came.
      expect(describe('plug')?.resources).toEqual({ power: { unit: 'W', name: null } })
    }
  })

  it('describes a member by the entity that gives it as it is, by its own name', () => {
    const fahrenheit = {
      ...pulse,
      value_template: '{{ value_json.t }}',
      unit_of_measurement: '°F',
      name: 'TF',
    }
    const celsius = {
      ...fahrenheit,
      value_template: '{{ ((value_json.t - 32) * 5 / 9)|round(1) }}',
      unit_of_measurement: '°C',
      name: 'TC',
    }
    for (const configs of [
      { 'sensor/tc': celsius, 'sensor/tf': fahrenheit },
      { 'sensor/tf': fahrenheit, 'sensor/tc': celsius },
    ]) {
      expect(play(homeAssistant, announced(configs)).describe('plug')?.resources).toEqual({
        t: { name: 'TF', unit: '°F' },
      })
    }
  })

  it('cuts a name that is too long for a description, and leaves out a unit and a kind that are', () => {
    const { unread, describe } = play(
      homeAssistant,
      announced({
        'device/plug': {
          dev: plug,
          stat_t: 'plug/state',
          cmps: {
            p: {
              p: 'sensor',
              val_tpl: '{{ value_json.power }}',
              unit_of_meas: 'u'.repeat(33),
              dev_cla: 'k'.repeat(65),
              name: `${'x'.repeat(99)}😀`,
              sug_dsp_prc: 11,
            },
            v: {
              p: 'sensor',
              val_tpl: '{{ value_json.voltage }}',
              unit_of_meas: 'u'.repeat(32),
              dev_cla: 'k'.repeat(64),
              name: 'x'.repeat(250),
            },
            c: { p: 'sensor', val_tpl: '{{ value_json.current }}', name: 'Plug ' },
          },
        },
      }),
    )
    expect(describe('plug')?.resources).toEqual({
      power: { name: 'x'.repeat(99) },
      voltage: { name: 'x'.repeat(100), unit: 'u'.repeat(32), kind: 'k'.repeat(64) },
      current: { name: 'Plug ' },
    })
    expect(unread).toEqual([
      { place: 'components.p.unit_of_measurement', reason: 'must be at most 32 characters, but it is 33' },
      { place: 'components.p.device_class', reason: 'must be at most 64 characters, but it is 65' },
    ])
  })

  it('leaves out descriptions of keys that no description may have', () => {
    const { records, describe } = play(
      homeAssistant,
      announced(
        { 'sensor/x': { ...pulse, value_template: "{{ value_json['__proto__'] }}" } },
        { 'plug/state': '{"__proto__":3}' },
      ),
    )
    expect(records.get('plug')).toEqual([{ key: '__proto__', value: 3 }])
    expect(describe('plug')?.resources).toEqual({})
  })
})
