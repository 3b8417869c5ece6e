import { describe, expect, it } from 'vitest'
import { onPlane, type Ring } from '../../../web/src/map/rings.ts'

describe('onPlane()', () => {
  it('leaves a polygon as it is that crosses no antimeridian', () => {
    const ring: Ring = [
      [10, 50],
      [20, 50],
      [20, 60],
      [10, 50],
    ]
    expect(onPlane([[ring]])).toEqual([[ring]])
  })

  it('gives a polygon across the antimeridian at both sides of the map', () => {
    const ring: Ring = [
      [178, -18],
      [-178, -18],
      [-178, -16],
      [178, -18],
    ]
    expect(onPlane([[ring]])).toEqual([
      [
        [
          [178, -18],
          [182, -18],
          [182, -16],
          [178, -18],
        ],
      ],
      [
        [
          [-182, -18],
          [-178, -18],
          [-178, -16],
          [-182, -18],
        ],
      ],
    ])
  })

  it('closes a ring around a pole along the edge of the map', () => {
    const ring: Ring = [
      [-120, -70],
      [0, -70],
      [120, -70],
      [-120, -70],
    ]
    const [[closed = []] = []] = onPlane([[ring]])
    expect(closed).toEqual([
      [-120, -70],
      [0, -70],
      [120, -70],
      [240, -70],
      [240, -85.06],
      [-120, -85.06],
      [-120, -70],
    ])
  })
})
