import { afterEach, expect, test, vi } from 'vitest'
import { count, key, measured, readAll, thing, write } from '../../../src/conformance/writes.ts'
import { createLevelStore } from '../../../src/store/level/index.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { writeBatches } from './write-batches.ts'

afterEach(() => vi.restoreAllMocks())

test('remove() of a crowd that is broken off anywhere leaves nothing for which a record that is gone counts as stored', async () => {
  const store = await openStore(createLevelStore({ location: await temporaryDirectory() }))
  const crowd = count(15_000).map(value => measured(1_000, value))
  for (let at = 0; at < crowd.length; at += 5_000) {
    await store.records.append(write(crowd.slice(at, at + 5_000)))
  }
  let written = 0
  writeBatches(async through => {
    if (++written === 2) throw Object.assign(new Error('input/output error'), { code: 'LEVEL_IO_ERROR' })
    await through()
  })
  await expect(store.records.remove(thing, key, {})).rejects.toMatchObject({ reason: 'store_unavailable' })
  vi.restoreAllMocks()
  await expect.poll(() => store.isReady(), { timeout: 30_000 }).toBe(true)
  // Of the oldest, which go first, and behind those that are compared one by one.
  const again = crowd[500]
  if (!again) throw new Error('there is no such record')
  await store.records.append(write([again]))
  const values = (await readAll(store.records, { limit: 100_000 })).map(({ value }) => value)
  expect(values).toContain(again.value)
  await store.close()
})
