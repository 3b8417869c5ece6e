import type { StoreDriver } from '../../src/store/contract.ts'
import { createMemoryStore } from '../../src/store/memory/index.ts'
import { alterAppends } from '../helpers/altered-driver.ts'

export interface SlowStore extends StoreDriver {
  /** Resolves when the given number of appends have been called. */
  appends(count: number): Promise<void>
  /** Lets every append through, those to come too. */
  release(): void
}

/** A store in memory whose appends wait until they are let through. */
export function createSlowStore(): SlowStore {
  const driver = createMemoryStore()
  let called = 0
  let release = () => {}
  const released = new Promise<void>(resolve => (release = resolve))
  const waiting: { count: number; resolve: () => void }[] = []
  alterAppends(driver, append => async (...call) => {
    called++
    for (const { count, resolve } of waiting) if (called >= count) resolve()
    await released
    return await append(...call)
  })
  return {
    ...driver,
    appends: count =>
      new Promise(resolve => {
        waiting.push({ count, resolve })
        if (called >= count) resolve()
      }),
    release,
  }
}
