import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createProgress } from '../load/progress.ts'
import { median } from '../statistics.ts'
import { fill } from './fill.ts'
import { exportCsv, timePages } from './read.ts'
import { startServerChild } from './server-child.ts'

/**
 * `npm run bench:store [-- --records 5000000 --rounds 3]`: how one embedded store behaves as it grows. Exits with 1 if
 * a floor is missed; a run of fewer records shows figures that say little, and judges nothing.
 */

const { values } = parseArgs({
  options: { records: { type: 'string', default: '5000000' }, rounds: { type: 'string', default: '3' } },
})
const records = Number(values.records)
const slice = records / 5
const results: Row[] = []

interface Row {
  readonly measure: string
  readonly figure: number
  readonly floor: string
  readonly holds: boolean
}

const ratios: number[] = []
const bytes: number[] = []
for (let round = 1; round <= Number(values.rounds); round++) {
  const dataDir = await mkdtemp(join(tmpdir(), 'thingwire-bench-'))
  const registering = await startServerChild(dataDir)
  const response = await fetch(`${registering.url}/v2/admin/things`, {
    method: 'POST',
    headers: { authorization: registering.adminKey },
    body: '{}',
  })
  const { thingId, thingToken } = (await response.json()) as { thingId: string; thingToken: string }
  await registering.stop()

  const onProgress = createProgress(
    records,
    done => `round ${round}, records appended: ${done.toLocaleString('en')}`,
  )
  const filling = await fill({ location: join(dataDir, 'store'), thingId, records, slice, onProgress })
  const [first = 0] = filling.rates
  const last = filling.rates.at(-1) ?? 0
  ratios.push(last / first)
  bytes.push(filling.bytesPerRecord)
  console.log(`  records/s by slice of ${slice}: ${filling.rates.map(Math.round).join(', ')}`)

  if (round === Number(values.rounds)) await measureReads(dataDir, thingToken, filling.keys)
  await rm(dataDir, { recursive: true })
}
report('append rate, last slice / first (median)', median(ratios), 0.85, 'at least')
report('bytes written to disk a record (median)', median(bytes), 300, 'at most')
console.table(
  results.map(({ measure, figure, floor, holds }) => ({ measure, figure: figure.toFixed(2), floor, holds })),
)
const isJudged = records >= 5_000_000
if (!isJudged) console.log('A short run: the floors are for 5,000,000 records.')
process.exit(!isJudged || results.every(({ holds }) => holds) ? 0 : 1)

async function measureReads(dataDir: string, thingToken: string, keys: readonly string[]): Promise<void> {
  const server = await startServerChild(dataDir)
  const base = `${server.url}/v2/things/${thingToken}`
  const from = Date.now() - (records / keys.length) * 2_000
  const pages = await timePages(base, keys, 1_000, from)
  report('page of 100 records over HTTP, ms (median)', median(pages), 5, 'at most')
  const rows = records / keys.length
  const csv = await exportCsv(server, base, keys[0] ?? '', rows)
  if (csv.rows !== rows) throw new Error(`the export has ${csv.rows} rows, not ${rows}`)
  console.log(`  CSV: ${csv.rows} rows at ${Math.round(csv.rowsPerSecond)} rows/s`)
  report('memory growth after row 100,000 of the CSV, MB', csv.growth / 2 ** 20, 30, 'at most')
  await server.stop()
}

function report(measure: string, figure: number, limit: number, kind: 'at least' | 'at most'): void {
  const holds = kind === 'at least' ? figure >= limit : figure <= limit
  results.push({ measure, figure, floor: `${kind} ${limit}`, holds })
}
