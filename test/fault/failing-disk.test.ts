import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { type Answers, failedSync, failedWrite, type SingleFault, singleFaults } from './failing-disk.ts'
import { noViolations } from './ledger.ts'

/** The short form of `npm run fault`. */

const writes = 40

/** A device that connects before the first write has failed is let in. */
const whileFsyncFails = [
  '503 store_unavailable',
  '503 store_timeout',
  'CONNACK 0',
  'CONNACK 3',
  'CONNACK missing',
]

test.concurrent('writes get 503 or no ack and are not kept while fsync fails, and are taken when it works again', async ({
  onTestFinished,
}) => {
  const failed = await failedSync(
    { dataDir: join(await temporaryDirectory(onTestFinished), 'data'), writes },
    'recover',
  )
  expectOnly(failed.answers, whileFsyncFails)
  expect(failed.ackedMeanwhile).toBe(0)
  expect(failed.unackedMeanwhile).toBeGreaterThan(0)
  expect(new Set(failed.connacks)).toEqual(new Set([3]))
  expect(failed.reads).toEqual([503, 503])
  expect(failed.ackedAfter).toBe(3 * writes)
  expect(failed.recovered).toEqual(noViolations)
  expect(failed.restarted).toEqual(noViolations)
})

test.concurrent('writes that were refused while fsync failed stay away when the process is killed before it works', async ({
  onTestFinished,
}) => {
  const failed = await failedSync(
    { dataDir: join(await temporaryDirectory(onTestFinished), 'data'), writes },
    'kill',
  )
  expectOnly(failed.answers, whileFsyncFails)
  expect(failed.ackedMeanwhile).toBe(0)
  expect(failed.unackedMeanwhile).toBeGreaterThan(0)
  expect(failed.restarted).toEqual(noViolations)
})

test.concurrent.for(Object.keys(singleFaults) as SingleFault[])(
  'one %s refuses the writes that it hits, and takes no other with it',
  async (fault, { expect, onTestFinished }) => {
    const dataDir = join(await temporaryDirectory(onTestFinished), 'data')
    const failed = await failedWrite({ dataDir, writes: 150 }, fault)
    expect(failed.hasFailed).toBe(true)
    // Until there is a reserve again.
    const whileShort = fault === 'ENOSPC from write' ? ['503 store_full'] : []
    expectOnly(failed.answers, ['201', '400 invalid_key', ...whileShort, ...whileFsyncFails])
    expect(failed.recovered).toEqual(noViolations)
    expect(failed.restarted).toEqual(noViolations)
  },
)

function expectOnly(answers: Answers, expected: readonly string[]): void {
  expect(Object.keys(answers).filter(answer => !expected.includes(answer))).toEqual([])
}
