import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { appendTo, givenUp, received, valuesOf, waitedFor, write } from '../../../src/conformance/writes.ts'
import type { Store } from '../../../src/store/contract.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { RedisCommitter } from '../../../src/store/redis/committer.ts'
import { RedisDatabase } from '../../../src/store/redis/connection/database.ts'
import { NumberedWrites } from '../../../src/store/redis/connection/numbered-writes.ts'
import { createRedisStore } from '../../../src/store/redis/index.ts'
import { Script } from '../../../src/store/redis/script.ts'
import { redisClientOfTest } from '../../helpers/redis-of-test.ts'
import { type RedisServer, startRedis } from '../../helpers/redis-server.ts'
import { openPath, type TcpPath } from '../../helpers/tcp-path.ts'
import { newDatabase, noFollower } from './databases.ts'

let redis: RedisServer
let path: TcpPath

beforeEach(async () => {
  redis = await startRedis({ config: { appendfsync: 'no' } })
  path = await openPath(redis.port)
  return async () => {
    await path.close()
    await redis.end()
  }
})

async function open(port: number): Promise<Store> {
  const url = `redis://127.0.0.1:${port}`
  const store = await openStore(createRedisStore({ url }), { storeTimeout: 1_000 })
  onTestFinished(() => store.close())
  return store
}

const late = { reason: 'store_timeout' }
const packetId = 'mqtt-in-flight/client/77'
const inFlight = { documents: { [packetId]: {} } }
const answered = { documents: { [packetId]: null } }

test('a write that came too late is refused before what was handed in meanwhile is committed', async () => {
  const driver = createRedisStore({ url: redis.url })
  await driver.open()
  onTestFinished(() => driver.close())
  const { records } = driver
  const keeping = appendTo(records, write([received('kept')]), waitedFor())
  const behind = { expired: false, deadline: waitedFor().deadline }
  // As after a pause of the process. `openStore` gives up what is behind it in the name of the same hold.
  records.append(write([received('late')]), {
    expired: false,
    deadline: 0,
    resolve: () => {},
    reject: () => {
      behind.expired = true
    },
  })
  // The first group is on its way.
  for (let turn = 0; turn < 5; turn++) await Promise.resolve()
  await expect(appendTo(records, write([received('behind')]), behind)).rejects.toMatchObject(late)
  await keeping
  expect(await valuesOf(records)).toEqual(['kept'])
})

test('append() and put() that were given up have no effect when they arrive later', async () => {
  const [away, there] = [await open(path.port), await open(redis.port)]
  await away.records.append(write([received('before')]))
  const deliver = path.hold()
  const appending = away.records.append(write([received('late')], { id: 'a', ...inFlight }))
  await expect(appending).rejects.toMatchObject(late)
  await there.records.append(write([received('again')], inFlight))
  await there.records.append(write([], answered))
  await deliver()
  expect(await valuesOf(there.records)).toEqual(['before', 'again'])
  expect(await there.documents.get(packetId)).toBeUndefined()
  expect((await there.records.append(write([received('new')], { id: 'a' }))).writeNumber).toBeGreaterThan(0)

  path.restore()
  const append = () => away.records.append(write([received('back')], { id: 'b' })).catch(() => undefined)
  await expect.poll(append).toBeDefined()
  const putting = path.hold()
  await expect(away.documents.put({ a: {} }, 'keep')).rejects.toMatchObject(late)
  await putting()
  expect(await there.documents.get('a')).toBeUndefined()
})

test('transact() that was given up has no effect when it arrives later', async () => {
  const [away, there] = [await open(path.port), await open(redis.port)]
  // So that the script is there, and Redis' clock known.
  await away.documents.transact([], () => ({ put: { before: {} }, result: undefined, purpose: 'keep' }))
  let deliver = async () => {}
  const transacting = away.documents.transact(['a'], () => {
    deliver = path.hold()
    return { put: { a: {} }, result: undefined, purpose: 'keep' }
  })
  await expect(transacting).rejects.toMatchObject(late)
  await deliver()
  expect(await there.documents.get('a')).toBeUndefined()
})

test('append() that was given up has no effect when Redis, which hung, goes on', async () => {
  const store = await open(redis.port)
  await store.records.append(write([received('before')]))
  redis.process.kill('SIGSTOP')
  const appends = ['late', 'later'].map(value =>
    store.records.append(write([received(value)], { ...inFlight, id: value })),
  )
  for (const append of appends) await expect(append).rejects.toMatchObject(late)
  redis.process.kill('SIGCONT')
  expect(await valuesOf(store.records)).toEqual(['before'])
  await store.records.append(write([received('again')], { id: 'late' }))
  expect(await valuesOf(store.records)).toEqual(['before', 'again'])
  expect(await store.documents.get(packetId)).toBeUndefined()
})

/** Its group, which Redis is told counts for as long, is refused. */
class EarlyOnce extends RedisDatabase {
  sent = 0

  override run(...[script, node, number, until, ...more]: Parameters<RedisDatabase['run']>) {
    const early = this.sent++ === 0 ? Number(until) - 700_000_000 : Number(until)
    return super.run(script, node ?? '', number ?? '', early, ...more)
  }
}

test('commit() sends again what was refused as late and is still waited for', async () => {
  const client = await redisClientOfTest(redis.url)
  const { keys, node } = newDatabase(client)
  const database = new EarlyOnce(keys, node, client)
  const committer = new RedisCommitter(new NumberedWrites(database), noFollower)
  const pending = [waitedFor(), givenUp, waitedFor()].map((ticket, index) => {
    return { change: { write: write([received(index)]), documents: [] }, ticket }
  })
  const results = await committer.commit(pending)
  expect(results).toMatchObject([{ answer: {} }, late, { answer: {} }])
  expect(database.sent).toBe(2)
  expect(await client.zcard(keys.records(write([]).thingId, received(0).key))).toBe(2)
})

test('settle.lua says what came of the newest write, whatever comes late', async () => {
  const client = await redisClientOfTest(redis.url)
  const database = newDatabase(client)
  const [put, settle] = [new Script('put-documents'), new Script('settle')]
  const until = 8_000_000_000_000_000
  const putting = (number: number) => database.run(put, database.node, number, until, 0, `${number}`, '{}')
  const settling = (number: number) => database.run(settle, database.node, number)
  const [nothing, done] = [[expect.any(Number)], [expect.any(Number), 1]]
  expect(await settling(1)).toEqual(nothing)
  expect(await putting(1)).toEqual(nothing)
  expect(await putting(2)).toEqual(done)
  expect(await settling(1)).toEqual(nothing)
  expect(await settling(2)).toEqual(done)
  expect(await putting(2)).toEqual(done)
  expect(await client.hkeys(database.keys.documents)).toEqual(['2'])
})
