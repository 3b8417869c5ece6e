import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { storeLocation } from '../../src/server/keeping/choose-store.ts'
import { bytesOfStore } from '../../src/store/level/database/directory-size.ts'
import { createLevelStore } from '../../src/store/level/index.ts'
import { openStore } from '../../src/store/open-store.ts'
import { createThing, type Thing } from '../../test/helpers/http-client.ts'
import { noRateLimits, type ServerProcess, startServer } from '../../test/helpers/server-process.ts'
import { withDirectory } from '../../test/helpers/with-server.ts'
import { createProgress } from '../load/progress.ts'
import { quantile } from '../statistics.ts'
import { fill } from '../store/fill.ts'
import { startLoad } from './load.ts'

/**
 * `npm run bench:retention [-- --records 1000000]`: records that are too old are removed while 500 writes a second go on. How
 * long acks take then, against a server that removes nothing, whether all went that had to, and what became of the disk
 * space. Exits with 1 if a bound is missed.
 */

const { values } = parseArgs({ options: { records: { type: 'string', default: '1000000' } } })
const records = Number(values.records)
/** Milliseconds. */
const dayOld = 86_400_000
const warmUp = 5_000
/** Quiet and removal alternate, so that what the machine does besides meets both. */
const phase = 20_000
const lookEvery = 1_000
const deadline = 900_000
/** What the load writes stays. */
const bytesPerWrite = 30
const judgedFrom = 1_000_000
let written = 0

const results: { measure: string; figure: string; bound: string; holds: boolean }[] = []
await withDirectory(bench)
console.table(results)
process.exit(results.length === 3 && results.every(({ holds }) => holds) ? 0 : 1)

async function bench(dataDir: string): Promise<void> {
  const [old, writer] = await serve(dataDir, {}, async server => [
    await createThing(server),
    await createThing(server),
  ])
  const onProgress = createProgress(records, done => `records appended: ${done.toLocaleString('en')}`)
  const end = Date.now() - dayOld
  const location = storeLocation(dataDir)
  const filling = { location, thingId: old.thingId, records, slice: records / 10, end, onProgress }
  const { keys } = await fill(filling)
  const full = await bytesOfStore(location)

  const quiet: number[] = []
  const removing: number[] = []
  let isDone = false
  let seconds = 0
  while (!isDone && seconds < deadline / 1_000) {
    await serve(dataDir, {}, server => writeWhile(server, writer, () => delay(phase), quiet))
    await serve(dataDir, { THINGWIRE_RETENTION: '12h' }, async server => {
      const wait = async () => {
        const begin = performance.now()
        isDone = await isRemovedWithin(phase, server, old, keys)
        seconds += (performance.now() - begin) / 1_000
      }
      await writeWhile(server, writer, wait, removing)
      if (isDone) await judgeLeft(server, old, keys)
    })
  }
  console.log(`  ${Math.round(records / seconds).toLocaleString('en')} records removed a second`)
  const inQuiet = percentile('nothing is removed', quiet)
  const inRemoval = percentile('records are removed', removing)
  const most = Math.max(2 * inQuiet, 10)
  const text = `at most ${most.toFixed(1)} (quiet: ${inQuiet.toFixed(1)})`
  report('ack p99 while records are removed, ms', inRemoval, text, inRemoval <= most)
  // What is in the log goes into tables, so that it counts as what it is.
  await openStore(createLevelStore({ location })).then(store => store.close())
  const after = await bytesOfStore(location)
  const bound = full / 4 + written * bytesPerWrite
  report(
    'size of the store, MB',
    after / 1e6,
    `at most ${(bound / 1e6).toFixed(1)} (before: ${(full / 1e6).toFixed(1)}; ${written} writes since)`,
    // Of fewer records, less of a resource than is compacted.
    after <= bound || records < judgedFrom,
  )
}

async function serve<T>(
  dataDir: string,
  environment: NodeJS.ProcessEnv,
  use: (server: ServerProcess) => Promise<T>,
): Promise<T> {
  const server = await startServer({ dataDir, environment: { ...noRateLimits, ...environment } })
  try {
    return await use(server)
  } finally {
    await server.stop()
  }
}

/** What is compiled and allocated first counts on neither side. */
async function writeWhile(
  server: ServerProcess,
  writer: Thing,
  wait: () => Promise<void>,
  into: number[],
): Promise<void> {
  const load = await startLoad(server, writer)
  const begin = performance.now() + warmUp
  await wait()
  await load.stop()
  written += load.acks.length
  for (const { sentAt, took } of load.acks) if (sentAt >= begin) into.push(took)
}

function percentile(when: string, took: readonly number[]): number {
  const shown = [0.5, 0.99, 0.999, 1].map(share => quantile(took, share).toFixed(1)).join(', ')
  console.log(`  ${took.length} acks while ${when}: p50, p99, p99.9, longest ${shown} ms`)
  return quantile(took, 0.99)
}

async function isRemovedWithin(
  milliseconds: number,
  server: ServerProcess,
  thing: Thing,
  keys: readonly string[],
): Promise<boolean> {
  const end = performance.now() + milliseconds
  while (performance.now() < end) {
    await delay(lookEvery)
    const left = await Promise.all(keys.map(key => newest(server, thing, key, 2)))
    const done = left.filter(each => each.length === 1).length
    console.error(`  ${done} of ${keys.length} resources are done`)
    if (done === keys.length) return true
  }
  return false
}

async function judgeLeft(server: ServerProcess, thing: Thing, keys: readonly string[]): Promise<void> {
  const left = await Promise.all(keys.map(key => newest(server, thing, key, 10)))
  const kept = left.reduce((sum, each) => sum + each.length, 0)
  report(
    'old records that are left',
    kept,
    `${keys.length}: the newest of each resource`,
    kept === keys.length,
  )
}

/** The newest records of a resource, at most `limit`. */
async function newest(
  { url }: ServerProcess,
  { thingToken }: Thing,
  key: string,
  limit: number,
): Promise<unknown[]> {
  const response = await fetch(`${url}/v2/things/${thingToken}/resources/${key}?limit=${limit}`)
  return (await response.json()) as unknown[]
}

function report(measure: string, figure: number, bound: string, holds: boolean): void {
  results.push({ measure, figure: figure.toFixed(Number.isInteger(figure) ? 0 : 1), bound, holds })
}
