import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { mastersOf, openClient } from '../../../../src/store/redis/connection/connection.ts'
import { checkDurability, type DurabilityOptions } from '../../../../src/store/redis/connection/durability.ts'
import { startRedisCluster } from '../../../helpers/redis-cluster.ts'
import { redisClientOfTest, redisOfTest } from '../../../helpers/redis-of-test.ts'
import { type RedisServer, startRedis } from '../../../helpers/redis-server.ts'

/** What a server is, less what is looked at. */
const usual = {
  appendonly: 'yes',
  appendfsync: 'always',
  maxmemory: '100mb',
  'maxmemory-policy': 'noeviction',
}

let server: RedisServer
beforeAll(async () => {
  server = await startRedis({ config: { 'repl-diskless-sync-delay': '0' } })
  return () => server.end()
})

async function check(
  config: Readonly<Record<string, string>>,
  options: DurabilityOptions = {},
  url = server.url,
) {
  const operator = await openClient(server.url)
  const client = await openClient(url)
  onTestFinished(() => {
    operator.disconnect()
    client.disconnect()
  })
  for (const [name, value] of Object.entries({ ...usual, 'no-appendfsync-on-rewrite': 'no', ...config })) {
    await operator.config('SET', name, value)
  }
  return await checkDurability(client, options)
}

test('checkDurability() says what an ack means', async () => {
  expect(await check({})).toEqual({
    statements: ['an ack means: the write is on the disk of Redis (appendfsync always)'],
    warnings: [],
  })
  for (const appendfsync of ['everysec', 'no']) {
    const { statements, warnings } = await check({ appendfsync })
    expect([statements, warnings]).toEqual([[], [expect.stringContaining(`(appendfsync ${appendfsync})`)]])
  }
})

test('checkDurability() refuses what does not keep acks, unless that is allowed', async () => {
  const unsafe: Record<string, string>[] = [
    { appendonly: 'no' },
    { 'maxmemory-policy': 'allkeys-lru' },
    { 'maxmemory-policy': 'volatile-ttl', maxmemory: '0' },
  ]
  for (const config of unsafe) {
    const [[name, value] = []] = Object.entries(config)
    const text = `Redis at 127.0.0.1:${server.port}: ${name} is ${value}`
    await expect(check(config)).rejects.toThrow(text)
    const { warnings } = await check(config, { allowUnsafe: true })
    expect(warnings[0]).toContain(`UNSAFE, but allowed by redisAllowUnsafe: ${name} is ${value}`)
  }
  expect((await check({ appendonly: 'no' }, { allowUnsafe: true })).statements).toEqual([])
})

test('checkDurability() refuses a replica', async () => {
  const replica = await redisOfTest({ config: { replicaof: `127.0.0.1 ${server.port}` } })
  const client = await redisClientOfTest(replica.url)
  // While it loads what the primary has it answers next to nothing.
  await expect.poll(() => client.info('replication')).toContain('master_link_status:up')
  await expect(checkDurability(client, {})).rejects.toThrow(
    `Redis at 127.0.0.1:${replica.port}: it is a replica`,
  )
})

test('checkDurability() warns of what weakens acks now and then', async () => {
  expect((await check({ 'no-appendfsync-on-rewrite': 'yes' })).warnings).toEqual([
    expect.stringContaining('no-appendfsync-on-rewrite is yes'),
  ])
  expect((await check({ maxmemory: '0' })).warnings).toEqual([expect.stringContaining('maxmemory is 0')])
})

test('checkDurability() counts replicas, and refuses to wait for their disks before Redis 7.2', async () => {
  const { statements, warnings } = await check({}, { replicas: 1 })
  expect(statements).toEqual([expect.stringContaining('and in the memory of 1 replica')])
  expect(warnings).toEqual([expect.stringContaining('0 replicas are connected, but redisReplicas is 1')])
  await redisOfTest({ config: { replicaof: `127.0.0.1 ${server.port}` } })
  const client = await redisClientOfTest(server.url)
  await expect.poll(() => client.wait(1, 1_000)).toBe(1)
  expect((await check({}, { replicas: 1 })).warnings).toEqual([])
  const version = /redis_version:(\S+)/.exec(await client.info('server'))?.[1] ?? ''
  const asked = check({}, { replicas: 1, replicasFsync: true })
  if (version < '7.2')
    await expect(asked).rejects.toThrow(
      `redisReplicasFsync (WAITAOF) needs Redis 7.2 or later, but it is ${version}`,
    )
  else expect((await asked).statements).toEqual([expect.stringContaining('on the disks of 1 replica')])
})

test('checkDurability() says what it could not check where CONFIG or INFO is forbidden', async () => {
  const operator = await redisClientOfTest(server.url)
  const password = 'not-said'
  await operator.call('ACL', 'SETUSER', 'managed', 'on', `>${password}`, '~*', '+@all', '-config')
  await operator.call('ACL', 'SETUSER', 'blind', 'on', `>${password}`, '~*', '+@all', '-config', '-info')
  const as = (user: string) => `redis://${user}:${password}@127.0.0.1:${server.port}`
  const managed = await check({}, {}, as('managed'))
  expect(managed).toEqual({
    statements: [],
    warnings: [expect.stringContaining('appendfsync could not be checked:')],
  })
  await expect(check({ appendonly: 'no' }, {}, as('managed'))).rejects.toThrow('appendonly is no')
  await expect(check({ 'maxmemory-policy': 'allkeys-lfu' }, {}, as('managed'))).rejects.toThrow('allkeys-lfu')
  const { warnings } = await check({}, {}, as('blind'))
  expect(warnings).toEqual([
    expect.stringContaining('version'),
    expect.stringContaining('appendonly could not be checked:'),
    expect.stringContaining('appendfsync could not be checked:'),
    expect.stringContaining('maxmemory-policy could not be checked:'),
  ])
  expect(warnings.join()).not.toContain(password)
})

test('checkDurability() looks at every master of a cluster', async () => {
  const cluster = await startRedisCluster({ config: usual })
  onTestFinished(() => cluster.end())
  const client = await openClient(cluster.url)
  const last = await openClient(cluster.nodes[2]?.url ?? '')
  onTestFinished(() => {
    client.disconnect()
    last.disconnect()
  })
  const always = ['an ack means: the write is on the disk of Redis (appendfsync always)']
  expect(await checkDurability(client, {})).toEqual({ statements: always, warnings: [] })
  const own = mastersOf(client).find(({ options }) => options.port === cluster.nodes[2]?.port)
  await own?.config('SET', 'appendonly', 'no')
  const text = `Redis at 127.0.0.1:${cluster.nodes[2]?.port}: appendonly is no`
  await expect(checkDurability(client, {})).rejects.toThrow(text)
})
