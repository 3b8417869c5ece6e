import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { createProgress } from '../../examples/voyage/progress.ts'
import { type RunningNodes, startNodes } from '../../test/helpers/cluster.ts'
import { noRateLimits } from '../../test/helpers/server-process.ts'
import { type Door, Load } from './load.ts'
import { type Usage, UsageMeter, usagePerWrite } from './usage.ts'

/**
 * `npm run bench:nodes [-- --seconds 6 --rounds 5]`: what a durable write costs on two nodes on one Redis, against one node
 * that is as busy as each of the two: at full load both with all that they can do, else with as many writes a second for each
 * node. That is what nodes cost one another, which follow each other's commits, and it is held to a bound. Beside it, what one
 * node uses that takes the writes of both: below full load a write costs less there, since more of them share a wake-up. They
 * take turns, so that what the machine does besides meets all, and the nodes of each kind have a Redis of their own. Ends with
 * status 1 if a bound is missed. Linux only.
 */

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '6' }, rounds: { type: 'string', default: '5' } },
})
const seconds = Number(values.seconds)
const rounds = Number(values.rounds)

interface LoadSetup {
  readonly door: Door
  /** Writes of one record a second, to each node; Infinity: as many as are acknowledged. */
  readonly rate: number
}

const loads: readonly LoadSetup[] = [
  { door: 'MQTT', rate: Number.POSITIVE_INFINITY },
  { door: 'HTTP', rate: Number.POSITIVE_INFINITY },
  { door: 'MQTT', rate: 250 },
  { door: 'MQTT', rate: 1_000 },
  { door: 'MQTT', rate: 2_500 },
  { door: 'HTTP', rate: 500 },
]
/**
 * What two nodes may use of what one does; or no more than so much more. Of round trips a fiftieth of one is no difference:
 * Redis reads a large group in parts, each of which counts.
 */
const bounds: Readonly<Partial<Record<keyof Usage, { readonly ratio: number; readonly more: number }>>> = {
  nodes: { ratio: 1.2, more: 0 },
  roundTrips: { ratio: 1, more: 0.02 },
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
  readonly one: Measured
  readonly two: Measured
  /** One node that takes the writes of two; at full load there is no such thing. */
  readonly both: Measured | undefined
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
    const isFull = rate === Number.POSITIVE_INFINITY
    const onOne = await Load.open(door, one.nodes)
    const onTwo = await Load.open(door, two.nodes)
    for (const load of [onOne, onTwo, onTwo]) await load.run(warmUp.rate, warmUp.seconds)
    const measured: Round[] = []
    for (let round = 0; round < rounds; round++) {
      // In turn, so that neither is always the first.
      const first = round % 2 === 0 ? await measure(one, onOne, rate) : undefined
      const ofTwo = await measure(two, onTwo, 2 * rate)
      const ofOne = first ?? (await measure(one, onOne, rate))
      measured.push({
        one: ofOne,
        two: ofTwo,
        both: isFull ? undefined : await measure(one, onOne, 2 * rate),
      })
      onProgress(++done)
    }
    judge(`${door}, ${isFull ? 'full load' : `${rate} writes/s to each node`}`, measured)
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
function judge(name: string, measured: readonly Round[]): void {
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
    const one = measured.map(round => of(round.one))
    const two = measured.map(round => of(round.two))
    const both = measured.flatMap(round => (round.both ? [of(round.both)] : []))
    const ratioTo = (others: readonly number[]) =>
      median(two.map((value, round) => value / (others[round] ?? Number.NaN)))
    const bound = bounds[figure as keyof Usage]
    const holds =
      bound === undefined || ratioTo(one) <= bound.ratio || median(two) - median(one) <= bound.more
    if (!holds) broken++
    return {
      figure: units[figure],
      'one node': median(one).toFixed(3),
      'two nodes': median(two).toFixed(3),
      ratio: ratioTo(one).toFixed(2),
      bound: bound ? `at most ${bound.ratio.toFixed(1)}` : '',
      holds: bound ? holds : '',
      ...(both.length > 0 && {
        'one node, writes of both': median(both).toFixed(3),
        'ratio to it': ratioTo(both).toFixed(2),
      }),
    }
  })
  console.table(rows)
}

function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN
}
