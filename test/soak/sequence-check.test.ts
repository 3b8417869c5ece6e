import { describe, expect, test } from 'vitest'
import { SequenceCheck } from './checks.ts'

const kept = { key: 'k', value: '0', isKept: true }
const fleeting = { ...kept, isKept: false }

function follow(places: readonly number[], due = [kept, kept, fleeting, kept, kept]) {
  const check = new SequenceCheck('thing', due, ({ isKept }) => isKept)
  return { found: places.map(place => check.take(place)), missing: check.missing() }
}

describe('SequenceCheck', () => {
  test('finds nothing wrong where each comes once, in order', () => {
    expect(follow([0, 1, 2, 3, 4])).toEqual({ found: Array(5).fill(undefined), missing: [] })
  })

  test('does not miss what is not wanted', () => {
    expect(follow([0, 1, 3, 4]).missing).toEqual([])
  })

  test('misses what was passed over and what did not come in the end', () => {
    expect(follow([0, 3]).missing).toEqual([1, 4])
  })

  test.each([
    ['doubled', [0, 0]],
    ['doubled', [0, 1, 0]],
    ['out of order', [1, 0]],
    ['out of order', [0, 3, 2]],
    ['unexpected', [5]],
  ])('names %s at the end of %j', (kind, places) => {
    expect(follow(places).found.at(-1)).toBe(kind)
  })

  test('lets what may come again come again once, with DUP, in order', () => {
    const check = new SequenceCheck('thing', [kept, kept, kept, kept], () => true)
    for (const place of [0, 1, 2]) check.take(place)
    check.allowAgain([1, 2])
    expect(check.take(0, true)).toBe('doubled')
    expect(check.take(1, false)).toBe('doubled')
    expect(check.take(1, true)).toBe('repeated')
    expect(check.take(1, true)).toBe('doubled')
    expect(check.take(2, true)).toBe('repeated')
    expect(check.take(3)).toBe(undefined)
    check.allowAgain([2, 3])
    check.take(3, true)
    expect(check.take(2, true)).toBe('out of order')
  })
})
