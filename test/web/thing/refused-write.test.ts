import { describe, expect, it, test } from 'vitest'
import { badFieldText, grouped, isCut, type RefusedWrite } from '../../../web/src/thing/refused-write.ts'

const refused: RefusedWrite = {
  datetime: '2026-11-22T01:00:00.000Z',
  door: 'mqtt',
  reason: 'invalid_key',
  message: 'values[0]: key must be …',
  excerpt: '{}',
}
const field = { index: 0, field: 'key', reason: 'invalid_key' }

describe('grouped()', () => {
  it('counts what was refused in the same way, and has the newest of it', () => {
    const newest = { ...refused, datetime: '2026-11-22T01:02:00.000Z' }
    const other = { ...refused, door: 'http' }
    expect(grouped([newest, other, refused])).toEqual([
      { newest, count: 2 },
      { newest: other, count: 1 },
    ])
  })
})

describe('badFieldText()', () => {
  test('names the field once', () => {
    expect(badFieldText({ ...field, message: 'key must be short' })).toBe('values[0]: key must be short')
    expect(badFieldText({ ...field, message: 'must be short' })).toBe('values[0].key: must be short')
  })
})

describe('isCut()', () => {
  test.each([
    ['{}', false],
    ['x'.repeat(200), true],
    ['things/[redacted]', true],
  ])('of %j is %s', (excerpt, isCutOff) => {
    expect(isCut(excerpt)).toBe(isCutOff)
  })
})
