import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  duplicateForBlocking,
  mastersOf,
  openClient,
} from '../../../../src/store/redis/connection/connection.ts'
import { createCertificate } from '../../../helpers/certificate.ts'
import { eventOf } from '../../../helpers/event-of.ts'
import { type RedisCluster, startRedisCluster } from '../../../helpers/redis-cluster.ts'
import { redisClientOfTest, redisOfTest } from '../../../helpers/redis-of-test.ts'
import { freePort } from '../../../helpers/redis-server.ts'
import { temporaryDirectory } from '../../../helpers/temporary-directory.ts'

const password = 'kept%to@yourself'

describe('openClient()', () => {
  test('connects to a single Redis, with user, password and database', async () => {
    const { port } = await redisOfTest({ config: { requirepass: password } })
    const login = `default:${encodeURIComponent(password)}`
    const first = await redisClientOfTest(`redis://${login}@127.0.0.1:${port}/1`)
    await first.set('a', '1')
    expect(await (await redisClientOfTest(`redis://${login}@127.0.0.1:${port}/1`)).get('a')).toBe('1')
    expect(
      await (await redisClientOfTest(`redis://:${encodeURIComponent(password)}@127.0.0.1:${port}`)).get('a'),
    ).toBeNull()
  })

  test('says what is wrong without the password', async () => {
    const { port } = await redisOfTest({ config: { requirepass: 'other' } })
    const secret = encodeURIComponent(password)
    const rejections = {
      [`redis://:${secret}@127.0.0.1:${port}`]: `cannot use Redis at 127.0.0.1:${port}: it refuses the user or the password`,
      [`redis://127.0.0.1:${port}`]:
        'it requires a password: give it in the URL, redis://:password@host:port',
      'redis://:p@ss/w@127.0.0.1': 'write % as %25, / as %2F',
      [`redis://:${secret}@127.0.0.1:${await freePort()}`]:
        'does Redis run there, and is its URL (redisUrl, ',
      [`redis://:${secret}@redis.invalid`]: 'does Redis run there, and is its URL (redisUrl, ',
      [`redis://:${secret}@127.0.0.1:${await freePort()},redis://127.0.0.1:${port}`]:
        'cannot use Redis at 127.0.0.1',
      [`redis://:other@127.0.0.1:${port}/99`]: `cannot use database 99 of Redis at 127.0.0.1:${port}`,
      [`redis://:other@127.0.0.1:${port},redis://127.0.0.1:1`]: 'this Redis is not a cluster',
      [`redis://:other@127.0.0.1:1,redis://127.0.0.1:${port}`]: 'this Redis is not a cluster',
      [`redis://:${secret}@127.0.0.1:${port}/x`]: 'the URL of Redis must be',
      [`redis://:${secret}@127.0.0.1:${port}?db=1`]: 'the URL of Redis must be',
      [`http://:${secret}@127.0.0.1:${port}`]: 'the URL of Redis must be',
      [`redis://:${secret}@[::1`]: 'the URL of Redis must be',
      'redis://:kept%to@127.0.0.1': 'write % as %25',
      '': 'the URL of Redis must be',
    }
    for (const [url, message] of Object.entries(rejections)) {
      const error = await openClient(url).then(undefined, (error: Error) => error)
      expect(error).toMatchObject({ message: expect.stringContaining(message) })
      expect(JSON.stringify([error, `${error}`, Object.entries(error)])).not.toContain('kept')
    }
  })

  test.each([
    ['short', 'sesame'],
    ['long', password.repeat(20)],
  ])('says what is wrong without a %s password that the server quotes', async (_, secret) => {
    const include = join(await temporaryDirectory(), 'without-auth.conf')
    await writeFile(include, 'rename-command AUTH ""\n')
    const { port } = await redisOfTest({ config: { include, requirepass: 'other' } })
    const urls = [`redis://:${encodeURIComponent(secret)}@127.0.0.1:${port}`]
    for (const url of [...urls, ...urls.map(url => `${url},redis://127.0.0.1:1`)]) {
      const { message } = await openClient(url).then(
        () => new Error('connected'),
        (error: Error) => error,
      )
      expect(message).toMatch(/^cannot use Redis at /)
      expect(message).not.toContain(secret.slice(0, 24))
    }
  })

  test('rejects where nothing answers the connection', async () => {
    const silent = createServer(socket => void socket.on('error', () => {})).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    onTestFinished(() => void silent.close())
    const address = silent.address()
    const port = typeof address === 'object' ? address?.port : 0
    await expect(openClient(`redis://127.0.0.1:${port}`)).rejects.toThrow(
      `cannot use Redis at 127.0.0.1:${port}`,
    )
  })

  test('speaks TLS, and refuses a certificate that nobody vouches for', async () => {
    const directory = await temporaryDirectory()
    const { cert, key } = createCertificate()
    await writeFile(join(directory, 'cert.pem'), cert)
    await writeFile(join(directory, 'key.pem'), key)
    const port = await freePort()
    await redisOfTest({
      config: {
        port: '0',
        'tls-port': String(port),
        'tls-cert-file': join(directory, 'cert.pem'),
        'tls-key-file': join(directory, 'key.pem'),
        'tls-ca-cert-file': join(directory, 'cert.pem'),
        'tls-auth-clients': 'no',
      },
    })
    await expect(openClient(`rediss://127.0.0.1:${port}`)).rejects.toThrow('certificate')
  })
})

describe('a client', () => {
  test('rejects what is pending when the connection ends, and connects again', async () => {
    const server = await redisOfTest()
    const client = await redisClientOfTest(server.url)
    await client.set('a', '1')
    const outcome = client.blpop('nothing', 2).catch((error: unknown) => error)
    const back = eventOf(client, 'ready')
    await server.kill()
    expect(await outcome).toBeInstanceOf(Error)
    await expect(client.get('a')).rejects.toThrow()
    await server.restart()
    await back
    expect(await client.get('a')).toBe('1')
  })

  test('gives up a connection over which nothing comes any more', async () => {
    const server = await redisOfTest()
    const client = await redisClientOfTest(server.url)
    const blocking = await duplicateForBlocking(client)
    onTestFinished(() => blocking.disconnect())
    const closed = [eventOf(client, 'close'), eventOf(blocking, 'close')]
    server.process.kill('SIGSTOP')
    await expect(client.get('a')).rejects.toThrow()
    await Promise.all(closed)
    const back = [eventOf(client, 'ready'), eventOf(blocking, 'ready')]
    server.process.kill('SIGCONT')
    await Promise.all(back)
    expect(await client.get('a')).toBeNull()
  })
})

describe('a client of a cluster', () => {
  let cluster: RedisCluster
  beforeAll(async () => {
    cluster = await startRedisCluster()
    return () => cluster.end()
  })

  test('is what openClient() gives for the urls of some nodes, or of one', async () => {
    for (const url of [cluster.url, cluster.nodes[1]?.url ?? '']) {
      const client = await redisClientOfTest(url)
      expect(mastersOf(client)).toHaveLength(3)
      const keys = Array.from({ length: 30 }, (_, index) => `${index}`)
      await Promise.all(keys.map(key => client.set(key, key)))
      expect(await Promise.all(keys.map(key => client.get(key)))).toEqual(keys)
    }
  })

  test('has no databases', async () => {
    for (const url of [`${cluster.nodes[0]?.url}/1`, `${cluster.url}/1`]) {
      await expect(openClient(url)).rejects.toThrow('databases')
    }
  })

  test('rejects what is pending when a node ends, goes on with the others, and finds it again', async () => {
    const client = await redisClientOfTest(cluster.url)
    const blocking = await duplicateForBlocking(client)
    onTestFinished(() => blocking.disconnect())
    // In slots of the first and the last node.
    await client.mset('{0}a', '1')
    await client.set('{7}a', '1')
    const slots = [await client.cluster('KEYSLOT', '{0}'), await client.cluster('KEYSLOT', '{7}')]
    const nodeOf = (slot: number | undefined) => cluster.nodes[Math.floor((3 * (slot ?? 0)) / 16_384)]
    expect(nodeOf(slots[0])).not.toBe(nodeOf(slots[1]))
    const outcome = blocking.blpop('{0}nothing', 2).catch((error: unknown) => error)
    await nodeOf(slots[0])?.kill()
    expect(await outcome).toBeInstanceOf(Error)
    await expect(client.get('{0}a')).rejects.toThrow()
    await nodeOf(slots[0])?.restart()
    await cluster.serving()
    expect(await client.get('{0}a')).toBe('1')
    expect(await client.get('{7}a')).toBe('1')
  })
})
