import { expect, onTestFinished, test } from 'vitest'
import { openClient } from '../../../../src/store/redis/connection/connection.ts'
import { waitingForReplicas } from '../../../../src/store/redis/connection/replicas.ts'
import { startRedisCluster } from '../../../helpers/redis-cluster.ts'
import { type RedisServer, startRedis } from '../../../helpers/redis-server.ts'

async function started(config: Readonly<Record<string, string>>): Promise<RedisServer> {
  const server = await startRedis({ config })
  onTestFinished(() => server.end())
  return server
}

test('waitingForReplicas() finds a node of a cluster again that was away', async () => {
  const cluster = await startRedisCluster()
  onTestFinished(() => cluster.end())
  const client = await openClient(cluster.url)
  onTestFinished(() => client.disconnect())
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
  const master = await started({ 'repl-diskless-sync-delay': '0' })
  const replica = await started({ replicaof: `127.0.0.1 ${master.port}` })
  const clients = [await openClient(master.url), await openClient(replica.url)] as const
  onTestFinished(() => void clients.map(client => client.disconnect()))
  const [client, reader] = clients
  await expect.poll(() => client.wait(1, 1_000)).toBe(1)

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
  const master = await started({ 'repl-diskless-sync-delay': '0' })
  const replica = await started({ replicaof: `127.0.0.1 ${master.port}` })
  const client = await openClient(master.url)
  onTestFinished(() => client.disconnect())
  await expect.poll(() => client.wait(1, 1_000)).toBe(1)
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
