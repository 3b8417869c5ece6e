import { randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { plain } from '../../src/conformance/views.ts'
import { measuredAt, otherThing, readAll, received, thing, write } from '../../src/conformance/writes.ts'
import { listDocuments } from '../../src/core/list-documents.ts'
import type { LatestOfThing, LogQuery, Store, StoreDriver } from '../../src/store/contract.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { type MigrateOptions, migrate, type Progress } from '../../src/store/migrate/migrate.ts'
import { Source } from '../../src/store/migrate/source.ts'
import { Target } from '../../src/store/migrate/target.ts'
import { openStore } from '../../src/store/open-store.ts'
import { openClient } from '../../src/store/redis/connection/connection.ts'
import { RedisDatabase } from '../../src/store/redis/connection/database.ts'
import { redisKeys } from '../../src/store/redis/keys.ts'
import { startRedisCluster } from '../helpers/redis-cluster.ts'
import { redisOfTests } from '../helpers/redis-of-test.ts'
import { withShownTime } from '../helpers/shown-time.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { crowdRecord, crowdSize, forgottenId, knownIds, manyRecords } from './everything.ts'
import { packAll } from './level/compaction/packed-store.ts'
import { interrupt, stageMigration, storeTimeout, targetOf } from './migrate/stage.ts'

const redis = redisOfTests()
const wholeLog: LogQuery = { after: 0, before: Number.POSITIVE_INFINITY, order: 'asc', limit: 100_000 }

function stage(filling?: (store: Store) => Promise<void>): Promise<MigrateOptions> {
  return stageMigration(redis.url, filling)
}

async function open(driver: Parameters<typeof openStore>[0]): Promise<Store> {
  const store = await openStore(driver, { storeTimeout })
  onTestFinished(() => store.close())
  return store
}

/** The embedded store that these options move. */
function sourceOf({ location }: MigrateOptions): StoreDriver {
  return createLevelStore({ location })
}

async function openBoth(options: MigrateOptions): Promise<[source: Store, target: Store]> {
  return [await open(sourceOf(options)), await open(targetOf(options))]
}

async function expectHalfAStore(options: MigrateOptions): Promise<void> {
  const opening = openStore(targetOf(options))
  await expect(opening).rejects.toThrow('thingwire migrate has not finished')
}

describe('migrate()', () => {
  test('moves everything that the ports show', async () => {
    const options = await stage()
    await migrate(options)
    const [source, target] = await openBoth(options)
    expect(await contentOf(target)).toEqual(await contentOf(source))
  })

  test('moves it into a Redis Cluster as well', async () => {
    const cluster = await startRedisCluster()
    onTestFinished(() => cluster.end())
    const options = { ...(await stage()), url: cluster.url }
    await migrate(options)
    const [source, target] = await openBoth(options)
    expect(await contentOf(target)).toEqual(await contentOf(source))
  })

  test('moves what is packed, and ends where it was broken off with the same', async () => {
    const options = await stage()
    await packAll(options.location, { newest: 0, least: 2 })
    await interrupt(options)
    expect(await migrate(options)).toMatchObject({ resources: 6 })
    const [source, target] = await openBoth(options)
    expect(await contentOf(target)).toEqual(await contentOf(source))
  })

  test('says what it has moved', async () => {
    const progress: Progress[] = []
    const options = { ...(await stage()), onProgress: (each: Progress) => progress.push(each) }
    const verified = await migrate(options)
    const [source] = await openBoth(options)
    expect(verified).toMatchObject({
      records: manyRecords + crowdSize + 7 + 8 + 1 + 2,
      resources: 6,
      states: 2,
      documents: 6,
      commits: (await source.records.readLog(wholeLog)).length,
    })
    const last = { records: verified?.records, of: verified?.records }
    expect(progress.findLast(({ step }) => step === 'moved')).toEqual({ step: 'moved', ...last })
    expect(progress.findLast(({ step }) => step === 'verified')).toEqual({ step: 'verified', ...last })
  })

  test('gives write numbers that those to come are behind', async () => {
    const options = await stage()
    await migrate(options)
    const [source, { records, nodes }] = await openBoth(options)
    const before = (await source.records.readLog(wholeLog)).map(({ writeNumber }) => writeNumber)
    const after = (await records.readLog(wholeLog)).map(({ writeNumber }) => writeNumber)
    const [first = 0] = before
    const offset = (after[0] ?? 0) - 16 * first
    expect(after).toEqual(before.map(writeNumber => offset + 16 * writeNumber))

    // The embedded log has only what somebody wanted: nothing resumes behind its entries.
    expect((await nodes.logBounds()).completeAfter).toBeGreaterThanOrEqual(after.at(-1) ?? 0)
    const { writeNumber } = await records.append(write([{ ...crowdRecord(0), value: '"last of all"' }]))
    expect(writeNumber).toBeGreaterThan(after.at(-1) ?? 0)
    expect((await readAll(records, { key: 'crowd' })).at(-1)?.value).toBe('"last of all"')
  })

  test('has receipt times go on from the newest one of the source, be that ahead of the clock', async () => {
    const newest = Date.now() + 3_600_000
    const options = await stage(store =>
      withShownTime(newest, async () => void (await store.records.append(write([received(1)])))),
    )
    await migrate(options)
    const target = await open(targetOf(options))
    expect(target.clock.now()).toBe(newest)
    await target.records.append(write([received(2)]))
    expect((await readAll(target.records)).map(({ datetime }) => datetime)).toEqual([newest, newest])
  })

  test('keeps a resend single, in a crowd of one datetime too', async () => {
    const options = await stage()
    await migrate(options)
    const [, { records }] = await openBoth(options)
    await records.append(write(Array.from({ length: crowdSize }, (_, place) => crowdRecord(place))))
    expect(await readAll(records, { key: 'crowd' })).toHaveLength(crowdSize)
  })

  test('goes on where Redis was out of memory, and ends with the same', async () => {
    const options = await stage()
    onTestFinished(async () => void (await redis.client.config('SET', 'maxmemory', '0')))
    const used = Number(/used_memory:(\d+)/.exec(await redis.client.info('memory'))?.[1])
    const positions = new Set<string | null>()
    let verified: unknown
    for (let room = 0; verified === undefined; room += 256 * 1024) {
      await redis.client.config('SET', 'maxmemory', String(used + room))
      verified = await migrate(options).catch((error: Error) => {
        if (!error.message.includes('maxmemory')) throw error
      })
      positions.add(await redis.client.hget(`${options.prefix}:{0}:meta`, 'position'))
    }
    await redis.client.config('SET', 'maxmemory', '0')
    expect(positions.size).toBeGreaterThan(3)
    const [source, target] = await openBoth(options)
    expect(await contentOf(target)).toEqual(await contentOf(source))
  })

  test('changes nothing when all was moved before', async () => {
    const options = await stage()
    await migrate(options)
    const target = await open(targetOf(options))
    await target.records.append(write([crowdRecord(crowdSize)]))
    expect(await migrate(options)).toBeUndefined()
    expect(await readAll(target.records, { key: 'crowd' })).toHaveLength(crowdSize + 1)
  })

  test('moves a store in which nothing is', async () => {
    const options = await stage(async () => {})
    expect(await migrate(options)).toMatchObject({ records: 0, documents: 0 })
    const [, target] = await openBoth(options)
    expect(await target.records.append(write([crowdRecord(0)]))).toMatchObject({ answer: {} })
  })

  test('refuses a store in Redis that holds something', async () => {
    const options = await stage()
    const target = await openStore(targetOf(options))
    await target.documents.put({ 'things/other': {} }, 'keep')
    await target.close()
    await expect(migrate(options)).rejects.toThrow('migrate needs an empty one')
    const again = await open(targetOf(options))
    expect(await again.records.resources(thing)).toEqual([])
  })

  test('refuses a Redis where a server runs, though all was removed under it', async () => {
    const options = await stage()
    await open(targetOf(options))
    await redis.client.del(`${options.prefix}:{0}:meta`, `${options.prefix}:{0}:head`)
    await expect(migrate(options)).rejects.toThrow('Stop its servers')
  })

  test('refuses to go on with a store that was written to meanwhile', async () => {
    const options = await stage()
    await interrupt(options)
    await expectHalfAStore(options)
    const source = await openStore(sourceOf(options))
    await source.records.append(write([crowdRecord(crowdSize)]))
    await source.close()
    await expect(migrate(options)).rejects.toThrow('contains an unfinished migration')
  })

  test('refuses a directory without a store, and makes none', async () => {
    const options = { ...(await stage()), location: `${await temporaryDirectory()}/store` }
    await expect(migrate(options)).rejects.toThrow('no embedded store')
    await expect(migrate(options)).rejects.toThrow('no embedded store')
  })

  test('refuses an embedded store that another holds', async () => {
    const options = await stage()
    await open(sourceOf(options))
    await expect(migrate(options)).rejects.toThrow('another process uses it')
  })
})

describe('Target.load()', () => {
  test('rejects where another process has loaded meanwhile, and loads nothing', async () => {
    const options = await stage()
    const [client, source] = [await openClient(options.url), await Source.open(options.location)]
    onTestFinished(async () => {
      client.disconnect()
      await source.close()
    })
    const database = new RedisDatabase(redisKeys(randomUUID()), 'migrate', client)
    const [one, other] = [await Target.claim(database, source), await Target.claim(database, source)]
    await one?.load(Buffer.from('r1'), [['HSET', database.keys.documents, 'things/a', '{}']])
    const loading = other?.load(Buffer.from('r2'), [['HSET', database.keys.documents, 'things/b', '{}']])
    await expect(loading).rejects.toMatchObject({ reason: 'store_unavailable' })
    expect(await client.hkeys(database.keys.documents)).toEqual(['things/a'])
  })
})

/** Everything that the ports show, but for write numbers. */
async function contentOf({ records, documents, refused }: Store): Promise<unknown> {
  const things = [thing, otherThing, 'nobody']
  const ofThings = things.map(async thingId => {
    const keys = await records.resources(thingId)
    const more = ['gone', 'told alone', '$settings', '$geo']
    const read = [...new Set([...keys, ...more])].map(async key => ({
      key,
      isKnown: (await records.read(thingId, key, { order: 'asc', limit: 1 })) !== undefined,
      ascending: await readAll(records, { thingId, key }),
      descending: await readAll(records, { thingId, key, order: 'desc' }),
      state: await records.state(thingId, key),
    }))
    const answers = [...knownIds, forgottenId].map(id =>
      records.answerOf(thingId, id, measuredAt + 3_600_000),
    )
    return {
      keys,
      resources: await Promise.all(read),
      answers: await Promise.all(answers),
      refused: await refused.list(thingId, 100),
    }
  })
  const kept: unknown[] = []
  for await (const document of listDocuments(documents, '')) kept.push(document)
  return {
    things: await Promise.all(ofThings),
    latest: await latestOf(records),
    documents: kept,
    log: (await records.readLog(wholeLog)).map(commit => {
      const { writeNumber: _, ...said } = plain(commit)
      return said
    }),
  }
}

async function latestOf(records: Store['records']): Promise<readonly LatestOfThing[]> {
  const snapshot = await records.snapshot()
  const latest: LatestOfThing[] = []
  for await (const page of snapshot.latest({})) latest.push(...page)
  await snapshot.close()
  const nameOf = ({ thingId, key }: LatestOfThing) => `${thingId} ${key}`
  return latest.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
}
