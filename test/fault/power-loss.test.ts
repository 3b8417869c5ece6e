import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { wayOf } from './planned-write.ts'
import { delayedSync, traceAcks } from './power-loss.ts'

/** The short form of `npm run fault`. */

test('every ack is sent after the fdatasync that covers its write, and PUBCOMP after that of its packet id', async () => {
  const writes = 100
  const dataDir = join(await temporaryDirectory(), 'data')
  const { covered, completed, violations } = await traceAcks({ dataDir, writes })
  expect(violations).toEqual([])
  for (const way of ['HTTP', 'QoS 1', 'QoS 2']) {
    expect(new Set(covered.filter(name => wayOf(name) === way)).size, way).toBe(writes)
  }
  expect(new Set(completed).size).toBe(writes)
})

test('traceAcks() finds the acks of a server that does not wait for fdatasync', async () => {
  const writes = 20
  const dataDir = join(await temporaryDirectory(), 'data')
  const { covered, violations } = await traceAcks({ dataDir, writes, args: ['--durability', 'written'] })
  expect(covered).toEqual([])
  for (const ack of ['201', 'PUBACK', 'PUBREC']) {
    expect(violations.filter(violation => violation.includes(`, ${ack}: no fdatasync`))).toHaveLength(writes)
  }
})

test('no ack is sent while fsync is held back', async () => {
  const milliseconds = 300
  const dataDir = join(await temporaryDirectory(), 'data')
  const took = await delayedSync({ dataDir, writes: 24 }, milliseconds)
  expect(took).toHaveLength(3 * 24)
  expect(Math.min(...took)).toBeGreaterThanOrEqual(milliseconds)
})
