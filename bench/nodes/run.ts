import { loadavg } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type RunningNodes, startNodes } from '../../test/helpers/cluster.ts'
import { noRateLimits } from '../../test/helpers/server-process.ts'
import { createProgress } from '../load/progress.ts'
import { median } from '../statistics.ts'
import { besideBefore } from './before.ts'
import { type Door, Load } from './load.ts'
import { sumOfUsage, type Usage, UsageMeter, usagePerWrite } from './usage.ts'

/**
 * `npm run bench:nodes [-- --seconds 6 --rounds 5 --only full]`: what a durable write costs on two nodes on one Redis, which
 * follow each other's commits. It is held against the same load of each node without another one beside it: at a rate that the
 * machine has for both, against one node; at full load, where two nodes have to share what one has for itself, against two
 * that are apart, each with a Redis of its own. Beside it, what one node uses: at a rate, of the writes of both, since more of
 * them share a wake-up; at full load, of all that it can do. They take turns, so that what the machine does besides meets all.
 * `--only` the loads whose name holds this. Ends with status 1 if a bound is missed. Linux only.
 *
 * `--before` another tree, built: a node of either build at full load, in place of all this.
 */

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '6' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
    before: { type: 'string' },
  },
})
const seconds = Number(values.seconds)
const rounds = Number(values.rounds)

interface LoadSetup {
  readonly door: Door
  /** Writes of one record a second, to each node. `full`: as many as are acknowledged; `half`: half as many as two nodes do. */
  readonly rate: number | 'full' | 'half'
}

const allLoads: readonly LoadSetup[] = (['full', 'half', 500] as const).flatMap(rate => [
  { door: 'MQTT', rate },
  { door: 'HTTP', rate },
])
const loads = allLoads.filter(load => nameOf(load).includes(values.only))
/**
 * What two nodes may use of what they are held against; or no more than so much more. Of round trips a fiftieth of one is no
 * difference: Redis reads a large group in parts, each of which counts.
 */
const bounds: Readonly<Partial<Record<keyof Usage, { readonly ratio: number; readonly more: number }>>> = {
  nodes: { ratio: 1.2, more: 0 },
  roundTrips: { ratio: 1, more: 0.02 },
}
/** Seconds, before each measurement. */
const warmUp = 2

interface Measured {
  readonly usage: Usage
  readonly rate: number
}

/** Of one round. */
interface Round {
  readonly two: Measured
  readonly against: Measured
  readonly one: Measured
}

if (values.before !== undefined) {
  if (values.only !== '') throw new Error('--before measures both doors at full load: leave out --only')
  const command = resolve(values.before, 'dist/cli/main.js')
  await besideBefore({ command, seconds, warmUp, rounds })
  process.exit()
}

let broken = 0
const clusters: RunningNodes[] = []
try {
  const start = async (count: number) => {
    const cluster = await startNodes(count, { environment: noRateLimits })
    clusters.push(cluster)
    return cluster
  }
  const one = [await start(1)]
  const two = [await start(2)]
  const apart = [await start(1), await start(1)]
  const onProgress = createProgress(loads.length * rounds, done => `rounds done: ${done}`)
  let done = 0
  for (const load of loads) {
    const { door } = load
    const isFull = load.rate === 'full'
    const onOne = await Load.open(door, nodesOf(one))
    const onTwo = await Load.open(door, nodesOf(two))
    const onApart = await Load.open(door, nodesOf(apart))
    const rate = await rateOf(
      load,
      async () => (await measure(two, onTwo, Number.POSITIVE_INFINITY)).rate / 2,
    )
    const measured: Round[] = []
    for (let round = 0; round < rounds; round++) {
      // In turn, so that neither is always the first.
      const first = round % 2 === 0 ? await measure(two, onTwo, 2 * rate) : undefined
      const against = await (isFull ? measure(apart, onApart, rate) : measure(one, onOne, rate))
      const ofOne = await measure(one, onOne, 2 * rate)
      measured.push({ two: first ?? (await measure(two, onTwo, 2 * rate)), against, one: ofOne })
      onProgress(++done)
    }
    judge(load, measured)
  }
} finally {
  for (const cluster of clusters) await cluster.end()
}
process.exit(broken === 0 ? 0 : 1)

function nodesOf(parts: readonly RunningNodes[]) {
  return parts.flatMap(({ nodes }) => nodes)
}

function nameOf({ door, rate }: LoadSetup): string {
  return `${door}, ${typeof rate === 'string' ? `${rate} load` : `${rate} writes/s to each node`}`
}

/**
 * @param most what each of two nodes does at full load
 * @returns writes a second to each node
 */
async function rateOf({ rate }: LoadSetup, most: () => Promise<number>): Promise<number> {
  if (rate === 'full') return Number.POSITIVE_INFINITY
  return rate === 'half' ? Math.round((await most()) / 2) : rate
}

/** @param parts what uses a Redis each */
async function measure(parts: readonly RunningNodes[], load: Load, rate: number): Promise<Measured> {
  const meters = parts.map(cluster => new UsageMeter(cluster))
  const read = async () => sumOfUsage(await Promise.all(meters.map(meter => meter.read())))
  try {
    let before: Usage | undefined
    let after: Usage | undefined
    const marks = {
      onBegin: async () => {
        before = await read()
      },
      onEnd: async () => {
        after = await read()
      },
    }
    const { done, seconds: took } = await load.run(rate, { warmUp, measured: seconds }, marks)
    if (!before || !after) throw new Error('the load ended before it was measured')
    return { usage: usagePerWrite(before, after, done), rate: done / took }
  } finally {
    for (const meter of meters) meter.close()
  }
}

/** Of each figure the median over the rounds, and that of the ratios within a round. */
function judge(load: LoadSetup, measured: readonly Round[]): void {
  const isFull = load.rate === 'full'
  const figures: Readonly<Record<string, (of: Measured) => number>> = {
    nodes: ({ usage }) => usage.nodes,
    roundTrips: ({ usage }) => usage.roundTrips,
    redis: ({ usage }) => usage.redis,
    commands: ({ usage }) => usage.commands,
    rate: ({ rate }) => rate,
  }
  const units: Readonly<Record<string, string>> = {
    nodes: 'processor time of the nodes a write, us',
    roundTrips: 'round trips to Redis a write',
    redis: 'processor time of Redis a write, us',
    commands: 'commands run by Redis a write',
    rate: 'writes acknowledged a second',
  }
  console.log(
    `\n${nameOf(load)}, ${rounds} rounds of ${seconds} s, load of the machine ${loadavg()[0]?.toFixed(1)}:`,
  )
  const rows = Object.entries(figures).map(([figure, of]) => {
    const two = measured.map(round => of(round.two))
    const against = measured.map(round => of(round.against))
    const one = measured.map(round => of(round.one))
    const ratioTo = (others: readonly number[]) =>
      median(two.map((value, round) => value / (others[round] ?? Number.NaN)))
    const bound = bounds[figure as keyof Usage]
    const holds =
      bound === undefined || ratioTo(against) <= bound.ratio || median(two) - median(against) <= bound.more
    if (!holds) broken++
    return {
      figure: units[figure],
      'two nodes': median(two).toFixed(3),
      [isFull ? 'two apart' : 'one node, as busy as each']: median(against).toFixed(3),
      ratio: ratioTo(against).toFixed(2),
      bound: bound ? `at most ${bound.ratio.toFixed(1)}` : '',
      holds: bound ? holds : '',
      [isFull ? 'one node, all it can do' : 'one node, writes of both']: median(one).toFixed(3),
      'ratio to it': ratioTo(one).toFixed(2),
    }
  })
  console.table(rows)
}
