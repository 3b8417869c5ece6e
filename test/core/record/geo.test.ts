import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDegrees, parseGeo } from '../../../src/core/record/geo.ts'

describe('parseGeo()', () => {
  it('takes every position on the globe, in numbers and in strings', () => {
    const decimal = (limit: number) => fc.integer({ min: -limit * 1e6, max: limit * 1e6 }).map(n => n / 1e6)
    fc.assert(
      fc.property(decimal(90), decimal(180), (lat, long) => {
        const expected = { lat: lat + 0, long: long + 0 }
        expect(parseGeo({ lat, long })).toEqual(expected)
        expect(parseGeo({ lat: lat.toFixed(6), long: long.toFixed(6) })).toEqual(expected)
      }),
    )
  })

  it('is a position on the globe or one problem for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), input => {
        const geo = parseGeo(input)
        if ('reason' in geo) expect(['invalid_geo', 'forbidden_member']).toContain(geo.reason)
        else expect(Math.abs(geo.lat) <= 90 && Math.abs(geo.long) <= 180).toBe(true)
      }),
    )
  })

  it('names the member that is wrong', () => {
    expect(parseGeo({ lat: 1 })).toMatchObject({ field: 'geo.long', reason: 'invalid_geo' })
    expect(parseGeo({ lat: 'x', long: 'x' })).toMatchObject({ field: 'geo.lat', reason: 'invalid_geo' })
    expect(parseGeo(JSON.parse('{"lat":1,"long":2,"__proto__":3}'))).toMatchObject({
      field: 'geo',
      reason: 'forbidden_member',
    })
  })
})

describe('parseDegrees()', () => {
  it('reads -0 as 0', () => {
    expect(parseDegrees(-0, 90)).toBe(0)
    expect(parseDegrees('-0.0', 90)).toBe(0)
  })

  it('is undefined for numbers that are none', () => {
    expect(parseDegrees(Number.NaN, 90)).toBeUndefined()
    expect(parseDegrees(Number.POSITIVE_INFINITY, 90)).toBeUndefined()
    expect(parseDegrees(`${'9'.repeat(400)}`, 90)).toBeUndefined()
  })
})
