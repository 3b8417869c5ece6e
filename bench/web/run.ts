import { parseArgs } from 'node:util'
import { launchBrowser } from '../../test/browser/browser.ts'
import { storeVoyage } from '../../test/browser/voyage.ts'
import { createThing } from '../../test/helpers/http-client.ts'
import { JudgedLines } from '../../test/helpers/judged-lines.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { withServer } from '../../test/helpers/with-server.ts'
import { createProgress } from '../load/progress.ts'
import { median, quantile } from '../statistics.ts'
import { type ColdLoad, loadCold, signedInProfile } from './load.ts'
import { isFineCoast, maximumBytes, maximumCoastBytes, type SentFile, sentFiles, totalBytes } from './size.ts'

/**
 * `npm run bench:web [-- --rounds 10]`: what the built dashboard weighs, and how soon a browser that has nothing of it shows
 * the first value of a thing with a voyage of four hours. Ends with status 1 if a bound is missed or the page reports an error.
 */

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '10' } } })
const rounds = Number(values.rounds)
/** Milliseconds, of the 95th percentile. */
const bound = 1_500

const judged = new JudgedLines()
await weigh()
judge(await withServer({}, loadAgainAndAgain))
process.exitCode = judged.broken === 0 ? 0 : 1

async function weigh(): Promise<void> {
  const files = await sentFiles()
  for (const { name, bytes } of files.slice(0, 8)) console.log(`${kilobytes(bytes).padStart(9)}  ${name}`)
  weighPart('the finest coastline', files.filter(isFineCoast), maximumCoastBytes)
  weighPart(
    'all other files',
    files.filter(file => !isFineCoast(file)),
    maximumBytes,
  )
}

function weighPart(name: string, files: readonly SentFile[], bound: number): void {
  const total = totalBytes(files)
  judged.line(
    total < bound,
    `${name} (${files.length}), compressed: ${kilobytes(total)} (bound ${kilobytes(bound)})`,
  )
}

async function loadAgainAndAgain(server: ServerProcess): Promise<readonly ColdLoad[]> {
  const thing = await createThing(server)
  await storeVoyage(server, thing)
  const browser = await launchBrowser()
  try {
    const profile = await signedInProfile(browser, server, thing)
    const progress = createProgress(rounds, done => `cold loads: ${done}`)
    const loads: ColdLoad[] = []
    while (loads.length < rounds) {
      loads.push(await loadCold(browser, server, profile, 'depth_m'))
      progress(loads.length)
    }
    return loads
  } finally {
    await browser.close()
  }
}

function judge(loads: readonly ColdLoad[]): void {
  const times = loads.map(({ milliseconds }) => milliseconds)
  const p95 = quantile(times, 0.95)
  judged.line(
    p95 <= bound,
    `cold load to the first value, ${times.length} times: median ${median(times).toFixed(0)} ms, p95 ${p95.toFixed(0)} ms (bound ${bound} ms)`,
  )
  const problems = loads.flatMap(load => load.problems)
  judged.line(problems.length === 0, `errors in the console, or requests to other hosts: ${problems.length}`)
  for (const problem of new Set(problems)) console.log(`  ${problem}`)
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`
}
