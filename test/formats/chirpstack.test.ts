import { describe, expect, it } from 'vitest'
import { chirpstack } from '../../src/formats/chirpstack.ts'
import { play, postTo, testHostileInput, testSamples } from './play.ts'
import samples from './samples/chirpstack.json' with { type: 'json' }

const devEui = '0102030405060708'
const deviceInfo = { devEui, deviceName: 'cellar' }
const topic = `application/1/device/${devEui}/event/up`

describe('chirpstack', () => {
  testSamples(chirpstack, samples)
  testHostileInput(chirpstack, topic, samples)

  it.each([
    [topic, 'form'],
    [`application/1/device/${devEui}/rx`, 'form'],
    [`application/1/device/${devEui}/command/down`, undefined],
    [`application/1/device//event/up`, undefined],
    [`eu868/gateway/${devEui}/event/up`, undefined],
  ])('knows(%j) is %j', (name, known) => {
    expect(chirpstack.begin().knows(name)).toBe(known)
  })

  it.each([
    [
      'on battery',
      { batteryLevel: 88.3, externalPowerSource: false },
      { batteryLevel: 88.3, externalPowerSource: false },
    ],
    ['without a level', { batteryLevel: 0, batteryLevelUnavailable: true }, {}],
    ['on external power', { batteryLevel: 0, externalPowerSource: true }, { externalPowerSource: true }],
  ])('reads the status of a device %s', (_power, status, values) => {
    const { records } = play(chirpstack, [
      { post: { query: { event: 'status' } }, payload: { deviceInfo, ...status } },
    ])
    const read = (records.get(devEui) ?? []).map(({ key, value }) => [key, value])
    expect(Object.fromEntries(read)).toEqual(values)
  })

  it('gives an uplink and its status, which have one id, two write ids', () => {
    const payload = { deduplicationId: '3ac7e3c4', deviceInfo, object: { level: 1 }, margin: 7 }
    const posts = ['up', 'status'].map(event => ({ post: { query: { event } }, payload }))
    const writeIds = play(chirpstack, posts).readings.map(reading => reading.writeId)
    expect(writeIds).toEqual(['3ac7e3c4', 'status:3ac7e3c4'])
  })

  it('keeps a reading of the codec apart from that of the status', () => {
    const { records } = play(chirpstack, [{ topic, payload: { deviceInfo, object: { batteryLevel: 3.6 } } }])
    expect(records.get(devEui)).toEqual([{ key: 'object.batteryLevel', value: 3.6 }])
  })

  it.each([
    ['a version 4 DevEUI', { deviceInfo: { devEui: 'A8404187D187106E' } }, 'a8404187d187106e'],
    ['a version 3 DevEUI', { devEUI: '70b3d5705000bf80' }, '70b3d5705000bf80'],
    ['base64', { devEUI: 'AgICAgICAgI=' }, '0202020202020202'],
    ['no DevEUI in the body', {}, devEui],
  ])('names the device by %s', (_form, body, device) => {
    const { records } = play(chirpstack, [{ topic, payload: { ...body, object: { level: 1 } } }])
    expect([...records.keys()]).toEqual([device])
  })

  it('leaves out a time in 1970, which is that of a clock that was never set', () => {
    const payload = { deviceInfo, time: '1970-01-01T00:00:12+00:00', object: { level: 1 } }
    expect(play(chirpstack, [{ topic, payload }]).records.get(devEui)).toEqual([{ key: 'level', value: 1 }])
  })

  it.each([
    ['no event in the query', { deviceInfo }, {}, ''],
    ['a wrong DevEUI', { deviceInfo: { devEui: '01' } }, { event: 'up' }, 'deviceInfo.devEui'],
  ])('readPost() · names %s', (_what, payload, query, place) => {
    expect(play(chirpstack, [{ post: { query }, payload }]).unread).toMatchObject([{ place }])
  })

  it('readPost() · leaves other bodies to other formats', () => {
    for (const body of [null, [], {}, { deviceInfo: 1 }, { _type: 'location' }, { end_device_ids: {} }]) {
      expect(postTo(chirpstack, body)).toBeUndefined()
    }
  })

  it('read() · names a payload in Protobuf', () => {
    const reader = chirpstack.begin()
    const payload = Buffer.from('0a2433616337ff', 'hex')
    expect(reader.read({ topic, payload, receivedAt: 0 }).unread).toEqual([
      { place: '', reason: 'must be UTF-8, but it is not' },
    ])
  })
})
