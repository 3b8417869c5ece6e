import { describe, expect, it } from 'vitest'
import { formatPosition, gathered, unwrapped, unwrappedParts } from '../../../web/src/map/place.ts'

describe('formatPosition()', () => {
  it.each([
    [{ lat: 60.084517, long: 23.5391 }, '60.08452° N, 23.53910° E'],
    [{ lat: -22.9, long: -43.2 }, '22.90000° S, 43.20000° W'],
    [{ lat: 0, long: 180 }, '0.00000° N, 180.00000° E'],
  ])('writes %o with the hemispheres', (position, text) => {
    expect(formatPosition(position)).toBe(text)
  })
})

describe('unwrapped()', () => {
  it('goes on beyond 180 degrees eastward', () => {
    expect(longsOf(178, 179.5, -179.5, -178)).toEqual([178, 179.5, 180.5, 182])
  })

  it('goes on beyond -180 degrees westward, and comes back', () => {
    expect(longsOf(-179, 179, -179)).toEqual([-179, -181, -179])
  })

  it('leaves a track as it is that crosses no antimeridian', () => {
    expect(longsOf(-10, 0, 10)).toEqual([-10, 0, 10])
  })
})

describe('unwrappedParts()', () => {
  it('goes on beyond 180 degrees from one part to the next', () => {
    const parts = [[179, -179], [-178], [], [179, -179]].map(longs => longs.map(long => ({ lat: 0, long })))
    expect(unwrappedParts(parts).map(part => part.map(({ long }) => long))).toEqual([
      [179, 181],
      [182],
      [],
      [179, 181],
    ])
  })
})

describe('gathered()', () => {
  it.each<[string, number[], number[], number[]]>([
    ['places on both sides of 180', [], [179.5, -179.5], [179.5, 180.5]],
    ['more of them on the west', [], [-179, 179, -170, -175], [181, 179, 190, 185]],
    ['places around Greenwich', [], [-2, 51, 3], [-2, 51, 3]],
    ['one place', [], [-179.5], [-179.5]],
    ['one place at 180', [], [180], [180]],
    ['the same place twice', [], [7, 7], [7, 7]],
    ['places all around', [], [0, 90, 180, -90], [0, 90, 180, -90]],
    ['places that are opposite', [], [-90, 90], [-90, 90]],
    ['a place at the end of a track over 180', [179.5, 180.5], [-179.5], [180.5]],
    ['a place at the end of a track to the west', [-179.5, -180.5], [179.5], [-180.5]],
    ['a place far from a track', [10, 11], [-170], [190]],
    ['nothing', [1], [], []],
  ])('of %s', (_, track, longs, expected) => {
    const positions = gathered(
      track,
      longs.map(long => ({ lat: 1, long })),
    )
    expect(positions).toEqual(expected.map(long => ({ lat: 1, long })))
  })
})

function longsOf(...longs: number[]): number[] {
  return unwrapped(longs.map(long => ({ lat: 0, long }))).map(({ long }) => long)
}
