import { describe, expect, it } from 'vitest'
import { LiveWrite, valuePayload } from '../../src/live/live-write.ts'
import { commitOf, recordOf } from './commits.ts'

const geo = { lat: 1.5, long: -2 }
const instant = '2026-01-02T00:00:00.000Z'

/** What its messages are about, but for that of the whole write. */
function keysOf(write: LiveWrite) {
  expect(write.keyAt(write.wholePlace)).toBe(undefined)
  return Array.from({ length: write.wholePlace }, (_, place) => write.keyAt(place))
}

describe('the messages of a write', () => {
  const records = [
    recordOf('b', '{"x":1}', { geo, explicit: true, datetimeText: '20260102000000' }),
    recordOf('$geo', '{"type":"Point","coordinates":[2,1]}', { written: { value: '[2,1,5]' } }),
    recordOf('a', '"ä"', { place: 2 }),
    recordOf('b', 'null', { geo, place: 3 }),
  ]
  const write = new LiveWrite(commitOf(7, { records }))

  it('are one for each record of an ordinary resource, in order', () => {
    expect(keysOf(write)).toEqual(['b', 'a', 'b'])
    expect(keysOf(write).map((_, place) => write.value(place).toString())).toEqual([
      `{"key":"b","value":{"x":1},"datetime":"${instant}","geo":{"lat":1.5,"long":-2}}`,
      `{"key":"a","value":"ä","datetime":"${instant}"}`,
      `{"key":"b","value":null,"datetime":"${instant}","geo":{"lat":1.5,"long":-2}}`,
    ])
  })

  it('are one for the whole write, as it was written', () => {
    expect(write.hasWhole).toBe(true)
    expect(write.whole().toString()).toBe(
      '[{"key":"b","geo":{"lat":1.5,"long":-2},"datetime":"20260102000000","value":{"x":1}},' +
        '{"key":"$geo","value":[2,1,5]},{"key":"a","value":"ä"},{"key":"b","geo":{"lat":1.5,"long":-2},"value":null}]',
    )
  })

  it('have the full records of all, as REST gives them', () => {
    expect(JSON.parse(write.records())).toEqual([
      { key: 'b', value: { x: 1 }, datetime: instant, geo },
      { key: '$geo', value: { type: 'Point', coordinates: [2, 1] }, datetime: instant },
      { key: 'a', value: 'ä', datetime: instant },
      { key: 'b', value: null, datetime: instant, geo },
    ])
  })

  it('are made once, for all subscribers', () => {
    expect(write.value(1)).toBe(write.value(1))
    expect(write.whole()).toBe(write.whole())
    expect(write.records()).toBe(write.records())
  })
})

it('a magic record that was written with a position alone is in the whole write with that', () => {
  const written = { value: 'null', geo }
  const record = recordOf('$geo', '{"type":"Point","coordinates":[-2,1.5]}', { written })
  const write = new LiveWrite(commitOf(1, { records: [record] }))
  expect(write.whole().toString()).toBe('[{"key":"$geo","geo":{"lat":1.5,"long":-2},"value":null}]')
  expect(keysOf(write)).toEqual([])
})

it('what has become latest has messages of its own, empty where nothing is left, and no whole write', () => {
  const { place: _, explicit: __, ...state } = recordOf('$settings', '{"a":1}')
  const latest = [
    { key: '$settings', record: state },
    { key: 'a', record: undefined },
  ]
  const write = new LiveWrite(commitOf(1, { latest }))
  expect(keysOf(write)).toEqual(['$settings', 'a'])
  expect(write.value(0).toString()).toBe(`{"key":"$settings","value":{"a":1},"datetime":"${instant}"}`)
  expect(write.value(1)).toHaveLength(0)
  expect(write.hasWhole).toBe(false)
})

it('a write of which everything was stored before has no messages', () => {
  const write = new LiveWrite(commitOf(1))
  expect(keysOf(write)).toEqual([])
  expect(write.hasWhole).toBe(false)
})

it('valuePayload() is the record as REST gives it, or empty', () => {
  expect(valuePayload(recordOf('k', '1')).toString()).toBe(`{"key":"k","value":1,"datetime":"${instant}"}`)
  expect(valuePayload(undefined)).toHaveLength(0)
})
