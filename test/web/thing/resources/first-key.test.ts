import { expect, it } from 'vitest'
import { firstKey } from '../../../../web/src/thing/resources/first-key.ts'

it.each<[string, Record<string, [value: unknown, second: number]>, string | undefined]>([
  ['the number written last', { course_deg: [224, 1], depth: [10, 3], speed: [5, 2] }, 'depth'],
  ['the last one of a write', { course_deg: [224, 1], speed: [5, 1] }, 'speed'],
  ['a number before a newer text', { depth: [10, 1], state: ['sail', 2] }, 'depth'],
  ['the newest of texts alone', { mode: ['auto', 2], state: ['sail', 1] }, 'mode'],
  ['no number in a text', { a: ['1', 2], b: [1, 1] }, 'b'],
  ['the only one', { a: [true, 1] }, 'a'],
  ['none', {}, undefined],
])('firstKey() is %s', (_, records, key) => {
  const recordOf = (name: string) => {
    const [value, second = 0] = records[name] ?? []
    return { key: name, value, datetime: new Date(1000 * second).toISOString() }
  }
  expect(firstKey(Object.keys(records), recordOf)).toBe(key)
})
