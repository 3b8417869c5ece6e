import { join } from 'node:path'
import { createThing, type Thing } from '../../test/helpers/http-client.ts'
import { noRateLimits, startServer } from '../../test/helpers/server-process.ts'
import { withDirectory } from '../../test/helpers/with-server.ts'
import { endWithUs, idOf } from '../peers/peer.ts'
import { residentMemory } from '../peers/processes.ts'
import { createProgress, median, readOptions } from '../program.ts'
import { fill } from './fill.ts'

/**
 * `npm run bench:store [-- --records 5000000 --rounds 3]`: how one embedded store behaves as it grows. Exits with 1 if
 * a floor is missed; a run of fewer records shows figures that say little, and judges nothing.
 */

const { records, rounds } = readOptions({ records: 5_000_000, rounds: 3 })
const judgedFrom = 5_000_000
const slice = records / 5
const pages = 1_000
/** Rows of the CSV behind which the memory of the server is compared, and from one look at it to the next. */
const [settled, sampleEvery] = [100_000, 50_000]
const results: { measure: string; figure: string; floor: string; holds: boolean }[] = []
const ratios: number[] = []
const bytes: number[] = []

for (let round = 1; round <= rounds; round++) await withDirectory(dataDir => play(dataDir, round))
report('append rate, last slice / first (median)', median(ratios), 0.85, 'at least')
report('bytes written to disk a record (median)', median(bytes), 300, 'at most')
console.table(results)
if (records < judgedFrom)
  console.log(`A short run: the floors are for ${judgedFrom.toLocaleString('en')} records.`)
process.exit(records < judgedFrom || results.every(({ holds }) => holds) ? 0 : 1)

async function play(dataDir: string, round: number): Promise<void> {
  const registering = await start(dataDir)
  const thing = await createThing(registering)
  await registering.stop()
  const onProgress = createProgress(
    records,
    done => `round ${round}, records appended: ${done.toLocaleString('en')}`,
  )
  const filling = { location: join(dataDir, 'store'), thingId: thing.thingId, records, slice, onProgress }
  const { rates, bytesPerRecord, keys } = await fill(filling)
  ratios.push((rates.at(-1) ?? 0) / (rates[0] ?? 0))
  bytes.push(bytesPerRecord)
  console.log(`  records/s by slice of ${slice}: ${rates.map(Math.round).join(', ')}`)
  if (round === rounds) await measureReads(dataDir, thing, keys)
}

async function measureReads(dataDir: string, { thingToken }: Thing, keys: readonly string[]): Promise<void> {
  const server = await start(dataDir)
  const rows = records / keys.length
  const urlOf = (key = '') => `${server.url}/v2/things/${thingToken}/resources/${key}`
  const from = Date.now() - rows * 2_000
  const times: number[] = []
  for (let page = 0; page < pages; page++) {
    const endDate = new Date(from + Math.random() * (Date.now() - from)).toISOString()
    const begin = performance.now()
    const response = await fetch(`${urlOf(keys[page % keys.length])}?limit=100&endDate=${endDate}`)
    const found = (await response.json()) as unknown[]
    times.push(performance.now() - begin)
    if (response.status !== 200 || found.length > 100) throw new Error(`no page: ${response.status}`)
  }
  report('page of 100 records over HTTP, ms (median)', median(times), 5, 'at most')
  const memory = () => residentMemory(idOf(server))
  const growth = await exportCsv(`${urlOf(keys[0])}?limit=${rows}`, rows, memory)
  report('memory growth after row 100,000 of the CSV, MB', growth / 2 ** 20, 30, 'at most')
  await server.stop()
}

/** @returns how much more memory the server had after row 100,000, at most, than there; bytes */
async function exportCsv(url: string, rows: number, memory: () => number): Promise<number> {
  const begin = performance.now()
  const response = await fetch(url, { headers: { accept: 'text/csv' } })
  if (!response.body) throw new Error(`no export: ${response.status}`)
  let seen = -1
  let sampledAt = 0
  const samples: number[] = []
  for await (const piece of response.body) {
    for (const byte of piece) if (byte === 0x0a) seen++
    if (seen < sampledAt + sampleEvery) continue
    sampledAt = seen
    if (seen >= settled) samples.push(memory())
  }
  if (seen !== rows) throw new Error(`the export has ${seen} rows, not ${rows}`)
  const rowsPerSecond = Math.round((rows / (performance.now() - begin)) * 1_000)
  console.log(`  CSV: ${rows} rows at ${rowsPerSecond} rows/s`)
  return Math.max(0, ...samples) - (samples[0] ?? 0)
}

async function start(dataDir: string) {
  const server = await startServer({ dataDir, environment: noRateLimits })
  endWithUs(server.process)
  return server
}

function report(measure: string, figure: number, limit: number, kind: 'at least' | 'at most'): void {
  const holds = kind === 'at least' ? figure >= limit : figure <= limit
  results.push({ measure, figure: figure.toFixed(2), floor: `${kind} ${limit}`, holds })
}
