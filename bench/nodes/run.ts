import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { createProgress } from '../../examples/voyage/progress.ts'
import { type RunningNodes, startNodes } from '../../test/helpers/cluster.ts'
import { noRateLimits } from '../../test/helpers/server-process.ts'
import { type Door, Load } from './load.ts'
import { type Usage, UsageMeter, usagePerWrite } from './usage.ts'

/**
 * `npm run bench:nodes [-- --seconds 6 --rounds 5]`: what a durable write costs on two nodes on one Redis that take half of the
 * writes each, against one node that takes them all. Beside it, one node that takes as many as each of the two: what is
 * more than that is what nodes cost one another, which follow each other's commits; the rest is that two wake up more often
 * than one. The three take turns, so that what the machine does besides meets all, and the nodes of each kind have a Redis
 * of their own. Ends with status 1 if a bound is missed. Linux only.
 */

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '6' }, rounds: { type: 'string', default: '5' } },
})
const seconds = Number(values.seconds)
const rounds = Number(values.rounds)
interface LoadSetup {
  readonly door: Door
  /** Writes of one record a second, of all nodes; Infinity: as many as are acknowledged. */
  readonly rate: number
}

const loads: readonly LoadSetup[] = [
  { door: 'MQTT', rate: Number.POSITIVE_INFINITY },
  { door: 'HTTP', rate: Number.POSITIVE_INFINITY },
  { door: 'MQTT', rate: 500 },
  { door: 'MQTT', rate: 2_000 },
  { door: 'MQTT', rate: 5_000 },
  { door: 'HTTP', rate: 1_000 },
]
/** What two nodes may use of what one does; and what they may use more, of what does not come with writes: heartbeats, pings. */
const bounds: Readonly<Partial<Record<keyof Usage, { readonly ratio: number; readonly more: number }>>> = {
  nodes: { ratio: 1.2, more: 0 },
  roundTrips: { ratio: 1, more: 0.05 },
}
/** Of each node before it is measured: what is compiled first is no write's cost. */
const warmUp = { rate: 3_000, seconds: 4 }

interface Measured {
  readonly usage: Usage
  readonly rate: number
  readonly ack: number
}

/** Of one round. */
interface Round {
  readonly half: Measured
  readonly two: Measured
  readonly all: Measured
}

let broken = 0
const clusters: RunningNodes[] = []
try {
  const one = await startNodes(1, { environment: noRateLimits })
  clusters.push(one)
  const two = await startNodes(2, { environment: noRateLimits })
  clusters.push(two)
  const onProgress = createProgress(loads.length * rounds, done => `rounds done: ${done}`)
  let done = 0
  for (const { door, rate } of loads) {
    const onOne = await Load.open(door, one.nodes)
    const onTwo = await Load.open(door, two.nodes)
    for (const load of [onOne, onTwo, onTwo]) await load.run(warmUp.rate, warmUp.seconds)
    const measured: Round[] = []
    for (let round = 0; round < rounds; round++) {
      const half = await measure(one, onOne, rate / 2)
      // In turn, so that neither is always the first.
      const first = round % 2 === 0 ? await measure(one, onOne, rate) : undefined
      const ofTwo = await measure(two, onTwo, rate)
      measured.push({ half, two: ofTwo, all: first ?? (await measure(one, onOne, rate)) })
      onProgress(++done)
    }
    judge(`${door}, ${rate === Number.POSITIVE_INFINITY ? 'full load' : `${rate} writes/s`}`, measured, rate)
    for (const load of [onOne, onTwo]) await load.close()
  }
} finally {
  for (const cluster of clusters) await cluster.end()
}
process.exit(broken === 0 ? 0 : 1)

async function measure(cluster: RunningNodes, load: Load, rate: number): Promise<Measured> {
  const meter = new UsageMeter(cluster)
  try {
    const before = await meter.read()
    const { writes, seconds: took, acks } = await load.run(rate, seconds)
    const usage = usagePerWrite(before, await meter.read(), writes)
    return { usage, rate: writes / took, ack: acks.lag(50) }
  } finally {
    meter.close()
  }
}

/** Of each figure the median over the rounds, and that of the ratios within a round. */
function judge(name: string, measured: readonly Round[], rate: number): void {
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
    const half = measured.map(round => of(round.half))
    const two = measured.map(round => of(round.two))
    const all = measured.map(round => of(round.all))
    const ratioTo = (others: readonly number[]) =>
      median(two.map((value, round) => value / (others[round] ?? Number.NaN)))
    const bound = rate === Number.POSITIVE_INFINITY ? bounds[figure as keyof Usage] : undefined
    const holds =
      bound === undefined || ratioTo(all) <= bound.ratio || median(two) - median(all) <= bound.more
    if (!holds) broken++
    return {
      figure: units[figure],
      'one node': median(all).toFixed(2),
      'two nodes': median(two).toFixed(2),
      ratio: ratioTo(all).toFixed(2),
      bound: bound ? `at most ${bound.ratio.toFixed(1)}` : '',
      holds: bound ? holds : '',
      'one node, half of them': median(half).toFixed(2),
      'ratio to it': ratioTo(half).toFixed(2),
    }
  })
  console.table(rows)
}

function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN
}
