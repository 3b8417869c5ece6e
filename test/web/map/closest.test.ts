import { expect, it } from 'vitest'
import { closestZoom } from '../../../web/src/map/closest.ts'

it.each([
  ['a place', { hasTrack: false, width: 0, height: 0, hasTiles: false }, 9],
  ['places', { hasTrack: false, width: 9_000, height: 0, hasTiles: true }, 9],
  ['a track of one position', { hasTrack: true, width: 0, height: 0, hasTiles: false }, 9],
  ['a track that stays where it is', { hasTrack: true, width: 20, height: 30, hasTiles: false }, 9],
  ['one on streets', { hasTrack: true, width: 20, height: 30, hasTiles: true }, 14],
  ['a track across a town', { hasTrack: true, width: 20, height: 2_000, hasTiles: false }, 14],
])('closestZoom() of %s', (_, shown, zoom) => {
  expect(closestZoom(shown)).toBe(zoom)
})
