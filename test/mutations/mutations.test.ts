import { describe, expect, it } from 'vitest'
import { memory } from '../store/store-places.ts'
import { isNoticed, judge, mutations } from './judge.ts'

describe('storeConformance()', () => {
  it('is green on a store that keeps its promises', async () => {
    // Through what breaks a promise in the other tests, so that it breaks no other.
    expect((await judge(memory, { why: 'no promise is broken' })).red).toEqual([])
  })

  it.each(mutations)('turns red on %s', async (_, mutation) => {
    expect(await isNoticed(memory, mutation)).toBe(true)
  })
})
