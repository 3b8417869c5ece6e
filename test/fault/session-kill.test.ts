import { expect, test } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { SessionRun } from './session-kill.ts'

/** The short form of `npm run fault`. */

const points = [
  'after commit',
  'PUBLISH sent to a session',
  'PUBACK of a session arrived',
  'while a session is read',
  'before the cursor of a session is saved',
] as const

test.concurrent('persistent sessions and streams miss nothing, and get it in order, over the death of the server', async ({
  onTestFinished,
}) => {
  const run = new SessionRun(await temporaryDirectory(onTestFinished))
  onTestFinished(() => run.abandon())
  for (const point of points) {
    const { proof, violations } = await run.kill(point)
    expect(proof, point).toBeDefined()
    expect(violations, point).toEqual([])
  }
  expect(await run.finish()).toEqual([])
})

test.concurrent('SessionRun finds what a server that does not keep the commit log loses when it dies', async ({
  onTestFinished,
}) => {
  const run = new SessionRun(await temporaryDirectory(onTestFinished), 5_000)
  onTestFinished(() => run.abandon())
  const { proof, violations } = await run.kill('forgotten log')
  expect(proof).toBeDefined()
  expect(violations).not.toEqual([])
})
