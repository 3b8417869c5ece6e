import { describe, expect, it } from 'vitest'
import {
  forbiddenMemberOf,
  isForbiddenMember,
  maximumValueBytes,
  maximumValueDepth,
  valueText,
} from '../../../src/core/record/value.ts'

function nested(depth: number, wrap: (inner: unknown) => unknown): unknown {
  return depth === 0 ? 0 : wrap(nested(depth - 1, wrap))
}

describe('valueText()', () => {
  it('is the JSON of the value', () => {
    const value = { on: true, levels: [1, null, 'x'], name: '' }
    expect(valueText(value)).toBe(JSON.stringify(value))
  })

  it('spells -0 as 0, and a lone surrogate as its escape', () => {
    expect(valueText(-0)).toBe('0')
    expect(valueText([{ a: -0 }])).toBe('[{"a":0}]')
    expect(valueText('\ud800')).toBe('"\\ud800"')
  })

  it.each([
    ['arrays', (inner: unknown) => [inner]],
    ['objects', (inner: unknown) => ({ inner })],
  ])('lets %s nest as deep as they may, and no deeper', (_, wrap) => {
    expect(valueText(nested(maximumValueDepth, wrap))).toBeTypeOf('string')
    expect(valueText(nested(maximumValueDepth + 1, wrap))).toMatchObject({ reason: 'value_too_deep' })
  })

  it.each(['x', 'ä', '€', '😀', '"', '\u0000'])('counts the bytes of %j as they are in JSON', character => {
    const bytes = Buffer.byteLength(JSON.stringify(character)) - 2
    const count = Math.floor((maximumValueBytes - 2) / bytes)
    expect(valueText(character.repeat(count))).toBeTypeOf('string')
    expect(valueText(character.repeat(count + 1))).toMatchObject({
      field: 'value',
      reason: 'value_too_large',
    })
  })

  it('finds a number that overflowed, however deep', () => {
    const overflow = { field: 'value', reason: 'number_out_of_range' }
    expect(valueText(Number.POSITIVE_INFINITY)).toMatchObject(overflow)
    expect(valueText([{ a: [Number.NEGATIVE_INFINITY] }])).toMatchObject(overflow)
  })

  it.each(['__proto__', 'constructor', 'prototype'])('refuses the member %s, however deep', name => {
    const hostile = (text: string) => valueText(JSON.parse(text.replace('NAME', name)))
    for (const text of ['{"NAME":1}', '[[{"NAME":null}]]', '{"a":{"NAME":{}}}']) {
      expect(hostile(text)).toMatchObject({ field: 'value', reason: 'forbidden_member' })
    }
  })
})

describe('isForbiddenMember()', () => {
  it('knows names by the letter', () => {
    expect(['__proto__', 'constructor', 'prototype'].every(isForbiddenMember)).toBe(true)
    expect(['', 'proto', '__PROTO__', 'toString', 'Constructor'].some(isForbiddenMember)).toBe(false)
  })
})

describe('forbiddenMemberOf()', () => {
  it('sees members of the object itself, not what every object inherits', () => {
    expect(forbiddenMemberOf({})).toBeUndefined()
    expect(forbiddenMemberOf(JSON.parse('{"a":1,"__proto__":2}'))).toBe('__proto__')
  })
})
