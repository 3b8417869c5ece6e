import { describe, expect, it } from 'vitest'
import { shelly } from '../../src/formats/shelly.ts'
import { play, testSamples } from './play.ts'
import samples from './samples/shelly.json' with { type: 'json' }

const id = 'shellyplus1pm-441793d69718'
const notification = (params: object, src = id) =>
  JSON.stringify({ src, dst: `${src}/events`, method: 'NotifyStatus', params })

function read(topic: string, payload: string | Buffer) {
  return shelly.begin().read({ topic, payload: Buffer.from(payload), receivedAt: 0 })
}

describe('shelly', () => {
  testSamples(shelly, samples)

  it.each([
    [`${id}/events/rpc`, 'form'],
    ['home/kitchen/events/rpc', 'form'],
    [`${id}/status/switch:0`, 'form'],
    [`home/${id}/status/wifi`, 'form'],
    [`${id}/online`, 'form'],
    ['home/kitchen/status/switch:0', 'form'],
    ['shellies/announce', 'form'],
    ['shellies/shelly1-B929CC/relay/0', 'form'],
    ['home/kitchen/status/wifi', undefined],
    ['home/kitchen/online', undefined],
    [`${id}/rpc`, undefined],
    [`${id}/command/switch:0`, undefined],
    ['/events/rpc', undefined],
    ['zigbee2mqtt/lamp', undefined],
    ['tele/plug/SENSOR', undefined],
    ['homeassistant/sensor/plug/config', undefined],
  ])('knows(%j) is %j', (topic, known) => {
    expect(shelly.begin().knows(topic)).toBe(known)
  })

  it('learns a prefix from the first notification, and again from another device that takes it over', () => {
    const reader = shelly.begin()
    const learn = (src: string) => {
      const payload = Buffer.from(notification({ 'input:0': { state: true } }, src))
      const { facts } = reader.read({ topic: 'home/kitchen/events/rpc', payload, receivedAt: 0 })
      for (const [name, fact] of facts ?? []) reader.learn(name, fact)
      return facts?.size
    }
    expect([learn(id), learn(id), learn('shellyplus1-08b61fd141e8')]).toEqual([1, undefined, 1])
    expect(reader.knows('home/kitchen/status/wifi')).toBe('fact')
    const payload = Buffer.from('true')
    expect(reader.read({ topic: 'home/kitchen/online', payload, receivedAt: 0 }).readings).toEqual([
      {
        device: 'shellyplus1-08b61fd141e8',
        alias: 'home/kitchen',
        records: [{ key: 'online', value: true }],
      },
    ])
  })

  it.each([
    ['shellies/kitchen', 'kitchen'],
    ['home/kitchen', 'home/kitchen'],
    [`home/${id}`, undefined],
  ])('gives a device with the prefix %j the alias %j', (prefix, alias) => {
    const payload = notification({ 'input:0': { state: true } })
    expect(read(`${prefix}/events/rpc`, payload).readings[0]?.alias).toBe(alias)
  })

  it.each([
    [1631186545.04, '2021-09-09T11:22:25.040Z'],
    [5.01, undefined],
    ['1631186545', undefined],
    [1e300, undefined],
    [null, undefined],
  ])('takes ts %j as the time %j', (ts, datetime) => {
    const [reading] = read(`${id}/events/rpc`, notification({ ts, 'input:0': { state: true } })).readings
    expect(reading?.records[0]?.datetime).toBe(datetime)
  })

  it.each([
    ['shellies/shelly1-B929CC/relay/0', 'overpower', [{ key: 'relay.0', value: 'overpower' }]],
    ['shellies/shelly1-B929CC/ext_temperature/0', '999', []],
    ['shellies/shelly1-B929CC/relay/0/power', '999', [{ key: 'relay.0.power', value: 999 }]],
    ['shellies/shelly1-B929CC/settings', '{"mqtt":{"user":"house"}}', []],
    [
      'shellies/shellyht-F3A1B2/sensor/act_reasons',
      '["sensor"]',
      [{ key: 'sensor.act_reasons', value: ['sensor'] }],
    ],
    ['shellies/shellyht-F3A1B2/sensor/act_reasons', '[]', [{ key: 'sensor.act_reasons', value: [] }]],
    ['shellies/shelly1-B929CC/online', 'false', [{ key: 'online', value: false }]],
    ['shellies/shelly1-B929CC/input/0', '', []],
  ])('reads %s %j', (topic, payload, records) => {
    expect(read(topic, payload).readings.flatMap(reading => reading.records)).toEqual(records)
  })

  it.each([
    [`${id}/events/rpc`, Buffer.of(0xff), 'must be UTF-8, but it is not'],
    [`${id}/events/rpc`, '[]', 'must be an object with src and method, but it is an array'],
    [`${id}/events/rpc`, '{"src":"x"}', 'must be an object with src and method, but it is an object'],
    [`${id}/status/switch:0`, 'on', 'must be a JSON object, but it is not JSON'],
  ])('lists what it cannot read on %s', (topic, payload, reason) => {
    expect(read(topic, payload)).toEqual({ readings: [], unread: [{ place: '', reason }] })
  })

  it.each([
    [
      'the time of the notification, if that of the event is not certain',
      { ts: 1631266595.44, events: [{ component: 'input:0', event: 'long_push', ts: 5 }] },
      [{ key: 'input_0.event', value: 'long_push', datetime: '2021-09-10T09:36:35.440Z' }],
    ],
    [
      'no time, if none is certain',
      { events: [{ component: 'input:100', event: 'toggle', state: true }] },
      [{ key: 'input_100.event', value: 'toggle' }],
    ],
    [
      'the button of a Bluetooth device',
      { events: [{ component: 'bthomedevice:200', event: 'single_push', idx: 2 }] },
      [
        { key: 'bthomedevice_200.event', value: 'single_push' },
        { key: 'bthomedevice_200.idx', value: 2 },
      ],
    ],
    [
      'no event of firmware and configuration',
      {
        events: [
          { component: 'input:0', event: 'config_changed' },
          { component: 'sys', event: 'ota_begin' },
          { component: 'input:0' },
          null,
        ],
      },
      [],
    ],
    ['nothing of events that are no list', { events: {} }, []],
  ])('reads of events %s', (_, params, records) => {
    const payload = JSON.stringify({ src: id, dst: `${id}/events`, method: 'NotifyEvent', params })
    expect(read(`${id}/events/rpc`, payload).readings.flatMap(reading => reading.records)).toEqual(records)
  })

  it('reads no command and no answer', () => {
    const topics = ['shellies/command', 'shellies/kitchen/rpc', 'shellies/kitchen/color/0/set']
    expect(
      play(
        shelly,
        topics.map(topic => ({ topic, payload: '{"id":1,"on":true}' })),
      ).records.size,
    ).toBe(0)
  })
})
