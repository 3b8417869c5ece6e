import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { type Answers, failedSync, failedWrite, type SingleFault, singleFaults } from './failing-disk.ts'
import { noViolations } from './ledger.ts'

/** The short form of `npm run fault`. */

const writes = 40

test('writes are answered with 503 and not kept while fsync fails, and are taken when it works again', async () => {
  const failed = await failedSync({ dataDir: join(await temporaryDirectory(), 'data'), writes }, 'recover')
  expectOnly(failed.answers, ['503 store_unavailable', '503 store_timeout'])
  expect(failed.reads).toEqual([503, 503])
  expect(failed.ackedAfter).toBe(writes)
  expect(failed.recovered).toEqual(noViolations)
  expect(failed.restarted).toEqual(noViolations)
})

test('writes that were refused while fsync failed stay away when the process is killed before it works', async () => {
  const failed = await failedSync({ dataDir: join(await temporaryDirectory(), 'data'), writes }, 'kill')
  expectOnly(failed.answers, ['503 store_unavailable', '503 store_timeout'])
  expect(failed.restarted).toEqual(noViolations)
})

test.each(Object.keys(singleFaults) as SingleFault[])(
  'one %s refuses the writes that it hits, and takes no other with it',
  async fault => {
    const dataDir = join(await temporaryDirectory(), 'data')
    const failed = await failedWrite({ dataDir, writes: 150 }, fault)
    expect(failed.hasFailed).toBe(true)
    expectOnly(failed.answers, ['201', '400 invalid_key', '503 store_unavailable', '503 store_timeout'])
    expect(failed.recovered).toEqual(noViolations)
    expect(failed.restarted).toEqual(noViolations)
  },
)

function expectOnly(answers: Answers, expected: readonly string[]): void {
  expect(Object.keys(answers).filter(answer => !expected.includes(answer))).toEqual([])
}
