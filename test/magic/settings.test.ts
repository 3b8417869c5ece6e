import { describe, expect, it } from 'vitest'
import { settings } from '../../src/magic/settings.ts'

const check = (key: string, value: unknown) => settings.check({ key, value, geo: undefined })

// Each form and each bound is a row of the case table, test/doors/cases/magic.ts.
describe('settings.check()', () => {
  it('keeps value and geo as they are', () => {
    const value = { a: { b: null } }
    const geo = { lat: 41, long: 2 }
    expect(settings.check({ key: '$settings', value, geo })).toEqual({ value, geo })
    expect(check('$settings.a.b', null)).toEqual({ value: null, geo: undefined })
  })

  it('counts path parts and containers alike as levels', () => {
    const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) })
    for (let parts = 1; parts <= 16; parts++) {
      const key = `$settings.${Array(parts).fill('p').join('.')}`
      expect(check(key, nested(16 - parts))).toHaveProperty('value')
      expect(check(key, nested(17 - parts))).toMatchObject({ field: 'value', reason: 'invalid_settings' })
    }
  })

  it('counts arrays as levels, and their places as no member', () => {
    expect(
      check(
        '$settings.a',
        Array.from({ length: 200 }, () => []),
      ),
    ).toHaveProperty('value')
    expect(check('$settings', { a: [[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]] })).toMatchObject({
      reason: 'invalid_settings',
    })
  })

  it.each(['__proto__', 'constructor', 'prototype'])('refuses %s as a part of the path', part => {
    for (const key of [`$settings.${part}`, `$settings.a.${part}.b`]) {
      expect(check(key, 1)).toMatchObject({ field: 'key', reason: 'forbidden_member' })
    }
  })
})

describe('settings.matches()', () => {
  it('knows the document and the paths into it', () => {
    expect(['$settings', '$settings.', '$settings.a'].every(settings.matches)).toBe(true)
    expect(['$setting', '$settingsx', '$Settings', 'settings'].some(settings.matches)).toBe(false)
  })
})
