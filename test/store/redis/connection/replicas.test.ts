import { expect, onTestFinished, test } from 'vitest'
import { waitingForReplicas } from '../../../../src/store/redis/connection/replicas.ts'
import { startRedisCluster } from '../../../helpers/redis-cluster.ts'
import { redisClientOfTest, replicatedRedisOfTest } from '../../../helpers/redis-of-test.ts'

test('waitingForReplicas() finds a node of a cluster again that was away', async () => {
  const cluster = await startRedisCluster()
  onTestFinished(() => cluster.end())
  const client = await redisClientOfTest(cluster.url)
  const caller = waitingForReplicas(client, { replicas: 0 })
  const putAll = () => Promise.all(['a', 'b', 'c', 'd'].map(key => caller.callBuffer('SET', key, key)))
  await putAll()
  const [node] = cluster.nodes
  await node?.kill()
  await node?.restart()
  await cluster.serving()
  await expect(putAll()).rejects.toThrow('served by another node')
  await expect.poll(putAll).toHaveLength(4)
})

test('waitingForReplicas() answers when a replica has what was written, and refuses when none has', async () => {
  const { replica, client } = await replicatedRedisOfTest()
  const reader = await redisClientOfTest(replica.url)
  const caller = waitingForReplicas(client, { replicas: 1 })
  for (const value of Array.from({ length: 100 }, (_, index) => String(index))) {
    expect(await caller.callBuffer('SET', 'a', value)).toEqual(Buffer.from('OK'))
    expect(await reader.get('a')).toBe(value)
  }
  await expect(caller.callBuffer('GET')).rejects.toThrow('wrong number of arguments')
  replica.process.kill('SIGSTOP')
  await expect(caller.callBuffer('SET', 'a', 'late')).rejects.toMatchObject({ reason: 'store_timeout' })
  expect(await client.get('a')).toBe('late')
  replica.process.kill('SIGCONT')
  await caller.callBuffer('SET', 'a', 'again')
  expect(await reader.get('a')).toBe('again')

  const two = waitingForReplicas(client, { replicas: 2 })
  await expect(two.callBuffer('SET', 'a', '2')).rejects.toMatchObject({ reason: 'store_timeout' })
})

test('waitingForReplicas() answers when a replica has it on its disk, from Redis 7.2 on', async () => {
  const { replica, client } = await replicatedRedisOfTest()
  const caller = waitingForReplicas(client, { replicas: 1, replicasFsync: true })
  const version = /redis_version:(\S+)/.exec(await client.info('server'))?.[1] ?? ''
  if (version < '7.2') {
    await expect(caller.callBuffer('SET', 'a', '1')).rejects.toThrow('unknown command')
    return
  }
  expect(await caller.callBuffer('SET', 'a', '1')).toEqual(Buffer.from('OK'))
  replica.process.kill('SIGSTOP')
  await expect(caller.callBuffer('SET', 'a', '2')).rejects.toMatchObject({ reason: 'store_timeout' })
  replica.process.kill('SIGCONT')
  expect(await caller.callBuffer('SET', 'a', '3')).toEqual(Buffer.from('OK'))
})
