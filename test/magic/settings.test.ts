import { describe, expect, it } from 'vitest'
import { settings } from '../../src/magic/settings.ts'

const check = (key: string, value: unknown) => settings.check({ key, value, geo: undefined })

// Each form and each bound is a row of the case table, test/doors/cases/magic.test.ts.
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

const state = (value: unknown) => ({ value, datetime: 1 })
const apply = (before: unknown, key: string, value: unknown) =>
  settings.apply(before === undefined ? undefined : state(before), { key, value, datetime: 2, receivedAt: 3 })
const becomes = (value: unknown) => ({ value, datetime: 3 })

// Forms and effects are rows of test/magic/cases; the algebra is a property, test/magic/model.test.ts.
describe('settings.apply()', () => {
  it('dates the document by the receipt of the write that changed it', () => {
    expect(apply({ a: 1 }, '$settings', { b: 2 })).toEqual(becomes({ a: 1, b: 2 }))
    expect(apply({ a: 1 }, '$settings.b', 2)).toEqual(becomes({ a: 1, b: 2 }))
  })

  it.each([
    ['an empty patch', { a: 1 }, '$settings', {}],
    ['a patch to what is there', { a: { b: [1] } }, '$settings', { a: { b: [1] } }],
    ['the same members in another order', { a: { b: 1, c: 2 } }, '$settings.a', { c: 2, b: 1 }],
    ['the removal of a member that is not there', { a: 1 }, '$settings', { b: null }],
    ['the removal of a path that is not there', { a: 1 }, '$settings.a.b', null],
    ['the removal of a path without a document', undefined, '$settings.a', null],
  ])('changes nothing by %s', (_what, before, key, value) => {
    expect(apply(before, key, value)).toBeUndefined()
  })

  it('makes a document of the first write, be it empty', () => {
    expect(apply(undefined, '$settings', {})).toEqual(becomes({}))
    expect(apply(undefined, '$settings', { a: null })).toEqual(becomes({}))
  })

  it('keeps members where they are', () => {
    const changed = apply({ b: 1, a: { y: 1, x: 2 }, c: 3 }, '$settings', { a: { z: 3, y: 4 }, b: 5 })
    expect(JSON.stringify(changed)).toBe('{"value":{"b":5,"a":{"y":4,"x":2,"z":3},"c":3},"datetime":3}')
  })

  it('does not change the document that it was given', () => {
    const before = Object.freeze({ a: Object.freeze({ b: 1 }) })
    expect(apply(before, '$settings.a.c', 2)).toEqual(becomes({ a: { b: 1, c: 2 } }))
    expect(apply(before, '$settings', { a: { b: null } })).toEqual(becomes({ a: {} }))
  })

  it('counts the bytes of the whole document', () => {
    const full = { a: 'x'.repeat(30_000), b: 'ä'.repeat(17_000) }
    const bytes = Buffer.byteLength(JSON.stringify(full))
    const room = 65_536 - bytes - ',"c":""'.length
    expect(apply(full, '$settings.c', 'x'.repeat(room))).toHaveProperty('value.c')
    expect(apply(full, '$settings.c', 'x'.repeat(room + 1))).toMatchObject({
      field: 'value',
      reason: 'settings_too_large',
    })
  })

  it('neither reads nor sets what objects inherit', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'prototype']) {
      const patch = JSON.parse(`{"${name}":{"polluted":true}}`) as unknown
      const changed = apply({}, '$settings', patch)
      expect(Object.keys((changed as { value: object }).value)).toEqual([name])
      const set = apply({}, `$settings.${name}.polluted`, true)
      expect(Object.keys((set as { value: object }).value)).toEqual([name])
      expect(settings.parts?.read(state({}), `$settings.${name}`)).toBeUndefined()
      expect(apply({}, `$settings.${name}.length`, null)).toBeUndefined()
    }
    expect({}).not.toHaveProperty('polluted')
    expect(Object).not.toHaveProperty('polluted')
  })
})

describe('settings.parts.read()', () => {
  const document = { a: { b: [1], c: null, d: 0 } }
  const read = (key: string) => settings.parts?.read(state(document), key)

  it('gives the value at the path', () => {
    expect(read('$settings.a')).toEqual(document.a)
    expect(read('$settings.a.c')).toBeNull()
    expect(read('$settings.a.d')).toBe(0)
  })

  it('gives nothing beyond what is an object', () => {
    for (const path of ['x', 'a.x', 'a.b.0', 'a.b.length', 'a.c.x', 'a.d.x']) {
      expect(read(`$settings.${path}`)).toBeUndefined()
    }
  })
})
