import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { assertSummary } from '../../../src/conformance/folding.ts'
import { BucketFold } from '../../../src/core/record/bucket-fold.ts'

const bounds = { start: 0, end: 1_000 }

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom(1e308, -1e308, 2 ** 900, -(2 ** 900), 2 ** 899, 5e-324, 1e16, 0.1),
)
const value = fc.oneof(
  { weight: 5, arbitrary: number.map(each => String(each + 0)) },
  { weight: 1, arbitrary: fc.constantFrom('"1"', 'null', '[2]') },
)

describe('BucketFold', () => {
  it.each(['asc', 'desc'] as const)(
    'is the same whole, whatever the parts are that add up to it (%s)',
    order => {
      const property = fc.property(fc.array(fc.array(value, { minLength: 1 }), { minLength: 1 }), parts => {
        const whole = new BucketFold(bounds, order)
        for (const values of order === 'asc' ? parts : parts.toReversed()) {
          const part = new BucketFold(bounds, order)
          for (const each of order === 'asc' ? values : values.toReversed()) part.add(each)
          whole.merge(part)
        }
        assertSummary(whole, parts.flat())
      })
      fc.assert(property, { numRuns: 1_000 })
    },
  )

  it('takes records and parts in any turn', () => {
    const part = new BucketFold(bounds, 'asc')
    for (const each of ['3', '1e+308']) part.add(each)
    const whole = new BucketFold(bounds, 'asc')
    whole.add('-1e+308')
    whole.merge(part)
    whole.add('4')
    assertSummary(whole, ['-1e+308', '3', '1e+308', '4'])
  })

  it('has no number where none was added', () => {
    const fold = new BucketFold(bounds, 'asc')
    fold.add('"a"')
    expect([fold.numbers, fold.sum, fold.min, fold.max]).toEqual([
      0,
      0,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
    ])
  })
})
