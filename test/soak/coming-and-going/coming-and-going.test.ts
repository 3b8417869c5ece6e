import { expect, test } from 'vitest'
import { memoryAtEnd, runComingAndGoing } from './load.ts'

/** The short form of `npm run soak -- --load coming-and-going`. */
test('a server whose clients come and go stays below 230 MB', async () => {
  const { paced, memory, exit } = await runComingAndGoing({
    things: 20,
    keys: 50,
    sessions: 100,
    seconds: 20,
    interval: 1,
  })
  // A machine that is much too busy lets a store time out.
  for (const { name, count, failures } of paced) expect(count - failures.length, name).toBeGreaterThan(0)
  expect(memoryAtEnd(memory)).toBeLessThan(230e6)
  expect(exit.code).toBe(0)
})
