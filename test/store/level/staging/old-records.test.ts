import { expect, it } from 'vitest'
import { count, key, measured, thing, valuesOf, write } from '../../../../src/conformance/writes.ts'
import { checkLevelStore, createLevelStore } from '../../../../src/store/level/index.ts'
import { openStore } from '../../../../src/store/open-store.ts'
import { temporaryDirectory } from '../../../helpers/temporary-directory.ts'

const many = 110_000
const perWrite = 10_000

it('removeOld() of many records gives their space back, and leaves a whole store', async () => {
  const location = await temporaryDirectory()
  const filling = await openStore(createLevelStore({ location }))
  for (let from = 0; from < many; from += perWrite) {
    // Random, so that LevelDB does not make next to nothing of them.
    const batch = count(perWrite).map(index => measured(from + index, Math.random()))
    await filling.records.append(write([...batch, measured(many, 'newest')]))
  }
  // What is in the log goes into a table when it is opened, as what is old is in one.
  await filling.close()
  const store = await openStore(createLevelStore({ location }))
  const full = (await store.size()).bytes
  let removed = 0
  let next: string | undefined
  do {
    const piece = await store.records.removeOld(thing, key, many + 1, next)
    removed += piece.count
    next = piece.next
  } while (next !== undefined)
  expect(removed).toBe(many)
  expect(await valuesOf(store.records)).toEqual(['newest'])
  await store.close()
  const again = await openStore(createLevelStore({ location }))
  expect((await again.size()).bytes).toBeLessThan(full / 3)
  await again.close()
  expect(await checkLevelStore(location)).toMatchObject({ faults: [], records: 1, resources: 1 })
})
