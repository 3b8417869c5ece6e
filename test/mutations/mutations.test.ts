import { describe, expect, it } from 'vitest'
import { memory } from '../store/store-places.ts'
import { mutations, redTests } from './judge.ts'

describe('storeConformance()', () => {
  it('is green on a store that keeps its promises', async () => {
    // Through what breaks a promise in the other tests, so that it breaks no other.
    for await (const red of redTests(memory, { why: 'no promise is broken' })) expect.fail(red)
  })

  it.each(mutations)('turns red on %s', async (_, mutation) => {
    expect((await redTests(memory, mutation).next()).value).toBeDefined()
  })
})
