import { describe, expect, it } from 'vitest'
import { memory } from '../store/store-places.ts'
import { isNoticed, judge, loadMutations } from './judge.ts'

describe('storeConformance()', async () => {
  it('is green on a store that keeps its promises', async () => {
    expect((await judge(memory)).red).toEqual([])
  })

  it.each(await loadMutations())('turns red on $name', async mutation => {
    expect(await isNoticed(memory, mutation)).toBe(true)
  })
})
