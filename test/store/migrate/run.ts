import { parseArgs } from 'node:util'
import { createProgress } from '../../../bench/load/progress.ts'
import { fill } from '../../../bench/store/fill.ts'
import { createToken } from '../../../src/core/token.ts'
import { storeLocation } from '../../../src/server/keeping/choose-store.ts'
import { Report } from '../../fault/report.ts'
import { startNode } from '../../helpers/cluster.ts'
import { createThing, write } from '../../helpers/http-client.ts'
import { type RedisServer, startRedis } from '../../helpers/redis-server.ts'
import { startServer } from '../../helpers/server-process.ts'
import { withDirectory } from '../../helpers/with-server.ts'
import { digestsOf } from './digests.ts'
import { killedMigration, migration } from './migration.ts'

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
  await fill({ location: storeLocation(dataDir), thingId, records, slice: records / 10, onProgress })
  return thingId
}

async function migrateWithKills(dataDir: string, redis: RedisServer): Promise<void> {
  const began = performance.now()
  for (const step of ['moved', 'verified'] as const) {
    const { isKilled, share } = await killedMigration(dataDir, redis.url, step)
    report.line(isKilled, `killed when it had ${step} ${share} %`)
    const refusal = await startNode(redis.url, createToken()).then(
      async node => void (await node.kill()),
      (error: Error) => error.message,
    )
    report.line(refusal?.includes('thingwire migrate has not finished') === true, 'no server starts on it')
  }
  const { code, stdout, firstShare } = await migration(dataDir, redis.url)
  report.line(code === 0 && stdout.includes('now hold the same data'), `it ended with status ${code}`)
  report.line(firstShare === 100, `what was moved before is not moved again: it went on at ${firstShare} %`)
  console.log(stdout)
  console.log(`${((performance.now() - began) / 1_000).toFixed(0)} s for all of it`)
}

async function compare(dataDir: string, redis: RedisServer, thingId: string): Promise<void> {
  const { embedded, moved } = await digestsOf({ location: storeLocation(dataDir), url: redis.url, thingId })
  const same = (key: string) => moved.get(key)?.sha256 === embedded.get(key)?.sha256
  for (const [key, { count, sha256 }] of embedded) {
    const there = moved.get(key)
    report.line(
      same(key),
      `${key}: ${count} and ${there?.count} records, SHA-256 ${sha256} and ${there?.sha256}`,
    )
  }
  const counts = [embedded, moved].map(side => [...side.values()].reduce((sum, { count }) => sum + count, 0))
  report.line(
    counts.every(count => count >= records) && counts[0] === counts[1] && embedded.size === moved.size,
    `${counts.map(count => count.toLocaleString('en')).join(' and ')} records in all`,
  )
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
