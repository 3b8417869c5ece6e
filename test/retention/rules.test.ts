import { describe, expect, it } from 'vitest'
import { ageOf, parseRetentionRule } from '../../src/retention/rules.ts'

const day = 86_400_000

describe('parseRetentionRule()', () => {
  it.each([
    ['30d', '*', 30 * day],
    ['90s', '*', 90_000],
    ['5m', '*', 300_000],
    ['12h', '*', day / 2],
    ['debug.*=1d', 'debug.*', day],
    ['$geo=365d', '$geo', 365 * day],
    ['$settings.*=36500d', '$settings.*', 36_500 * day],
    ['a_b-c.D9=1s', 'a_b-c.D9', 1_000],
  ])('takes %s', (text, pattern, age) => {
    expect(parseRetentionRule(text)).toEqual({ pattern, age })
  })

  it.each([
    '',
    '30',
    'd',
    '0d',
    '-1d',
    '1.5d',
    '30 d',
    '30D',
    '1w',
    '=30d',
    'a=',
    'a b=1d',
    'a=b=1d',
    'ä=1d',
    '12345678d',
  ])('takes no "%s"', text => {
    expect(parseRetentionRule(text)).toBeUndefined()
  })
})

describe('ageOf()', () => {
  const rules = (...texts: readonly string[]) => texts.flatMap(text => parseRetentionRule(text) ?? [])

  it('is undefined where no rule is of the key', () => {
    expect(ageOf('speed', [])).toBeUndefined()
    expect(ageOf('speed', rules('debug.*=1d', 'spee=1d', 'peed=1d', 'speed.*=1d'))).toBeUndefined()
  })

  it.each([
    ['debug.a', 1],
    ['debug.', 1],
    ['debug', 30],
    ['debug.radio.rssi', 7],
    ['debug.radio', 2],
    ['$geo', 365],
    ['$geometry', 30],
  ])('of %s is that of the rule that says most of it, in whatever order they stand', (key, days) => {
    const all = rules('30d', 'debug.*=1d', 'debug.radio=2d', 'debug.*.rssi=7d', '$geo=365d')
    expect(ageOf(key, all)).toBe(days * day)
    expect(ageOf(key, all.toReversed())).toBe(days * day)
  })

  it('is the longer one of two rules that say as much', () => {
    expect(ageOf('ab', rules('a*=1d', '*b=2d'))).toBe(2 * day)
    expect(ageOf('ab', rules('*b=2d', 'a*=1d'))).toBe(2 * day)
  })

  it.each([
    ['a*b*c', 'abc', true],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'ac', false],
    ['a*b*c', 'abcd', false],
    ['ab*ba', 'aba', false],
    ['ab*ba', 'abba', true],
    ['*.*', 'a.b', true],
    ['**', 'a', true],
    ['a.c', 'abc', false],
  ])('of %s and %s', (pattern, key, isMeant) => {
    expect(ageOf(key, rules(`${pattern}=1d`)) !== undefined).toBe(isMeant)
  })
})
