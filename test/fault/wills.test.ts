import { expect, test } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { noViolations } from './ledger.ts'
import { WillRun } from './wills.ts'

/** The short form of `npm run fault`. */

const ends = [
  'after the commit of a will, in a shutdown',
  'before the commit of a will, after its grace',
] as const

test.concurrent('wills are written once however the process ends, and not for clients that are back or took leave', async ({
  onTestFinished,
}) => {
  const run = new WillRun(await temporaryDirectory(onTestFinished))
  for (const end of ends) {
    const { proof, violations, left } = await run.run(end)
    expect(proof, end).toBeDefined()
    expect(violations, end).toEqual(noViolations)
    expect(left, end).toEqual([])
  }
})

test.concurrent('WillRun finds the wills of a server that keeps them after they were written', async ({
  onTestFinished,
}) => {
  const { proof, violations, left } = await new WillRun(await temporaryDirectory(onTestFinished)).run(
    'kept wills',
  )
  expect(proof).toBeDefined()
  // Whether it was written again before all others were written for the first time, is chance.
  expect([...violations.repeated, ...left]).not.toEqual([])
})
