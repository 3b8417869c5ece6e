import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  key,
  measuredAt,
  readAll as readRecords,
  thing,
  write as writeOf,
} from '../../../src/conformance/writes.ts'
import { createToken } from '../../../src/core/token.ts'
import { storeLocation } from '../../../src/server/keeping/choose-store.ts'
import { createLevelStore } from '../../../src/store/level/index.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { createRedisStore } from '../../../src/store/redis/index.ts'
import { Child } from '../../helpers/child.ts'
import { startNode } from '../../helpers/cluster.ts'
import { createThing, readAll, type Thing, write } from '../../helpers/http-client.ts'
import { connectMqtt, isMessageOn } from '../../helpers/mqtt-client.ts'
import { nodeOfTest } from '../../helpers/of-test.ts'
import { redisOfTest } from '../../helpers/redis-of-test.ts'
import { runCli, type ServerProcess, startServer } from '../../helpers/server-process.ts'
import { temporaryDirectory } from '../../helpers/temporary-directory.ts'

const cli = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url))
const tsx = import.meta.resolve('tsx')

async function redisUrl(): Promise<string> {
  const redis = await redisOfTest()
  return redis.url
}

function migrate(dataDir: string, url: string) {
  return runCli({ args: ['migrate', '--data-dir', dataDir], environment: { THINGWIRE_REDIS_URL: url } })
}

function writeValue(server: ServerProcess, to: Thing, value: unknown, more: object = {}): Promise<Response> {
  return write(server, to, { values: [{ key, value }], ...more })
}

describe('thingwire migrate', () => {
  it('moves a service whose clients notice nothing but a reconnection', async () => {
    const dataDir = await temporaryDirectory()
    const environment = { THINGWIRE_WILL_GRACE: '0' }
    const embedded = await startServer({ dataDir, environment })
    const boat = await createThing(embedded)
    const { thingToken, thingId } = boat
    const client = { clientId: 'dashboard', clean: false, username: thingToken }

    const values = `things/${thingId}/values`
    const away = await connectMqtt({ url: embedded.mqttUrl, acknowledges: false, ...client })
    await away.subscribe(`${values}/${key}`)
    await writeValue(embedded, boat, 'sent and not acknowledged')
    await away.next(isMessageOn(`${values}/${key}`))
    const held = await away.publishUntilPubrec(`things/${thingToken}/write`, {
      values: [{ key: 'held', value: 'once' }],
    })
    await away.destroy()
    for (const value of [1, 2, 3]) await writeValue(embedded, boat, value, { id: `write ${value}` })
    await write(embedded, boat, { values: [{ key: '$settings.name', value: 'Boat' }] })
    const will = {
      topic: `things/${thingToken}/write`,
      payload: { values: [{ key: 'will', value: 'lost' }] },
    }
    await connectMqtt({ url: embedded.mqttUrl, username: thingToken, will: { ...will, qos: 1 } })
    await embedded.kill()

    const url = await redisUrl()
    const moved = await migrate(dataDir, url)
    expect(moved).toMatchObject({ code: 0 })
    expect(moved.stdout).toContain('now hold the same data')
    expect(moved.stderr).toMatch(/^moved \d+ of \d+ records \(\d+ %\), \d+ a second$/m)
    expect(moved.stdout + moved.stderr).not.toContain(thingToken)

    const node = await nodeOfTest(url, createToken(), { environment })
    await writeValue(node, boat, 3, { id: 'write 3' })
    await writeValue(node, boat, 4)
    const back = await connectMqtt({ url: node.mqttUrl, ...client })
    expect(back.connack.sessionPresent).toBe(true)
    const payloads: unknown[] = []
    while (payloads.length < 5) {
      const { payload } = await back.next(isMessageOn(`${values}/${key}`))
      payloads.push((JSON.parse(payload.toString()) as { value: unknown }).value)
    }
    expect(payloads).toEqual(['sent and not acknowledged', 1, 2, 3, 4])
    await back.publishUntilPubrec(
      `things/${thingToken}/write`,
      { values: [{ key: 'held', value: 'once' }] },
      { messageId: held, dup: true },
    )
    await back.release(held)
    expect(await readAll(node, boat, 'held')).toHaveLength(1)
    const settings = await fetch(`${node.url}/v2/things/${thingToken}/resources/$settings`)
    expect(await settings.json()).toMatchObject([{ value: { name: 'Boat' } }])

    const wills = await connectMqtt({ url: node.mqttUrl, username: thingToken })
    await wills.subscribe(`${values}/will`)
    await wills.next(isMessageOn(`${values}/will`))
    expect(await readAll(node, boat, 'will')).toHaveLength(1)
  })

  it('goes on after a kill, and ends with the same', async () => {
    const dataDir = await temporaryDirectory()
    const location = storeLocation(dataDir)
    const records = 100_000
    await mkdir(location, { recursive: true })
    const embedded = await openStore(createLevelStore({ location }))
    for (let from = 0; from < records; from += 10_000) {
      const values = Array.from({ length: 10_000 }, (_, index) => from + index)
      const accepted = values.map(value => ({
        ...{ key, datetime: measuredAt + value, value: String(value), explicit: true },
        geo: { lat: 41 + value / 1e7, long: 2 },
      }))
      await embedded.records.append(writeOf(accepted))
    }
    await embedded.close()
    const url = await redisUrl()

    const environment = { ...process.env, THINGWIRE_REDIS_URL: url }
    const args = ['--import', tsx, cli, 'migrate', '--data-dir', dataDir]
    const child = new Child(process.execPath, args, { env: environment })
    await child.until('stderr', /^moved [1-9]/m)
    await child.end('SIGKILL')
    await expect(openStore(createRedisStore({ url }))).rejects.toThrow('thingwire migrate')

    expect(await migrate(dataDir, url)).toMatchObject({ code: 0 })
    const source = await openStore(createLevelStore({ location }))
    const target = await openStore(createRedisStore({ url }))
    onTestFinished(async () => void (await Promise.all([source.close(), target.close()])))
    const moved = await readRecords(target.records, { thingId: thing })
    expect(moved).toHaveLength(records)
    expect(moved).toEqual(await readRecords(source.records, { thingId: thing }))
  })

  it('says so where all was moved before, and ends well', async () => {
    const dataDir = await temporaryDirectory()
    await (await startServer({ dataDir })).stop()
    const url = await redisUrl()
    expect(await migrate(dataDir, url)).toMatchObject({ code: 0 })
    const again = await migrate(dataDir, url)
    expect(again).toMatchObject({ code: 0 })
    expect(again.stdout).toContain('An earlier run has moved all of')
  })

  it('leaves behind a store on which no server starts, unless the operator wants it', async () => {
    const dataDir = await temporaryDirectory()
    await (await startServer({ dataDir })).stop()
    const url = await redisUrl()
    expect(await migrate(dataDir, url)).toMatchObject({ code: 0 })
    const mark = join(dataDir, 'moved-to-redis')
    const starting = startServer({ dataDir }).then(server => server.stop(), String)
    expect(await starting).toMatch(
      /"code":1,.*"thingwire: the store in \S+ was moved into Redis: .* remove \S+\/moved-to-redis \(--data-dir names the data directory\)\\n"/,
    )
    await rm(mark)
    await (await startServer({ dataDir })).stop()
  })

  it('names what it lacks, in one line', async () => {
    const dataDir = await temporaryDirectory()
    const { code, stderr } = await runCli({ args: ['migrate', '--data-dir', dataDir] })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^thingwire: [^\n]*THINGWIRE_REDIS_URL[^\n]*\n$/)
    const nowhere = await migrate(dataDir, 'redis://:secret@127.0.0.1:1')
    expect(nowhere.code).toBe(1)
    expect(nowhere.stderr).toMatch(/^thingwire: there is no embedded store in [^\n]+\n$/)
  })

  it('starts no server on half a store', async () => {
    const url = await redisUrl()
    const redis = new Redis(url)
    await redis.hset('thingwire:{0}:meta', 'migration', 'begun')
    redis.disconnect()
    await expect(startNode(url, createToken())).rejects.toThrow('thingwire migrate has not finished')
  })
})
