import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { expect, onTestFinished, test } from 'vitest'
import { redisKeys } from '../../../src/store/redis/keys.ts'
import { redisClientOfTest, redisOfTest } from '../../helpers/redis-of-test.ts'
import { runCli, type ServerSetup, startServer } from '../../helpers/server-process.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import { type Extent, fewTemperatures, temperatures } from './content.ts'
import { encodeBackup, putRedisStore, putStore, readBackup } from './fixtures.ts'
import { expectContent } from './read-back.ts'

/** README.md says of each fixture which build has made it. */
const opened: readonly (readonly [name: string, extent: Extent])[] = [
  ['format-1-runs', 'sessions'],
  ['format-1-topics', 'topics'],
  ['format-1-packed', 'topics'],
]
const refused = ['format-1-first', 'format-2', 'format-3']
const openedInRedis: readonly (readonly [name: string, extent: Extent])[] = [
  ['format-1-holds', 'sessions'],
  ['format-1-topics', 'topics'],
]
const refusedInRedis = ['format-1-first', 'format-2']

const adminKey = 'a'.repeat(32)

async function serverOn(setup: ServerSetup) {
  const environment = { ...setup.environment, THINGWIRE_TOPICS: 'tele/#', THINGWIRE_WILL_GRACE: '0' }
  const server = await startServer({ ...setup, environment })
  onTestFinished(async () => {
    await server.kill()
  })
  return server
}

async function directories(name: string) {
  const directory = await temporaryDirectory()
  const [dataDir, file] = [join(directory, 'data'), join(directory, 'old.backup')]
  const backup = await readBackup(name)
  await writeFile(file, encodeBackup(backup))
  return { dataDir, file, backup, location: join(dataDir, 'store') }
}

async function formatIn(location: string): Promise<string | undefined> {
  const level = new ClassicLevel(location)
  const format = await level.get('m:format')
  await level.close()
  return format
}

test.each(opened)('a store of %s is opened whole, and is one of today from then on', async (name, extent) => {
  const { dataDir, backup, location } = await directories(name)
  await putStore(backup, location)
  expect(await runCli({ args: ['check', '--data-dir', dataDir] })).toMatchObject({ code: 0 })
  const server = await serverOn({ dataDir })
  await server.logged(/the store had format 1 and has format 4 now/)
  await expectContent(server, extent, temperatures)
  await server.stop()
  expect(await formatIn(location)).toBe('4')
  expect(await runCli({ args: ['check', '--data-dir', dataDir] })).toMatchObject({ code: 0 })
})

test.each(opened)('a backup of %s is restored, and opened whole', async (name, extent) => {
  const { dataDir, file } = await directories(name)
  expect(await runCli({ args: ['restore', file, '--data-dir', dataDir] })).toMatchObject({ code: 0 })
  await expectContent(await serverOn({ dataDir }), extent, temperatures)
})

test.each(refused)(
  'a store of %s is refused in a line by serve, check and migrate, and stays',
  async name => {
    const { dataDir, backup, location } = await directories(name)
    await putStore(backup, location)
    const before = await formatIn(location)
    for (const command of ['serve', 'check', 'migrate']) {
      const environment = command === 'migrate' ? { THINGWIRE_REDIS_URL: (await redisOfTest()).url } : {}
      const { code, stderr } = await runCli({ args: [command, '--data-dir', dataDir], environment })
      expect(code).toBe(1)
      expect(stderr).toMatch(
        /^thingwire: cannot .* it has format \d of an early version, .* import them into a new store\n$/m,
      )
    }
    expect(await formatIn(location)).toBe(before)
  },
)

test.each(refused)('a backup of %s is refused in a line, and nothing is left', async name => {
  const { dataDir, file } = await directories(name)
  const { code, stdout, stderr } = await runCli({ args: ['restore', file, '--data-dir', dataDir] })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^thingwire: cannot restore: [^\n]* it has format \d of an early version, [^\n]*\n$/)
  expect(await runCli({ args: ['check', '--data-dir', dataDir] })).toMatchObject({ code: 1 })
})

test('a backup of a newer format is refused in a line', async () => {
  const { dataDir, file, backup } = await directories('format-1-packed')
  const newer = backup.frames.map(
    ([key, value]) => [key, `${key}` === 'm:format' ? Buffer.from('5') : value] as const,
  )
  await writeFile(file, encodeBackup({ ...backup, frames: newer }))
  const { code, stderr } = await runCli({ args: ['restore', file, '--data-dir', dataDir] })
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/it has format 5, and this version/),
  })
  const line = Buffer.from('thingwire backup 5\n')
  await writeFile(file, encodeBackup({ ...backup, line }))
  const later = await runCli({ args: ['restore', file, '--data-dir', dataDir] })
  expect(later).toMatchObject({ code: 1, stderr: expect.stringMatching(/or it is from a newer version/) })
})

test('a store that an older version has opened and called 3, or that restore once made of the oldest, is refused', async () => {
  const called = await directories('format-1-packed')
  await putStore(called.backup, called.location)
  const level = new ClassicLevel(called.location)
  await level.put('m:format', '3')
  await level.close()
  const oldest = await directories('format-1-first')
  await putStore(oldest.backup, oldest.location)
  const restored = new ClassicLevel(oldest.location)
  await restored.put('m:identity', 'i'.repeat(16))
  await restored.close()
  for (const [{ dataDir }, told] of [
    [called, /an older version has written .*: restore a backup from before/],
    [oldest, /it has format 1 of an early version/],
  ] as const) {
    const { code, stderr } = await runCli({ args: ['serve', '--data-dir', dataDir] })
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(told) })
  }
})

test.each(openedInRedis)(
  '%s in Redis is opened whole, and is one of today from then on',
  async (name, extent) => {
    const { url } = await redisOfTest()
    const client = await redisClientOfTest(url)
    await putRedisStore(name, client)
    const environment = { THINGWIRE_REDIS_URL: url, THINGWIRE_ADMIN_KEY: adminKey }
    const server = await serverOn({ environment })
    await server.logged(/the store had format 1 and has format 3 now/)
    await expectContent(server, extent, fewTemperatures)
    expect(await client.hget(redisKeys('thingwire').meta, 'format')).toBe('3')
  },
)

test.each(refusedInRedis)('%s in Redis is refused in a line, and stays', async name => {
  const { url } = await redisOfTest()
  const client = await redisClientOfTest(url)
  await putRedisStore(name, client)
  const before = await client.hgetall(redisKeys('thingwire').meta)
  const environment = { THINGWIRE_REDIS_URL: url, THINGWIRE_ADMIN_KEY: adminKey }
  const { code, stderr } = await runCli({
    args: ['serve', '--http-port', '0', '--mqtt-port', '0'],
    environment,
  })
  expect(code).toBe(1)
  expect(stderr).toMatch(/^thingwire: cannot use the store .* it has format \d of an early version, .*$/m)
  expect(await client.hgetall(redisKeys('thingwire').meta)).toEqual(before)
})
