import { describe, expect, it, test } from 'vitest'
import {
  faultText,
  grouped,
  groupedFaults,
  isCut,
  type RefusedWrite,
} from '../../../web/src/thing/refused-write.ts'

const refused: RefusedWrite = {
  datetime: '2026-11-22T01:00:00.000Z',
  door: 'mqtt',
  reason: 'invalid_key',
  message: 'values[0]: key must be …',
  excerpt: '{}',
}
const field = { index: 0, field: 'key', reason: 'invalid_key' }

const at = (minute: number) => `2026-11-22T01:0${minute}:00.000Z`
const fault = { ...field, message: 'key must be …' }

describe('grouped()', () => {
  it.each<[string, Partial<RefusedWrite>]>([
    ['the same write', {}],
    ['another value', { excerpt: '{"value":2}' }],
    ['another place in the write', { errors: [{ ...fault, index: 7 }], message: 'values[7]: key must be …' }],
    ['the fault twice in it', { errors: [fault, { ...fault, index: 1 }] }],
    ['another write id', { id: 'w2' }],
  ])('has as one what was refused for the same: %s', (_, change) => {
    const newest = { ...refused, errors: [fault], datetime: at(2), ...change }
    const older = { ...refused, errors: [fault], datetime: at(1) }
    expect(grouped([newest, older])).toEqual([
      {
        newest,
        count: 2,
        since: at(1),
        otherExcerpts: newest.excerpt === older.excerpt ? [] : [older.excerpt],
      },
    ])
  })

  it('has as one what differs in how much of it there was', () => {
    const one = { ...refused, message: '20 of 100 bytes came' }
    expect(grouped([one, { ...one, message: '7 of 100 bytes came' }])).toHaveLength(1)
  })

  it.each<[string, Partial<RefusedWrite>]>([
    ['another door', { door: 'http' }],
    ['another reason', { reason: 'invalid_json' }],
    ['another message', { message: 'no' }],
    ['another field', { errors: [{ ...fault, field: 'value' }] }],
    ['a fault more', { errors: [fault, { ...fault, reason: 'invalid_value' }] }],
  ])('has apart what was refused for something else: %s', (_, change) => {
    const errors = 'errors' in change ? [fault] : []
    expect(
      grouped([
        { ...refused, errors, ...change },
        { ...refused, errors },
      ]),
    ).toHaveLength(2)
  })

  it('adds what the server counted, and has each other excerpt once, the newest first', () => {
    const list = ['c', 'b', 'c', 'a', 'b'].map((excerpt, minute) => ({
      ...refused,
      excerpt,
      datetime: at(9 - minute),
    }))
    const [group, ...others] = grouped([{ ...refused, ...list[0], count: 60 }, ...list.slice(1)])
    expect(others).toEqual([])
    expect(group).toMatchObject({ count: 64, since: at(5), otherExcerpts: ['b', 'a'] })
  })
})

describe('groupedFaults()', () => {
  it('has a fault of several records once, with its first place and its count', () => {
    const other = { index: 2, field: 'value', reason: 'invalid_value', message: 'value is missing' }
    const faults = [3, 4, 5].map(index => ({ ...fault, index }))
    expect(groupedFaults([...faults, other, { ...fault, index: 6 }])).toEqual([
      { first: faults[0], count: 4 },
      { first: other, count: 1 },
    ])
  })

  it('has other fields, reasons and messages apart', () => {
    const others = [{ field: 'value' }, { reason: 'invalid_value' }, { message: 'no' }]
    expect(groupedFaults([fault, ...others.map(other => ({ ...fault, ...other }))])).toHaveLength(4)
  })
})

describe('faultText()', () => {
  test('names the field once', () => {
    const text = (message: string) => faultText({ first: { ...field, message }, count: 1 })
    expect(text('key must be short')).toBe('values[0]: key must be short')
    expect(text('must be short')).toBe('values[0].key: must be short')
  })

  test('says how often a fault was there, and where first', () => {
    const first = { ...field, index: 2, message: 'key must be short' }
    expect(faultText({ first, count: 8 })).toBe('8 times, first in values[2]: key must be short')
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
