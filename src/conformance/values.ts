import assert from 'node:assert/strict'
import type { Suite } from './stage.ts'
import { count, measured, readAll, write } from './writes.ts'

const deep = count(32).reduce<unknown>(inner => [inner], 'deep')

const texts = [
  ...'0 -1 1e+308 5e-324 1.7976931348623157e+308 9007199254740992 0.1 0.30000000000000004'.split(' '),
  ...'123456789012345680000 true false [] {} [null] {"a":null} {"b":1,"a":2} {"2":1,"10":0}'.split(' '),
  ...'{"":{"":""}} [[],[[]],{}] "" "null" "21.5"'.split(' '),
  '" "',
  '"\\u0000"',
  '"\\n\\t\\"\\\\"',
  '"\u{1f600}"',
  '"\u{1f469}\u200d\u{1f680} ä é"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '{"\\udfff":1}',
  '"\u2028\u2029"',
  '"\ufeff"',
  '"\ufffd"',
  JSON.stringify(deep),
  JSON.stringify('x'.repeat(65_534)),
  JSON.stringify(count(10_000)),
]

export function values({ test }: Suite): void {
  test('read() gives values back unchanged', async ({ records }) => {
    await records.append(write(texts.map((value, datetime) => ({ ...measured(datetime, 0), value }))))
    const read = (await readAll(records)).map(({ value }) => value)
    assert.deepEqual(read, texts)
  })

  test('read() gives geo back unchanged, and none for a record without it', async ({ records }) => {
    const positions = [
      { lat: 41.41, long: 2.22 },
      { lat: -90, long: -180 },
      { lat: 90, long: 180 },
      { lat: 0, long: 0 },
      { lat: 0.1 + 0.2, long: 1 / 3 },
      { lat: 5e-324, long: -5e-324 },
      { lat: 89.99999999999999, long: 179.99999999999997 },
    ]
    const withGeo = positions.map((geo, datetime) => measured(datetime, 'there', { geo }))
    const onlyGeo = positions.map((geo, index) => measured(100 + index, null, { geo }))
    await records.append(write([...withGeo, ...onlyGeo, measured(1_000, 'nowhere')]))
    const expected = [...withGeo, ...onlyGeo].map(({ explicit: _, ...record }) => record)
    assert.deepEqual(await readAll(records), [
      ...expected,
      { key: 'temperature', datetime: 1_000, value: '"nowhere"' },
    ])
  })
}
