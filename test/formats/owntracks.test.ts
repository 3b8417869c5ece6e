import { describe, expect, it } from 'vitest'
import { owntracks } from '../../src/formats/owntracks.ts'
import { play, postTo, testHostileInput, testSamples } from './play.ts'
import samples from './samples/owntracks.json' with { type: 'json' }

const location = { _type: 'location', lat: 48.85, lon: 2.29, tst: 1_700_000_000 }
const topic = 'owntracks/jane/phone'

describe('owntracks', () => {
  testSamples(owntracks, samples)
  testHostileInput(owntracks, topic, samples)

  it.each([
    ['owntracks/jane/phone', 'form'],
    ['owntracks/jane/phone/event', 'form'],
    ['owntracks/jane', undefined],
    ['owntracks/jane//event', undefined],
    ['owntracks/jane/phone/event/more', undefined],
    ['home/owntracks/jane/phone', undefined],
  ])('knows(%j) is %j', (name, known) => {
    expect(owntracks.begin().knows(name)).toBe(known)
  })

  it.each([
    [
      'the query',
      { query: { u: 'jane', d: 'tablet' }, headers: { 'x-limit-d': 'phone' } },
      { topic },
      'jane/tablet',
    ],
    ['the headers', { headers: { 'x-limit-u': 'jane', 'x-limit-d': 'tablet' } }, { topic }, 'jane/tablet'],
    ['the topic', {}, { topic: `${topic}/event`, tid: 'JP' }, 'jane/phone'],
    ['the user and the tracker id', { headers: { 'x-limit-u': 'jane' } }, { tid: 'JP' }, 'jane/JP'],
    ['the tracker id', {}, { tid: 'JP' }, 'JP'],
  ])('readPost() · takes the device of %s', (_place, post, members, device) => {
    const { records } = play(owntracks, [{ post, payload: { ...location, ...members } }])
    expect([...records.keys()]).toEqual([device])
  })

  it.each([
    ['no device', location, undefined, ''],
    ['an unknown type', { ...location, tid: 'JP', _type: 'msg' }, 'JP', '_type'],
    ['a latitude out of range', { ...location, tid: 'JP', lat: 91 }, 'JP', 'lat'],
  ])('readPost() · names %s', (_what, payload, device, place) => {
    const reason = expect.any(String)
    expect(play(owntracks, [{ post: {}, payload }]).unread).toEqual([{ device, place, reason }])
  })

  it('readPost() · leaves other bodies to other formats', () => {
    for (const body of [null, [], {}, { _type: 1 }, { end_device_ids: {} }, { deviceInfo: {} }]) {
      expect(postTo(owntracks, body)).toBeUndefined()
    }
  })

  it.each([
    ['text', 'must be a JSON object with _type, but it is not JSON'],
    ['[]', 'must be a JSON object with _type, but it is an array'],
  ])('read() · names a payload of %j', (payload, reason) => {
    expect(play(owntracks, [{ topic, payload }]).unread).toEqual([{ place: '', reason }])
  })

  it('describes a key from its first number on, and each change once', () => {
    const reader = owntracks.begin()
    const read = (members: object) => {
      const payload = Buffer.from(JSON.stringify({ ...location, ...members }))
      const outcome = reader.read({ topic, payload, receivedAt: 0 })
      for (const [name, fact] of outcome.facts ?? []) reader.learn(name, fact)
      return outcome.described ?? []
    }
    expect(read({ batt: 'low' })).toEqual([])
    expect(read({ batt: 50 })).toEqual(['jane/phone'])
    expect(read({ batt: 49 })).toEqual([])
    expect(read({ batt: 49, vel: 3 })).toEqual(['jane/phone'])
    expect(reader.describe('jane/phone')).toEqual({
      resources: { batt: { unit: '%' }, vel: { unit: 'km/h' } },
    })
  })
})
