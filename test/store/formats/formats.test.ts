import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { ClassicLevel } from 'classic-level'
import { expect, onTestFinished, test } from 'vitest'
import { redisKeys } from '../../../src/store/redis/keys.ts'
import type { Client } from '../../../src/store/redis/script.ts'
import { ask, type ServerAddress, type Thing } from '../../helpers/http-client.ts'
import { connectAccepted, type Message, type MqttClient, publishPacket } from '../../helpers/mqtt-client.ts'
import { redisClientOfTest, redisOfTest } from '../../helpers/redis-of-test.ts'
import { runCli, type ServerSetup, startServer } from '../../helpers/server-process.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'
import * as content from './content.ts'
import { type Extent, fewTemperatures, temperatures } from './content.ts'

/** README.md says of each fixture which build has made it. */
const opened: readonly (readonly [name: string, extent: Extent])[] = [
  ['format-1-runs', 'sessions'],
  ['format-1-topics', 'topics'],
  ['format-1-packed', 'topics'],
  ['format-4-topics', 'topics'],
]
const refused = ['format-1-first', 'format-2', 'format-3']
const openedInRedis: readonly (readonly [name: string, extent: Extent])[] = [
  ['format-1-holds', 'sessions'],
  ['format-1-topics', 'topics'],
  ['format-3-topics', 'topics'],
]
const refusedInRedis = ['format-1-first', 'format-2']

/** @param name of a fixture */
const formatOf = (name: string) => name.split('-')[1]

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
  await server.logged(new RegExp(`the store was upgraded from format ${formatOf(name)} to format 5`))
  await expectContent(server, extent, temperatures)
  await server.stop()
  expect(await formatIn(location)).toBe('5')
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
        /^thingwire: cannot .* it has format \d of an early version, .* import them into a new store(?: \(.* names the data directory\))?\n$/m,
      )
    }
    expect(await formatIn(location)).toBe(before)
  },
)

test.each(refused)('a backup of %s is refused in a line, and nothing is left', async name => {
  const { dataDir, file } = await directories(name)
  const { code, stdout, stderr } = await runCli({ args: ['restore', file, '--data-dir', dataDir] })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(
    /^thingwire: cannot restore \S+: [^\n]* it has format \d of an early version, [^\n]*\n$/,
  )
  expect(await runCli({ args: ['check', '--data-dir', dataDir] })).toMatchObject({ code: 1 })
})

test('a backup of a newer format is refused in a line', async () => {
  const { dataDir, file, backup } = await directories('format-1-packed')
  const newer = backup.frames.map(
    ([key, value]) => [key, `${key}` === 'm:format' ? Buffer.from('6') : value] as const,
  )
  await writeFile(file, encodeBackup({ ...backup, frames: newer }))
  const { code, stderr } = await runCli({ args: ['restore', file, '--data-dir', dataDir] })
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/it has format 6, but this version/),
  })
  const line = Buffer.from('thingwire backup 6\n')
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
    [called, /an older version wrote .*: restore a backup made before/],
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
    await server.logged(new RegExp(`the store was upgraded from format ${formatOf(name)} to format 4`))
    await expectContent(server, extent, fewTemperatures)
    expect(await client.hget(redisKeys('thingwire').meta, 'format')).toBe('4')
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

type Frame = readonly [key: Buffer, value: Buffer]

const closing = 0xffffffff

/** A line of text with its end, and what stands behind it. */
interface Backup {
  readonly line: Buffer
  readonly frames: readonly Frame[]
}

/** The backup that a build of another time has made, its MQTT sessions last connected now: they would be over. */
async function readBackup(name: string): Promise<Backup> {
  const bytes = await unzipped(`${name}.backup.gz`)
  let at = bytes.indexOf('\n') + 1
  const line = bytes.subarray(0, at)
  const frames: Frame[] = []
  const next = (length: number) => {
    at += length
    return bytes.subarray(at - length, at)
  }
  for (;;) {
    const length = next(4).readUInt32BE()
    if (length === closing) return { line, frames }
    const valueLength = next(4).readUInt32BE()
    const key = next(length)
    frames.push([key, asOfNow(key, next(valueLength))])
  }
}

function encodeBackup({ line, frames }: Backup): Buffer {
  const bytes = Buffer.concat(
    frames.flatMap(([key, value]) => [uint32(key.length), uint32(value.length), key, value]),
  )
  return Buffer.concat([line, bytes, uint32(closing), createHash('sha256').update(bytes).digest()])
}

/** Makes the store that the backup is of: it has all the keys of one. */
async function putStore({ frames }: Backup, location: string): Promise<void> {
  const level = new ClassicLevel<Buffer, Buffer>(location, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
  await level.batch(frames.map(([key, value]) => ({ type: 'put', key, value })))
  await level.close()
}

/** Runs the commands that make a store in Redis, as a build of another time has left it. */
async function putRedisStore(name: string, client: Client): Promise<void> {
  const lines = (await unzipped(`${name}.redis.gz`)).toString().trim().split('\n')
  for (const line of lines) {
    const words = (JSON.parse(line) as (string | { base64: string })[]).map(word =>
      typeof word === 'string' ? Buffer.from(word) : Buffer.from(word.base64, 'base64'),
    )
    const [command = '', ...args] = words
    await client.callBuffer(
      command.toString(),
      ...args.map((word, index) => (index === 0 ? word : asOfNow(args[index - 1] ?? word, word))),
    )
  }
}

/** @param key that ends with the name of a document */
function asOfNow(key: Buffer, value: Buffer): Buffer {
  if (!/^o?mqtt-sessions\//.test(key.toString()) || value[0] !== '{'.charCodeAt(0)) return value
  return Buffer.from(value.toString().replace(/"lastConnected":\d+/, `"lastConnected":${Date.now()}`))
}

async function unzipped(file: string): Promise<Buffer> {
  return gunzipSync(await readFile(new URL(file, import.meta.url)))
}

function uint32(number: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(number)
  return bytes
}

interface Address extends ServerAddress {
  readonly mqttUrl: string
}

/** Reads all that `fill.ts` has put into a store, over HTTP and MQTT. */
async function expectContent(
  server: Address,
  extent: content.Extent,
  temperatures: readonly content.Reading[],
) {
  const { things } = await ask<{ things: { thingId: string; name: string }[] }>(
    server,
    'GET',
    '/v2/admin/things',
  )
  const named = (name: string) => things.find(thing => thing.name === name)?.thingId ?? ''
  await expectReadings(server, named('boat'), temperatures)
  if (extent === 'things') return
  await expectSessions(server, named('boat'))
  if (extent === 'topics') await expectTopics(server, named('hub'))
}

async function expectReadings(server: Address, thingId: string, temperatures: readonly content.Reading[]) {
  const { depths, notes, crowd, missed } = content
  for (const readings of [temperatures, depths, notes, crowd, missed]) {
    const { key } = readings[0] as content.Reading
    expect(await readAll(server, thingId, key)).toEqual(inOrder(readings))
  }
  const hours = '?aggregate=count,min,max&interval=1h&order=asc&limit=1000'
  const counted = await ask<{ count: number; min: number; max: number }[]>(
    ...([server, 'GET', `/v2/things/${thingId}/resources/temperature${hours}`] as const),
  )
  const values = temperatures.map(({ value }) => value as number)
  expect(counted.reduce((sum, { count }) => sum + count, 0)).toBe(values.length)
  expect(Math.min(...counted.map(({ min }) => min))).toBe(Math.min(...values))
  expect(Math.max(...counted.map(({ max }) => max))).toBe(Math.max(...values))
  expect(await readAll(server, thingId, 'gone')).toEqual([])
  const state = (key: string) => ask(server, 'GET', `/v2/things/${thingId}/resources/${key}`)
  expect(await state('$geo')).toMatchObject([{ value: content.place }])
  expect(await state('$settings')).toMatchObject([{ value: content.settings }])
  expect(await ask(server, 'GET', `/v2/things/${thingId}/errors`)).toMatchObject([{ reason: 'invalid_key' }])
}

/** Those who were away find what they have missed; a resend is known; the will of one who has not come back is written. */
async function expectSessions(server: Address, thingId: string) {
  const address = { url: server.mqttUrl, username: await newToken(server, thingId), clean: false }
  const watcher = await connectAccepted({ ...address, clientId: 'watcher' })
  expect(watcher.connack.sessionPresent).toBe(true)
  expect(
    (await messages(watcher, content.missed.length)).map(({ payload }) => JSON.parse(payload.toString())),
  ).toEqual(content.missed)
  await watcher.disconnect()
  const device = await connectAccepted({ ...address, clientId: 'device' })
  const resent = { qos: 2, dup: true, messageId: content.inFlightId } as const
  device.send(publishPacket(`things/${thingId}/write`, content.inFlight, resent))
  await device.next(({ cmd }) => cmd === 'pubrec')
  await device.release(content.inFlightId)
  await device.disconnect()
  expect(await readAll(server, thingId, 'level')).toHaveLength(1)
  await expect.poll(() => readAll(server, thingId, 'will')).toHaveLength(1)
}

async function expectTopics(server: Address, thingId: string) {
  const token = await newToken(server, thingId)
  const hub = await connectAccepted({ url: server.mqttUrl, username: token, clean: false, clientId: 'hub' })
  const received = await messages(hub, content.queued.length)
  expect(received.map(({ topic, payload, qos }) => ({ topic, payload: payload.toString(), qos }))).toEqual(
    content.queued,
  )
  await hub.subscribe('tele/+/LWT')
  const kept = await messages(hub, content.retained.length)
  expect(kept.map(({ topic, payload, retain }) => `${topic} ${payload} ${retain}`).sort()).toEqual(
    content.retained.map(({ topic, payload }) => `${topic} ${payload} true`).sort(),
  )
  await hub.disconnect()
}

async function messages(client: MqttClient, count: number): Promise<Message[]> {
  const received: Message[] = []
  while (received.length < count) {
    received.push((await client.next(({ cmd }) => cmd === 'publish')) as Message)
  }
  return received
}

async function newToken(server: Address, thingId: string): Promise<string> {
  return (await ask<Thing>(server, 'POST', `/v2/admin/things/${thingId}/tokens`)).thingToken
}

async function readAll({ url, adminKey }: Address, thingId: string, key: string): Promise<content.Reading[]> {
  const headers = { accept: 'application/x-ndjson', authorization: `Bearer ${adminKey}` }
  const response = await fetch(`${url}/v2/things/${thingId}/resources/${key}`, { headers })
  const text = await response.text()
  if (response.status !== 200) return []
  return inOrder(
    text
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line) as content.Reading),
  )
}

/** By time, and those of one time by their value. */
function inOrder(readings: readonly content.Reading[]): content.Reading[] {
  const place = ({ datetime, value }: content.Reading) =>
    `${datetime} ${String(JSON.stringify(value)).padStart(8)}`
  return readings.toSorted((one, other) => (place(one) < place(other) ? -1 : 1))
}
