import { array, assert, integer, property } from 'fast-check'
import { expect, it } from 'vitest'
import { partitionPoint } from '../../../src/core/algorithms/partition-point.ts'

it('partitionPoint() finds the first item that is not before, as a search from one end does', () => {
  const all = array(integer({ min: 0, max: 9 }), { maxLength: 40 })
  assert(
    property(all, integer({ min: 0, max: 10 }), integer({ min: 0, max: 40 }), (items, least, start) => {
      const ascending = items.toSorted()
      const from = Math.min(start, items.length)
      const isBefore = (item: number) => item < least
      const inFront = ascending.filter(item => item < least).length
      expect(partitionPoint(ascending, isBefore, from)).toBe(Math.max(from, inFront))
    }),
  )
})
