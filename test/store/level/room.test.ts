import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createLevelStore } from '../../../src/store/level/index.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

const thingId = 'aaaaaaaaaaaaaaaa'
const full = Number.MAX_SAFE_INTEGER
const write = {
  thingId,
  records: [{ key: 'depth', datetime: 1, value: '1', place: 0 }],
  store: true,
  broadcast: true,
  answer: {},
}

test('a store short of disk refuses what it would keep, and goes on with all else', async () => {
  const location = join(await temporaryDirectory(), 'store')
  const roomy = await openStore(createLevelStore({ location }))
  await roomy.records.append({ ...write, id: 'known' })
  await roomy.close()

  const short = await openStore(createLevelStore({ location, minFreeSpace: full }))
  const storeFull = { reason: 'store_full' }
  await expect(short.records.append(write)).rejects.toMatchObject(storeFull)
  await expect(short.records.append({ ...write, store: false, id: 'new' })).rejects.toMatchObject(storeFull)
  expect(await short.records.append({ ...write, id: 'known' })).toMatchObject({ writeNumber: 0 })
  expect(await short.records.append({ ...write, store: false })).toMatchObject({ answer: {} })
  expect((await short.records.read(thingId, 'depth', { order: 'asc', limit: 9 }))?.records).toHaveLength(1)
  const documents = { mark: { is: 1 } }
  await expect(short.records.append({ ...write, documents })).rejects.toMatchObject(storeFull)
  expect(await short.documents.get('mark')).toBeUndefined()
  await short.records.append({ ...write, id: 'known', documents })
  expect(await short.documents.get('mark')).toEqual({ is: 1 })
  await short.documents.put({ mark: null })
  expect(await short.documents.get('mark')).toBeUndefined()
  expect(short.isReady()).toBe(true)
  await short.close()
})
