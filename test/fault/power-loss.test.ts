import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { delayedSync, traceAcks } from './power-loss.ts'

/** The short form of `npm run fault`. */

test('every ack is sent after the fdatasync that covers its write', async () => {
  const { covered, violations } = await traceAcks({
    dataDir: join(await temporaryDirectory(), 'data'),
    writes: 200,
  })
  expect(violations).toEqual([])
  expect(new Set(covered).size).toBe(200)
})

test('traceAcks() finds the acks of a server that does not wait for fdatasync', async () => {
  const { covered, violations } = await traceAcks({
    dataDir: join(await temporaryDirectory(), 'data'),
    writes: 20,
    args: ['--durability', 'written'],
  })
  expect(covered).toEqual([])
  expect(violations).toHaveLength(20)
})

test('no ack is sent while fsync is held back', async () => {
  const milliseconds = 300
  const took = await delayedSync(
    { dataDir: join(await temporaryDirectory(), 'data'), writes: 24 },
    milliseconds,
  )
  expect(took).toHaveLength(24)
  expect(Math.min(...took)).toBeGreaterThanOrEqual(milliseconds)
})
