import { expect, test } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { KillRun } from './kill.ts'
import { noViolations } from './ledger.ts'

/** The short form of `npm run fault`. */

test('a server that is killed under load keeps every acked write, and no half of any', async () => {
  const run = new KillRun(await temporaryDirectory(), 8)
  for (const point of ['random moment', 'after commit', 'during commit', 'during reopen'] as const) {
    const { proof, acks, violations } = await run.kill(point)
    expect(proof, point).toBeDefined()
    expect(acks, point).toBeGreaterThan(0)
    expect(violations, point).toEqual(noViolations)
  }
  expect(await run.finalCheck()).toEqual(noViolations)
  expect(run.ledger.withOutcome('refused')).toEqual([])
})

test('KillRun finds the writes of a server that acknowledges before it writes', async () => {
  const run = new KillRun(await temporaryDirectory(), 8)
  const { proof, violations } = await run.kill('early ack')
  expect(proof).toBeDefined()
  expect(violations.missing.length).toBeGreaterThan(0)
})
