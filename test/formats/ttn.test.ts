import { describe, expect, it } from 'vitest'
import { ttn } from '../../src/formats/ttn.ts'
import { play, postTo, testHostileInput, testSamples } from './play.ts'
import samples from './samples/ttn.json' with { type: 'json' }

const ids = { device_id: 'dev1', application_ids: { application_id: 'app1' } }

/** The values of an uplink, by key. */
function valuesOf(uplink: object): Record<string, unknown> {
  const { records } = play(ttn, [{ post: {}, payload: { end_device_ids: ids, uplink_message: uplink } }])
  return Object.fromEntries(
    (records.get('app1/dev1') ?? []).map(({ key, value, geo }) => [key, geo ?? value]),
  )
}

describe('ttn', () => {
  testSamples(ttn, samples)
  testHostileInput(ttn, 'v3/app1@tenant1/devices/dev1/up', samples)

  it.each([
    ['v3/app1@tenant1/devices/dev1/up', 'form'],
    ['v3/app1/devices/dev1/up/normalized', 'form'],
    ['v3/app1/devices/dev1/location/solved', 'form'],
    ['v3/app1/devices/dev1/down/push', undefined],
    ['v3/app1/devices//up', undefined],
    ['v2/things/dev1/up', undefined],
  ])('knows(%j) is %j', (topic, known) => {
    expect(ttn.begin().knows(topic)).toBe(known)
  })

  it('takes the signal at the gateway that received the uplink best', () => {
    const rx_metadata = [
      { snr: 9 },
      { rssi: -90, snr: 5 },
      null,
      { rssi: -80, snr: -2 },
      { rssi: -85, snr: 7 },
    ]
    expect(valuesOf({ rx_metadata })).toEqual({ rssi: -80, snr: -2 })
    expect(valuesOf({ rx_metadata: [{ snr: 9 }] })).toEqual({ snr: 9 })
  })

  it('takes a location that a service has found before one that a person has entered', () => {
    const user = { latitude: 1, longitude: 2 }
    const found = { latitude: 3, longitude: 4 }
    expect(valuesOf({ locations: { user } })).toEqual({ $geo: { lat: 1, long: 2 } })
    expect(valuesOf({ locations: { user, 'frm-payload': found } })).toEqual({ $geo: { lat: 3, long: 4 } })
    expect(valuesOf({ locations: { user: { latitude: 91, longitude: 0 } } })).toEqual({})
  })

  it('keeps a reading of the codec apart from that of the gateway, whose unit it may not have', () => {
    const values = valuesOf({ decoded_payload: { rssi: 3, voltage: null }, rx_metadata: [{ rssi: -80 }] })
    expect(values).toEqual({ 'decoded_payload.rssi': 3, rssi: -80 })
  })

  it('reads one application apart from another, though both have a device of the same id', () => {
    const other = { ...ids, application_ids: { application_id: 'app2' } }
    const messages = [ids, other].map(end_device_ids => ({
      post: {},
      payload: { end_device_ids, uplink_message: { decoded_payload: { level: 1 } } },
    }))
    expect([...play(ttn, messages).records.keys()]).toEqual(['app1/dev1', 'app2/dev1'])
  })

  it('gives the events that follow from an uplink no write id: they share its correlation ids', () => {
    const correlation_ids = ['as:up:01E0WZGT6Y7657CPFPE5WEYDSQ']
    const location_solved = { location: { latitude: 1, longitude: 2 } }
    const payload = { end_device_ids: ids, correlation_ids, location_solved }
    expect(play(ttn, [{ post: {}, payload }]).readings.map(reading => reading.writeId)).toEqual([undefined])
  })

  it('readPost() · leaves other bodies to other formats', () => {
    for (const body of [
      null,
      [],
      {},
      { end_device_ids: 'dev1' },
      { _type: 'location' },
      { deviceInfo: {} },
    ]) {
      expect(postTo(ttn, body)).toBeUndefined()
    }
  })

  it('names a device without an id', () => {
    const { unread } = play(ttn, [{ post: {}, payload: { end_device_ids: { device_id: 1 } } }])
    expect(unread).toMatchObject([{ place: 'end_device_ids.device_id' }])
  })
})
