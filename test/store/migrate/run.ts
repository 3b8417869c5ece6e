import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { fill } from '../../../bench/peers/fill.ts'
import { createProgress } from '../../../bench/program.ts'
import { pages } from '../../../src/conformance/writes.ts'
import { createToken } from '../../../src/core/token.ts'
import { storeLocation } from '../../../src/server/keeping/choose-store.ts'
import type { RecordStore, StoreDriver } from '../../../src/store/contract.ts'
import { createLevelStore } from '../../../src/store/level/index.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { createRedisStore } from '../../../src/store/redis/index.ts'
import { Child } from '../../helpers/child.ts'
import { startNode } from '../../helpers/cluster.ts'
import { createThing, write } from '../../helpers/http-client.ts'
import { type RedisServer, startRedis } from '../../helpers/redis-server.ts'
import { startServer } from '../../helpers/server-process.ts'
import { withDirectory } from '../../helpers/with-server.ts'
import { Report } from '../../rig/program.ts'

/**
 * `npm run fault:migrate [-- --records 1000000]`: `thingwire migrate` is killed while it moves records and while it
 * compares them, goes on, and both sides are compared through the stores' own ports. Ends with status 1 if they differ.
 */
const { values } = parseArgs({ options: { records: { type: 'string', default: '1000000' } } })
const records = Number(values.records)
const report = new Report()

/** An embedded store of one thing, which no process holds. @returns the id of the thing */
async function fillDataDir(dataDir: string): Promise<string> {
  const server = await startServer({ dataDir })
  const thing = await createThing(server)
  await write(server, thing, { values: [{ key: '$settings.name', value: 'Boat' }] })
  await server.stop()
  const onProgress = createProgress(records, done => `${done.toLocaleString('en')} records written`)
  const { thingId } = thing
  await fill({ location: storeLocation(dataDir), thingId, records, onProgress })
  return thingId
}

async function migrateWithKills(dataDir: string, redis: RedisServer): Promise<void> {
  const began = performance.now()
  for (const step of ['moved', 'verified'] as const) {
    const { isKilled, share } = await killMigration(dataDir, redis.url, step)
    report.line(isKilled, `killed when it had ${step} ${share} %`)
    const refusal = await startNode(redis.url, createToken()).then(
      async node => void (await node.kill()),
      (error: Error) => error.message,
    )
    report.line(refusal?.includes('thingwire migrate has not finished') === true, 'no server starts on it')
  }
  const { code, stdout, stderr } = await startMigration(dataDir, redis.url).exited
  const firstShare = shareIn(stderr, 'moved')
  report.line(code === 0 && stdout.includes('now hold the same data'), `it ended with status ${code}`)
  report.line(firstShare === 100, `what was moved before is not moved again: it went on at ${firstShare} %`)
  console.log(stdout)
  console.log(`${((performance.now() - began) / 1_000).toFixed(0)} s for all of it`)
}

const cli = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url))
const tsx = import.meta.resolve('tsx')

type Step = 'moved' | 'verified'

/** `thingwire migrate`; its progress goes to stderr. */
function startMigration(dataDir: string, url: string): Child {
  const env = { ...process.env, THINGWIRE_REDIS_URL: url }
  const child = new Child(process.execPath, ['--import', tsx, cli, 'migrate', '--data-dir', dataDir], { env })
  child.process.stderr?.pipe(process.stderr)
  return child
}

/** In the middle of a step. @returns the share that was done by then, percent */
async function killMigration(dataDir: string, url: string, step: Step) {
  const child = startMigration(dataDir, url)
  const [line] = await child.until('stderr', new RegExp(`^${step} .* \\((?:[5-9]\\d|100) %\\)`, 'm'))
  const share = shareIn(line, step) ?? 100
  const { signal } = await child.end('SIGKILL')
  return { isKilled: signal === 'SIGKILL' && share < 100, share }
}

/** Percent of the first line of progress that has one, such as `moved 1,000 of 2,000 records (50 %), 900 a second`. */
function shareIn(progress: string, step: Step): number | undefined {
  const [, percent] = new RegExp(`^${step} .* \\((\\d+) %\\)`, 'm').exec(progress) ?? []
  return percent === undefined ? undefined : Number(percent)
}

async function compare(dataDir: string, redis: RedisServer, thingId: string): Promise<void> {
  const embedded = await digestsOf(createLevelStore({ location: storeLocation(dataDir) }), thingId)
  const moved = await digestsOf(createRedisStore({ url: redis.url }), thingId)
  for (const [key, { count, sha256 }] of embedded) {
    const there = moved.get(key)
    report.line(
      there?.sha256 === sha256,
      `${key}: ${count} and ${there?.count} records, SHA-256 ${sha256} and ${there?.sha256}`,
    )
  }
  const counts = [embedded, moved].map(side => [...side.values()].reduce((sum, { count }) => sum + count, 0))
  report.line(
    counts.every(count => count >= records) && counts[0] === counts[1] && embedded.size === moved.size,
    `${counts.map(count => count.toLocaleString('en')).join(' and ')} records in all`,
  )
}

const pageSize = 1_000
const storeTimeout = 60_000

/** By resource of the thing, as the store's own port gives them; no process holds the store. */
async function digestsOf(driver: StoreDriver, thingId: string) {
  const store = await openStore(driver, { storeTimeout })
  const digests = new Map<string, Awaited<ReturnType<typeof digestOf>>>()
  for (const key of await store.records.resources(thingId)) {
    digests.set(key, await digestOf(store.records, thingId, key))
  }
  await store.close()
  return digests
}

/** @returns how many records there are, and the SHA-256 of datetime, value and position of each, in order */
async function digestOf(records: RecordStore, thingId: string, key: string) {
  const hash = createHash('sha256')
  let count = 0
  for await (const page of pages(records, { thingId, key, order: 'asc', limit: pageSize })) {
    for (const { datetime, value, geo } of page) {
      hash.update(`${JSON.stringify([datetime, value, geo?.lat, geo?.long])}\n`)
      count++
    }
  }
  return { count, sha256: hash.digest('hex') }
}

const redis = await startRedis()
try {
  await withDirectory(async dataDir => {
    const thingId = await fillDataDir(dataDir)
    await migrateWithKills(dataDir, redis)
    await compare(dataDir, redis, thingId)
  })
} finally {
  await redis.end()
}
process.exitCode = report.broken === 0 ? 0 : 1
