import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { expect, test } from 'vitest'
import { createLevelStore } from '../../../src/store/level/index.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

const thingId = 'aaaaaaaaaaaaaaaa'

test('removeThing() leaves no key of the thing in the database', async () => {
  const location = join(await temporaryDirectory(), 'store')
  const store = await openStore(createLevelStore({ location }))
  const appends = Array.from({ length: 600 }, (_, place) =>
    store.records.append({
      thingId,
      // All at one datetime, so that there are duplicate keys too.
      records: [{ key: `key-${place % 3}`, datetime: 1, value: String(place), place: 0, explicit: true }],
      store: true,
      broadcast: true,
      id: `write ${place}`,
      answer: {},
    }),
  )
  await Promise.all(appends)
  store.records.logWhen(() => true)
  for (const key of ['$geo', '$settings']) {
    const states = [{ key, record: { key, datetime: 1, value: '{}' } }]
    const fixed = { thingId, records: [], store: true, broadcast: true, answer: {} }
    await store.records.append({ ...fixed, states })
  }
  await store.records.remove(thingId, 'key-0', {})
  const refused = { datetime: 1, door: 'http', reason: 'invalid_json', message: '', excerpt: '' } as const
  await store.refused.add(thingId, refused)
  await store.records.removeThing(thingId)
  await store.close()

  const level = new ClassicLevel(location)
  expect(await level.keys().all()).toEqual(['m:batch', 'm:format', 'm:head', 'm:identity'])
  await level.close()
})

test('removeThing() leaves no log entry of the thing, from before the start or behind it, and all of others', async () => {
  const location = join(await temporaryDirectory(), 'store')
  const other = 'bbbbbbbbbbbbbbbb'
  for (const start of [1, 2]) {
    const store = await openStore(createLevelStore({ location }))
    store.records.logWhen(() => true)
    for (const each of [other, thingId, other]) await store.records.append(writeOf(each))
    if (start === 2) {
      await store.records.removeThing(thingId)
      const log = await store.records.readLog({ after: 0, before: Infinity, order: 'asc', limit: 10 })
      expect(log.map(commit => commit.thingId)).toEqual([other, other, other, other])
    }
    await store.close()
  }
})

let written = 0

function writeOf(thing: string) {
  const records = [{ key: 'key', datetime: ++written, value: '1', place: 0, explicit: true }]
  return { thingId: thing, records, store: true, broadcast: true, receivedAt: 1, answer: {} }
}
