import { monitorEventLoopDelay } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { createProgress } from '../../bench/program.ts'
import { type FuzzResult, fuzz, type Standing } from './fuzz.ts'

/**
 * `npm run fuzz [-- --seconds 600 --seed 1]`: three rounds of hostile input at both doors of one server: the tables of
 * test/hostile, and then, for a third of the time, good requests and packets spoiled at random. Ends with status 1 if
 * anything but a refusal came of it, or if a bound is missed: the memory after a collection of garbage against that
 * behind 20 s of an ordinary load, and how long a healthy client at each door had to wait.
 */

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string', default: `${Math.floor(Math.random() * 1_000_000)}` },
  },
})
const [seconds, seed] = [Number(values.seconds), Number(values.seed)]
if (!(seconds > 0) || !Number.isInteger(seed)) throw new Error('seconds and seed are numbers')

const bounds = {
  /** Without compiled code, after any round, of what was used before the first. */
  memory: 1.2,
  /** With it, after the last round, of what was used after the one before it. */
  growth: 1.05,
  /** Milliseconds that a healthy client waits for an ack beyond what it does when all is quiet. */
  gap: 1_000,
}

console.log(`seed ${seed}`)
const ownDelay = monitorEventLoopDelay({ resolution: 10 })
ownDelay.enable()
let doing = ''
const progress = createProgress(seconds, done => `${Math.round(done)} of ${seconds} s of mutation; ${doing}`)
const result = await fuzz({
  seconds,
  seed,
  rounds: 3,
  warmUp: 20,
  onProgress: (past, what) => {
    doing = what
    progress(past)
  },
})
report(result)
const broken = [...result.findings, ...missedBounds(result)]
for (const finding of broken) console.log(`BROKEN  ${finding}`)
console.log(
  broken.length === 0 ? `nothing found with seed ${seed}` : `${broken.length} found with seed ${seed}`,
)
process.exit(broken.length === 0 ? 0 : 1)

function report({ quiet, rounds, served }: FuzzResult): void {
  const row = ({ server, gaps }: Standing) => ({
    'data, MB': megabytes(server.data),
    'code, MB': megabytes(server.code),
    'external, MB': megabytes(server.external),
    'server blocked, ms': Math.round(server.longestBlock),
    'gap HTTP, ms': Math.round(gaps.http),
    'gap MQTT, ms': Math.round(gaps.mqtt),
  })
  const rows = rounds.map(({ inputs, findings, ...round }, place) => [
    `round ${place + 1}`,
    {
      ...row(round),
      'table inputs': inputs.table,
      'HTTP inputs': inputs.http,
      'MQTT inputs': inputs.mqtt,
      findings: findings.length,
    },
  ])
  console.table({ quiet: row(quiet), ...Object.fromEntries(rows) })
  console.log(
    `the healthy clients were served ${served.http} times over HTTP, ${served.mqtt} times over MQTT`,
  )
  console.log(`this program, which has them, was blocked for ${Math.round(ownDelay.max / 1e6)} ms at most`)
}

function missedBounds({ quiet, rounds }: FuzzResult): readonly string[] {
  const missed: string[] = []
  for (const [place, round] of rounds.entries()) {
    const share = data(round) / data(quiet)
    if (share > bounds.memory) missed.push(`memory after round ${place + 1}: ${share.toFixed(2)} of before`)
    for (const door of ['http', 'mqtt'] as const) {
      const gap = round.gaps[door] - quiet.gaps[door]
      if (gap > bounds.gap)
        missed.push(`gap of ${Math.round(gap)} ms at the ${door} door in round ${place + 1}`)
    }
  }
  const [before, last] = rounds.slice(-2)
  if (before && last && total(last) > total(before) * bounds.growth) {
    missed.push(`memory grew from round to round: ${(total(last) / total(before)).toFixed(2)}`)
  }
  return missed
}

function data({ server }: Standing): number {
  return server.data + server.external
}

function total(standing: Standing): number {
  return data(standing) + standing.server.code
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}
