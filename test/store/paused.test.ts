import { expect, test, vi } from 'vitest'
import { count, readAll, received, write } from '../../src/conformance/writes.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { openStore } from '../../src/store/open-store.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { writeBatches } from './level/write-batches.ts'

test('what LevelDB has committed while the process could not look is not given up', async ({
  onTestFinished,
}) => {
  const driver = createLevelStore({ location: await temporaryDirectory(onTestFinished) })
  const { records, close } = await openStore(driver, { storeTimeout: 1_000 })
  onTestFinished(close)
  await records.append(write([received('first')]))
  writeBatches(async write => {
    const written = write()
    // LevelDB's thread has it, and goes on; timers that are due come next.
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000))
    await written
  })
  onTestFinished(() => void vi.restoreAllMocks())
  await Promise.all(count(10).map(value => records.append(write([received(value)]))))
  expect(await readAll(records)).toHaveLength(11)
})
