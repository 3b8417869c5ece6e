import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { createProgress } from '../../examples/voyage/progress.ts'
import { type RunningNodes, startNodes } from '../../test/helpers/cluster.ts'
import { noRateLimits } from '../../test/helpers/server-process.ts'
import { type Door, Load } from './load.ts'
import { type Usage, UsageMeter, usagePerWrite } from './usage.ts'

/**
 * `npm run bench:nodes [-- --seconds 8 --rounds 5]`: what a durable write costs when two nodes on one Redis take half
 * of the writes each, against one node that takes them all. The two take turns, so that what the machine does besides
 * meets both, and each has a Redis of its own. Ends with status 1 if a bound is missed. Linux only.
 */

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '8' }, rounds: { type: 'string', default: '5' } },
})
const seconds = Number(values.seconds)
const rounds = Number(values.rounds)
interface LoadSetup {
  readonly door: Door
  /** Writes of one record a second. */
  readonly rate: number
  /** Where little is to do, a write costs what it costs to wake up: two nodes wake up more often than one. */
  readonly isJudged: boolean
}

const loads: readonly LoadSetup[] = [
  { door: 'MQTT', rate: 500, isJudged: false },
  { door: 'MQTT', rate: 2_000, isJudged: true },
  { door: 'MQTT', rate: 5_000, isJudged: true },
  { door: 'HTTP', rate: 1_000, isJudged: true },
]
/** What two nodes may use of what one does; and what they may use more, of what does not come with writes: heartbeats, pings. */
const bounds: Readonly<Partial<Record<keyof Usage, { readonly ratio: number; readonly more: number }>>> = {
  nodes: { ratio: 1.2, more: 0 },
  roundTrips: { ratio: 1, more: 0.05 },
}
/** Seconds: what is compiled first is no write's cost. */
const warmUp = 3

interface Measured {
  readonly usage: Usage
  readonly rate: number
  readonly ack: number
}

let broken = 0
const clusters: RunningNodes[] = []
try {
  for (const count of [1, 2]) clusters.push(await startNodes(count, { environment: noRateLimits }))
  const onProgress = createProgress(loads.length * rounds, done => `rounds done: ${done}`)
  let done = 0
  for (const { door, rate, isJudged } of loads) {
    const measured: Measured[][] = []
    for (let round = 0; round < rounds; round++) {
      const pair: Measured[] = []
      // In turn, so that neither is always the first.
      for (const cluster of round % 2 === 0 ? clusters : clusters.toReversed()) {
        const one = await measure(cluster, door, rate, round === 0)
        if (cluster === clusters[0]) pair.unshift(one)
        else pair.push(one)
      }
      measured.push(pair)
      onProgress(++done)
    }
    judge(`${door}, ${rate} writes/s`, measured, isJudged)
  }
} finally {
  for (const cluster of clusters) await cluster.end()
}
process.exit(broken === 0 ? 0 : 1)

async function measure(cluster: RunningNodes, door: Door, rate: number, isFirst: boolean): Promise<Measured> {
  const load = await Load.open(door, cluster.nodes)
  const meter = new UsageMeter(cluster)
  try {
    if (isFirst) await load.run(rate, warmUp)
    const before = await meter.read()
    const { writes, seconds: took, acks } = await load.run(rate, seconds)
    const usage = usagePerWrite(before, await meter.read(), writes)
    return { usage, rate: writes / took, ack: acks.lag(50) }
  } finally {
    meter.close()
    await load.close()
  }
}

/** Of each figure the median over the rounds, and that of the ratios of two nodes to one within a round. */
function judge(name: string, measured: readonly Measured[][], isJudged: boolean): void {
  const figures: Readonly<Record<string, (of: Measured) => number>> = {
    nodes: ({ usage }) => usage.nodes,
    roundTrips: ({ usage }) => usage.roundTrips,
    redis: ({ usage }) => usage.redis,
    commands: ({ usage }) => usage.commands,
    rate: ({ rate }) => rate,
    ack: ({ ack }) => ack,
  }
  const units: Readonly<Record<string, string>> = {
    nodes: 'processor time of the nodes a write, us',
    roundTrips: 'round trips to Redis a write',
    redis: 'processor time of Redis a write, us',
    commands: 'commands run by Redis a write',
    rate: 'writes acknowledged a second',
    ack: 'median ack, ms',
  }
  console.log(`\n${name}, ${rounds} rounds of ${seconds} s, load of the machine ${loadavg()[0]?.toFixed(1)}:`)
  const rows = Object.entries(figures).map(([figure, of]) => {
    const pairs = measured.map(pair => pair.map(of))
    const ratio = median(pairs.map(([one = Number.NaN, two = Number.NaN]) => two / one))
    const one = median(pairs.map(([one = Number.NaN]) => one))
    const two = median(pairs.map(([, two = Number.NaN]) => two))
    const bound = isJudged ? bounds[figure as keyof Usage] : undefined
    const holds = bound === undefined || ratio <= bound.ratio || two - one <= bound.more
    if (!holds) broken++
    return {
      figure: units[figure],
      'one node': one.toFixed(2),
      'two nodes': two.toFixed(2),
      ratio: ratio.toFixed(2),
      bound: bound ? `at most ${bound.ratio.toFixed(1)}` : '',
      holds: bound ? holds : '',
    }
  })
  console.table(rows)
}

function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN
}
