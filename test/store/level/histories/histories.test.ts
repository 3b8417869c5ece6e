import { expect, it } from 'vitest'
import { temporaryDirectory } from '../../../helpers/temporary-directory.ts'
import { runHistories } from './run-histories.ts'

/** The short form of `npm run fault -- --only histories`. */
it('aggregates are what the records add up to, and every acknowledged record is there once, however often the store is killed', async () => {
  const { kills, faults } = await runHistories(await temporaryDirectory(), 1)
  expect(faults).toEqual([])
  expect(kills).toBeGreaterThan(0)
})
