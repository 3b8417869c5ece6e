import { describe, expect, test } from 'vitest'
import { parseInterval } from '../../../../web/src/thing/chart/interval.ts'

describe('parseInterval()', () => {
  test.each([
    ['500ms', 500, '500 ms'],
    ['15s', 15_000, '15 s'],
    ['15m', 900_000, '15 min'],
    ['12h', 43_200_000, '12 h'],
    ['1000d', 86_400_000_000, '1000 d'],
  ])('of %s is %d ms, for people %s', (text, length, forPeople) => {
    expect(parseInterval(text)).toEqual({ text: forPeople, length })
  })

  test.each([undefined, '', '5', 'm', '0s', '1mo', '1.5h', '5constructor'])('of %s throws', text => {
    expect(() => parseInterval(text)).toThrow('no length of an interval')
  })
})
