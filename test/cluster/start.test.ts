import { readFile } from 'node:fs/promises'
import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createToken } from '../../src/core/token.ts'
import { createThing, write } from '../helpers/http-client.ts'
import { connectMqtt, isMessageOn } from '../helpers/mqtt-client.ts'
import { mqttOfTest, nodeOfTest } from '../helpers/of-test.ts'
import { redisClientOfTest, redisOfTest, redisOfTests } from '../helpers/redis-of-test.ts'
import { type RedisServer, type RedisSetup, startRedis } from '../helpers/redis-server.ts'
import { runCli, type ServerProcess } from '../helpers/server-process.ts'

const redis = redisOfTests()

const adminKey = createToken()

/** Starts a node where it is expected to end by itself. */
function fail(url: string, environment: NodeJS.ProcessEnv = { THINGWIRE_ADMIN_KEY: adminKey }) {
  const args = ['start', '--http-port', '0', '--mqtt-port', '0']
  return runCli({ args, environment: { ...environment, THINGWIRE_REDIS_URL: url } })
}

async function start(url: string, environment: NodeJS.ProcessEnv = {}): Promise<ServerProcess> {
  const node = await nodeOfTest(url, adminKey, { environment })
  return node
}

async function redisWith(config: NonNullable<RedisSetup['config']>): Promise<RedisServer> {
  return await redisOfTest({ config })
}

describe('a node', () => {
  it('needs no more rights in Redis than its page says', async () => {
    const page = await readFile(new URL('../../docs/use/several-nodes.md', import.meta.url), 'utf8')
    const rights = /a user with `([^`]+)` is enough/.exec(page)?.[1]?.split(' ') ?? []
    const { url } = await redisOfTest()
    const operator = await redisClientOfTest(url)
    await operator.call('ACL', 'SETUSER', 'node', 'on', '>secret', ...rights)
    const of = url.replace('redis://', 'redis://node:secret@')
    const nodes = [
      await start(of, { THINGWIRE_TOPICS: 'house/#' }),
      await start(of, { THINGWIRE_TOPICS: 'house/#' }),
    ]
    const [here, there] = await Promise.all(
      nodes.map(({ mqttUrl }) => mqttOfTest({ url: mqttUrl, username: 'x', password: adminKey })),
    )
    expect(await there?.subscribe('house/a')).toBe(1)
    await here?.publish('house/a', 'told')
    await there?.next(isMessageOn('house/a'))
  })

  it('does not start without an admin key', async () => {
    const { code, stderr } = await fail(redis.url, {})
    expect(code).toBe(1)
    expect(stderr.trim()).toBe(
      'thingwire: redisUrl is set but not adminKey: set THINGWIRE_ADMIN_KEY to the same key on every node',
    )
  })

  it('does not start where there is no Redis, and says where it looked without the password', async () => {
    const gone = await startRedis()
    await gone.end()
    const { code, stderr } = await fail(gone.url.replace('//', '//:sesame@'))
    expect(code).toBe(1)
    expect(stderr.trim()).toMatch(/^thingwire: .*Redis at 127\.0\.0\.1:\d+.*$/)
    expect(stderr).not.toContain('sesame')
  })

  it('does not start with a url that is none, and does not repeat it', async () => {
    const { code, stderr } = await fail('redis://:sesame@127.0.0.1/x')
    expect(code).toBe(1)
    expect(stderr.trim()).toMatch(/^thingwire: THINGWIRE_REDIS_URL must be .*$/)
    expect(stderr).not.toContain('sesame')
  })

  it.each([{ appendonly: 'no' }, { 'maxmemory-policy': 'allkeys-lru' }])(
    'does not start on a Redis that may lose what is acknowledged (%o), unless told to, and then warns',
    async config => {
      const unsafe = await redisWith(config)
      const [name = ''] = Object.keys(config)
      const { code, stderr } = await fail(unsafe.url)
      expect(code).toBe(1)
      expect(stderr).toMatch(new RegExp(`^thingwire: .*${name}`, 'm'))
      const node = await start(unsafe.url, { THINGWIRE_REDIS_ALLOW_UNSAFE: 'true' })
      await node.logged(new RegExp(`"level":40,.*UNSAFE.*${name}`))
    },
  )

  it('says at its start what an ack means', async () => {
    const node = await start(redis.url)
    await node.logged(/"level":30,.*an ack means: the write is on the disk of Redis/)
    const relaxed = await redisWith({ appendfsync: 'everysec' })
    const other = await start(relaxed.url)
    await other.logged(/"level":40,.*an ack means: Redis has the write, but loss of power can lose/)
  })

  it('acknowledges nothing that has not reached as many replicas as it is told', async () => {
    const primary = await redisWith({ 'repl-diskless-sync-delay': '0' })
    const replica = await redisWith({ replicaof: `127.0.0.1 ${primary.port}` })
    const client = new Redis(primary.url)
    onTestFinished(() => client.disconnect())
    await expect.poll(() => client.wait(1, 1_000)).toBe(1)
    const node = await start(primary.url, { THINGWIRE_REDIS_REPLICAS: '1' })
    const thing = await createThing(node)
    const answer = (value: number) => write(node, thing, { values: [{ key: 'n', value }] })
    expect((await answer(1)).status).toBe(201)
    await replica.kill()
    expect((await answer(2)).status).toBe(503)
    await replica.restart()
    await expect.poll(async () => (await answer(3)).status).toBe(201)
  })

  it('has no backup of its own, and says so', async () => {
    const node = await start(redis.url)
    const headers = { authorization: adminKey }
    const answer = await fetch(`${node.url}/v2/admin/backup`, { method: 'POST', headers })
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ reason: 'not_found' })
  })

  it('that is stopped says first that it leaves, and serves on meanwhile', async () => {
    const node = await start(redis.url)
    const thing = await createThing(node)
    node.process.kill('SIGTERM')
    await node.logged(/"stopping"/)
    expect((await fetch(`${node.url}/readyz`)).status).toBe(503)
    expect((await write(node, thing, { values: [{ key: 'n', value: 1 }] })).status).toBe(201)
    const client = await connectMqtt({ url: node.mqttUrl, username: thing.thingToken })
    expect(client.connack.returnCode).toBe(0)
    await client.publish(`things/${thing.thingToken}/write`, { values: [{ key: 'n', value: 2 }] })
    await client.untilClosed()
    expect(await node.exited).toMatchObject({ code: 0, signal: null })
  })
})
