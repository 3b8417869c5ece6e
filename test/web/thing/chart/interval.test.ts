import { describe, expect, test } from 'vitest'
import { parseInterval } from '../../../../web/src/thing/chart/interval.ts'

describe('parseInterval()', () => {
  test.each([
    ['500ms', 500],
    ['15s', 15_000],
    ['5m', 300_000],
    ['12h', 43_200_000],
    ['1000d', 86_400_000_000],
  ])('of %s is %d ms', (text, length) => {
    expect(parseInterval(text)).toEqual({ text, length })
  })

  test.each([undefined, '', '5', 'm', '0s', '1mo', '1.5h'])('of %s throws', text => {
    expect(() => parseInterval(text)).toThrow('no length of an interval')
  })
})
