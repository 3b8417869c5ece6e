import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { readAll, received, write } from '../../../src/conformance/writes.ts'
import { openStore } from '../../../src/store/open-store.ts'
import type { Statement } from '../../../src/store/redis/connection/statement.ts'
import { createRedisStore } from '../../../src/store/redis/index.ts'
import { redisKeys } from '../../../src/store/redis/keys.ts'
import { type RedisCluster, startRedisCluster } from '../../helpers/redis-cluster.ts'
import { redisOfTest } from '../../helpers/redis-of-test.ts'
import { freePort, type RedisServer } from '../../helpers/redis-server.ts'

/** Milliseconds; far beyond what a failover takes. */
const deadline = 60_000
const prefix = 'failover'

async function asking<T>(server: RedisServer, task: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(server.url, { enableReadyCheck: false })
  try {
    return await task(redis)
  } finally {
    redis.disconnect()
  }
}

/** The master that has the store. */
async function masterOf({ nodes }: RedisCluster): Promise<RedisServer> {
  const key = redisKeys(prefix).head
  for (const node of nodes) {
    const isThere = await asking(node, redis => redis.exists(key)).catch(() => undefined)
    if (isThere !== undefined) return node
  }
  throw new Error('no master serves the slot')
}

/** Starts replicas of a master, and waits until they have what it has, and all know one another. */
async function addReplicas({ nodes }: RedisCluster, master: RedisServer, count: number): Promise<void> {
  const masterId = String(await asking(master, redis => redis.call('CLUSTER', 'MYID')))
  const all = [...nodes]
  for (let added = 0; added < count; added++) {
    const bus = await freePort()
    const replica = await redisOfTest({
      config: {
        'cluster-enabled': 'yes',
        'cluster-port': String(bus),
        'cluster-node-timeout': '5000',
        'cluster-allow-replica-migration': 'no',
      },
    })
    all.push(replica)
    await asking(master, redis => redis.call('CLUSTER', 'MEET', '127.0.0.1', replica.port, bus))
    await asking(replica, redis =>
      expect
        .poll(() => redis.call('CLUSTER', 'REPLICATE', masterId).catch(String), { timeout: deadline })
        .toBe('OK'),
    )
  }
  // Those that do not know a replica do not vote for it.
  for (const node of all) {
    await asking(node, redis =>
      expect
        .poll(() => redis.call('CLUSTER', 'INFO'), { timeout: deadline })
        .toContain(`cluster_known_nodes:${all.length}`),
    )
  }
  await asking(master, redis =>
    expect.poll(() => redis.wait(count, 1_000), { timeout: deadline }).toBe(count),
  )
}

test('createRedisStore() with replicas loses nothing that it acknowledged when a cluster fails over', async () => {
  // Its replicas stay its own.
  const config = { 'repl-diskless-sync-delay': '0', 'cluster-allow-replica-migration': 'no' }
  const cluster = await startRedisCluster({ config })
  onTestFinished(() => cluster.end())
  const master = await masterOf(cluster)
  await addReplicas(cluster, master, 2)
  const said: string[] = []
  const onStatement = ({ text }: Statement) => void said.push(text)
  const open = async () => {
    const store = await openStore(createRedisStore({ url: cluster.url, prefix, replicas: 1, onStatement }))
    onTestFinished(() => store.close())
    return store
  }
  const [store, other] = [await open(), await open()]
  const told: unknown[] = []
  let gaps = 0
  other.nodes.onGap(() => gaps++)
  other.records.onCommit(({ records }) => told.push(...records.map(({ value }) => value)))

  const acknowledged: string[] = []
  const writeOn = async (count: number) => {
    const until = Date.now() + deadline
    const wanted = acknowledged.length + count
    while (acknowledged.length < wanted) {
      const value = acknowledged.length
      const appending = store.records.append(write([received(value)], { id: `w${value}` }))
      const isDone = await appending.then(
        () => true,
        ({ reason }) => {
          expect(['store_unavailable', 'store_timeout']).toContain(reason)
          if (Date.now() > until) throw new Error('never acknowledged')
          return false
        },
      )
      if (isDone) acknowledged.push(String(value))
    }
  }
  await writeOn(100)
  const killed = master.kill()
  await writeOn(100)
  await killed
  expect(said.filter(text => text.includes(`Redis at 127.0.0.1:${master.port} is lost`))).toHaveLength(2)
  // Its reads go over another connection than its commits, which may find the new master later.
  const stored = async () => (await readAll(store.records, {})).map(({ value }) => value)
  await expect.poll(stored, { timeout: deadline }).toEqual(acknowledged)
  await expect.poll(() => told.at(-1), { timeout: deadline }).toBe(acknowledged.at(-1))
  if (gaps === 0) expect(told).toEqual(acknowledged)
  const back = () => said.filter(text => text.startsWith('connected to Redis again, at '))
  await expect.poll(back, { timeout: deadline }).toHaveLength(2)
})
