import { describe, expect, it } from 'vitest'
import { axisLabel, exponentOf } from '../../../../web/src/thing/chart/value-axis.ts'

describe('exponentOf()', () => {
  it.each([
    [[], 0],
    [[0], 0],
    [[21.5, -4], 0],
    [[1_732_284_000_123], 0],
    [[1e-6], 0],
    [[3e20, 1], 20],
    [[-1.7e308, 5], 308],
    [[4e-30], -30],
    [[5e-324], -307],
  ])('of %j is %i', (values, exponent) => {
    expect(exponentOf(values.map(value => ({ lowest: value, highest: value })))).toBe(exponent)
  })
})

describe('axisLabel()', () => {
  it.each([
    [1_732_284_000_500, 0, '1732284000500'],
    [0, 300, '0'],
    [1.25, 300, '1.25e+300'],
    [-0.5, -30, '-0.5e-30'],
  ])('of %f and exponent %i is the other', (split, exponent, label) => {
    expect(axisLabel(split, exponent)).toBe(label)
  })
})
