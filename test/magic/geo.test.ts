import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isProblem } from '../../src/core/record/problem.ts'
import { geo } from '../../src/magic/geo.ts'

const check = (value: unknown, position?: { lat: number; long: number }) =>
  geo.check({ key: '$geo', value, geo: position })

// Each form and each bound is a row of the case table, test/doors/cases/magic.test.ts.
describe('geo.check()', () => {
  it('keeps every form as a Point of two coordinates, and no geo beside it', () => {
    const history = { value: { type: 'Point', coordinates: [2, 41] } }
    expect(check([2, 41])).toEqual(history)
    expect(check([2, 41, null])).toEqual(history)
    expect(check({ type: 'Point', coordinates: [2, 41, 7] })).toEqual(history)
    expect(check(null, { lat: 41, long: 2 })).toEqual(history)
    expect(check([2, 41], { lat: 1, long: 1 })).toEqual(history)
  })

  it('wants a value, though there is geo', () => {
    expect(check(undefined, { lat: 41, long: 2 })).toMatchObject({
      field: 'value',
      reason: 'invalid_position',
    })
  })

  it('reads -0 as 0', () => {
    expect(check([-0, -0])).toEqual({ value: { type: 'Point', coordinates: [0, 0] } })
  })

  it('is a Point on the globe or one problem for any JSON', () => {
    const coordinates = fc.array(fc.oneof(fc.double(), fc.integer({ min: -200, max: 200 }), fc.jsonValue()))
    const value = fc.oneof(
      fc.jsonValue(),
      coordinates,
      fc.record({ type: fc.constant('Point'), coordinates }),
    )
    fc.assert(
      fc.property(value, sent => {
        const history = check(sent)
        if (isProblem(history)) {
          expect(history).toMatchObject({ field: 'value', reason: 'invalid_position' })
          return
        }
        const { coordinates } = history.value as { coordinates: [number, number] }
        expect(coordinates).toHaveLength(2)
        expect(Math.abs(coordinates[0])).toBeLessThanOrEqual(180)
        expect(Math.abs(coordinates[1])).toBeLessThanOrEqual(90)
      }),
    )
  })
})

describe('geo.apply()', () => {
  const at = (datetime: number, long: number) => ({
    value: { type: 'Point', coordinates: [long, 0] },
    datetime,
  })
  const apply = (state: ReturnType<typeof at> | undefined, change: ReturnType<typeof at>) =>
    geo.apply(state, { key: '$geo', receivedAt: 9_000, ...change })

  it('takes the first position, and every later one, with its datetime', () => {
    expect(apply(undefined, at(0, 1))).toEqual(at(0, 1))
    expect(apply(at(1, 1), at(2, 2))).toEqual(at(2, 2))
  })

  it('does not move back in measurement time', () => {
    expect(apply(at(2, 2), at(1, 1))).toBeUndefined()
  })

  it('takes the later write of two of one time', () => {
    expect(apply(at(2, 2), at(2, 3))).toEqual(at(2, 3))
  })

  it('leaves out a geo that came beside the value', () => {
    const change = { key: '$geo', ...at(1, 1), geo: { lat: 3, long: 4 }, receivedAt: 1 }
    expect(geo.apply(undefined, change)).toEqual(at(1, 1))
  })
})
