import { describe, expect, it } from 'vitest'
import { measurement } from '../../../src/core/record/record.ts'

const of = (value: unknown, geo?: { lat: number; long: number }) => {
  const record = { key: 'reading', datetime: 0, value: JSON.stringify(value) }
  return measurement(geo ? { ...record, geo } : record)
}

describe('measurement()', () => {
  it('is the same whatever the order of members, at every depth', () => {
    expect(of({ a: 1, b: { c: 2, d: [{ e: 3, f: 4 }] } })).toBe(
      of({ b: { d: [{ f: 4, e: 3 }], c: 2 }, a: 1 }),
    )
  })

  it('tells values of different types and places apart', () => {
    const values = [
      1,
      '1',
      true,
      'true',
      null,
      'null',
      [1],
      ['1'],
      { 1: 1 },
      [1, 2],
      [2, 1],
      [],
      {},
      '',
      '[]',
    ]
    expect(new Set(values.map(value => of(value))).size).toBe(values.length)
  })

  it('tells positions apart, and a position from none', () => {
    const positions = [undefined, { lat: 1, long: 2 }, { lat: 2, long: 1 }, { lat: 1, long: 2.5 }]
    expect(new Set(positions.map(geo => of(1, geo))).size).toBe(positions.length)
    expect(of('1@1,2')).not.toBe(of('1', { lat: 1, long: 2 }))
  })

  it('sorts members without regard to the locale', () => {
    expect(of({ ä: 1, z: 2, A: 3 })).toBe(of({ A: 3, z: 2, ä: 1 }))
  })
})
