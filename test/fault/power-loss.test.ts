import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { wayOf } from '../rig/writes.ts'
import { delayedSync, traceAcks } from './power-loss.ts'

/** The short form of `npm run fault`. */

test('every ack is sent after the fdatasync that covers its write, and PUBCOMP after that of its packet id', async () => {
  const writes = 100
  const dataDir = join(await temporaryDirectory(), 'data')
  const { covered, completed, violations, acks } = await traceAcks({ dataDir, writes })
  expect(violations).toEqual([])
  for (const way of ['HTTP', 'QoS 1', 'QoS 2'] as const) {
    expect(acks[way], way).toBeGreaterThanOrEqual(writes)
    expect(new Set(covered.filter(name => wayOf(name) === way)).size, way).toBe(acks[way])
  }
  expect(new Set(completed).size).toBe(acks['QoS 2'])
})

test('traceAcks() finds the acks of a server that does not wait for fdatasync', async () => {
  const writes = 20
  const dataDir = join(await temporaryDirectory(), 'data')
  const { covered, violations, acks } = await traceAcks({
    dataDir,
    writes,
    args: ['--durability', 'written'],
  })
  expect(covered).toEqual([])
  for (const [ack, way] of [
    ['201', 'HTTP'],
    ['PUBACK', 'QoS 1'],
    ['PUBREC', 'QoS 2'],
  ] as const) {
    expect(violations.filter(violation => violation.includes(`, ${ack}: no fdatasync`))).toHaveLength(
      acks[way],
    )
  }
})

test('no ack is sent while fsync is held back', async () => {
  const milliseconds = 300
  const dataDir = join(await temporaryDirectory(), 'data')
  const took = await delayedSync({ dataDir, writes: 24 }, milliseconds)
  expect(took.length).toBeGreaterThanOrEqual(3 * 24)
  expect(Math.min(...took)).toBeGreaterThanOrEqual(milliseconds)
})
