import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { isAtQos, wayOf, ways } from '../rig/writes.ts'
import { delayedSync, traceAcks } from './power-loss.ts'

/** The short form of `npm run fault`. */

test('every ack is sent after the fdatasync that covers its write, and PUBCOMP after that of its packet id', async () => {
  const writes = 50
  const dataDir = join(await temporaryDirectory(), 'data')
  const { covered, completed, violations, acks } = await traceAcks({ dataDir, writes })
  expect(violations).toEqual([])
  for (const way of ways) {
    expect(acks[way], way).toBeGreaterThanOrEqual(writes)
    expect(new Set(covered.filter(name => wayOf(name) === way)).size, way).toBe(acks[way])
  }
  const completable = ways.filter(way => isAtQos(2, way)).map(way => acks[way])
  expect(new Set(completed).size).toBe(completable.reduce((sum, count) => sum + count))
})

test('traceAcks() finds the acks of a server that does not wait for fdatasync', async () => {
  const writes = 10
  const dataDir = join(await temporaryDirectory(), 'data')
  const { covered, violations, acks } = await traceAcks({
    dataDir,
    writes,
    args: ['--durability', 'written'],
  })
  expect(covered).toEqual([])
  for (const way of ways) {
    const early = violations.filter(violation => /, (201|PUBACK|PUBREC): no fdatasync/.test(violation))
    expect(
      early.filter(violation => wayOf(violation) === way),
      way,
    ).toHaveLength(acks[way])
  }
})

test('no ack is sent while fsync is held back', async () => {
  const milliseconds = 300
  const dataDir = join(await temporaryDirectory(), 'data')
  const took = await delayedSync({ dataDir, writes: 12 }, milliseconds)
  expect(took.length).toBeGreaterThanOrEqual(ways.length * 12)
  expect(Math.min(...took)).toBeGreaterThanOrEqual(milliseconds)
})
