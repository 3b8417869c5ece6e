import { loadavg } from 'node:os'
import { resolve } from 'node:path'
import { Redis } from 'ioredis'
import { type RunningNodes, startNodes } from '../../test/helpers/cluster.ts'
import { noRateLimits } from '../../test/helpers/server-process.ts'
import { readings } from '../load/writes.ts'
import { idOf } from '../peers/peer.ts'
import { processorTime } from '../peers/processes.ts'
import { createProgress, median, readOptions, rotated } from '../program.ts'
import { type Door, openLoad, type RunLoad } from './load.ts'

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

const { seconds, rounds, only, before } = readOptions({ seconds: 6, rounds: 5, only: '', before: '' })

interface LoadSetup {
  readonly door: Door
  /** Writes of one record a second, to each node. `full`: as many as are acknowledged; `half`: half as many as two nodes do. */
  readonly rate: number | 'full' | 'half'
}

const allLoads: readonly LoadSetup[] = (['full', 'half', 500] as const).flatMap(rate => [
  { door: 'MQTT', rate },
  { door: 'HTTP', rate },
])
const loads = allLoads.filter(load => nameOf(load).includes(only))
/**
 * What two nodes may use of what they are held against; or no more than so much more. Of round trips a fiftieth of one is no
 * difference: Redis reads a large group in parts, each of which counts.
 */
const bounds: Readonly<Partial<Record<keyof Measured, { readonly ratio: number; readonly more: number }>>> = {
  nodes: { ratio: 1.2, more: 0 },
  roundTrips: { ratio: 1, more: 0.02 },
}
/** Seconds, before each measurement. */
const warmUp = 2

/** Of a stretch, a write. A round trip is one time that Redis has read from a connection: a request, or several sent together. */
const figures = {
  nodes: 'processor time of the nodes a write, us',
  roundTrips: 'round trips to Redis a write',
  redis: 'processor time of Redis a write, us',
  rate: 'writes acknowledged a second',
}
type Measured = Readonly<Record<keyof typeof figures, number>>
type Usage = Omit<Measured, 'rate'>

type Round = Readonly<Record<'two' | 'against' | 'one', Measured>>

let broken = 0
const clusters: RunningNodes[] = []
try {
  if (before === '') await benchLoads()
  else if (only !== '') throw new Error('--before measures both doors at full load: leave out --only')
  else await benchBefore(resolve(before, 'dist/cli/main.js'))
} finally {
  for (const cluster of clusters) await cluster.end()
}
process.exit(broken === 0 ? 0 : 1)

async function start(count: number, command?: string): Promise<RunningNodes> {
  const cluster = await startNodes(count, { command, environment: noRateLimits })
  clusters.push(cluster)
  return cluster
}

async function benchLoads(): Promise<void> {
  const parts = {
    one: [await start(1)],
    two: [await start(2)],
    apart: [await start(1), await start(1)],
  }
  const onProgress = createProgress(loads.length * rounds, done => `rounds done: ${done}`)
  let done = 0
  for (const load of loads) {
    const open = (part: keyof typeof parts) => {
      const nodes = parts[part].flatMap(cluster => cluster.nodes)
      return openLoad(load.door, nodes)
    }
    const onParts = { one: await open('one'), two: await open('two'), apart: await open('apart') }
    const run = (part: keyof typeof parts, each: number) => measure(parts[part], onParts[part], each)
    const { POSITIVE_INFINITY: most } = Number
    // Of what two nodes do at full load, a half of each one's.
    const half = async () => Math.round((await run('two', most)).rate / 4)
    const rate = load.rate === 'full' ? most : load.rate === 'half' ? await half() : load.rate
    const measured: Round[] = []
    for (let round = 0; round < rounds; round++) {
      // In turn, so that neither is always the first.
      const first = round % 2 === 0 ? await run('two', 2 * rate) : undefined
      const against = await run(load.rate === 'full' ? 'apart' : 'one', rate)
      const one = await run('one', 2 * rate)
      measured.push({ two: first ?? (await run('two', 2 * rate)), against, one })
      onProgress(++done)
    }
    judge(load, measured)
  }
}

/** One node at full load in turn with one of another build, each on a Redis of its own: what a change is worth. Nothing is judged. */
async function benchBefore(command: string): Promise<void> {
  const builds = [await start(1), await start(1, command)]
  for (const door of ['MQTT', 'HTTP'] as const) {
    const sides = await Promise.all(
      builds.map(async build => ({ build, load: await openLoad(door, build.nodes) })),
    )
    const ratios: number[] = []
    for (let round = 0; round < rounds; round++) {
      const rates = new Map<RunningNodes, number>()
      for (const { build, load } of rotated(sides, round))
        rates.set(build, (await measure([build], load, Number.POSITIVE_INFINITY)).rate)
      const [own = Number.NaN, other = Number.NaN] = builds.map(build => rates.get(build))
      ratios.push(own / other)
    }
    const [lowest, highest] = [Math.min(...ratios), Math.max(...ratios)].map(ratio => ratio.toFixed(2))
    console.log(
      `${door}, full load: writes/s, this build / before ${median(ratios).toFixed(2)} (${lowest} to ${highest}), ` +
        `${rounds} rounds of ${seconds} s, load of the machine ${loadavg()[0]?.toFixed(1)}`,
    )
  }
}

function nameOf({ door, rate }: LoadSetup): string {
  return `${door}, ${typeof rate === 'string' ? `${rate} load` : `${rate} writes/s to each node`}`
}

/** @param parts what uses a Redis each */
async function measure(parts: readonly RunningNodes[], load: RunLoad, rate: number): Promise<Measured> {
  const meters = parts.map(cluster => ({ cluster, client: new Redis(cluster.redis.url) }))
  const { values, marks } = readings(async () =>
    sum(await Promise.all(meters.map(({ cluster, client }) => usageOf(cluster, client)))),
  )
  try {
    const { done, seconds: took } = await load(rate, { warmUp, measured: seconds }, marks)
    const [begin = sum([]), end = begin] = values
    return { ...mapUsage(name => (end[name] - begin[name]) / done), rate: done / took }
  } finally {
    for (const { client } of meters) client.disconnect()
  }
}

/** Since the cluster was started. */
async function usageOf({ nodes, redis }: RunningNodes, client: Redis): Promise<Usage> {
  const reads = /^total_reads_processed:(\d+)/m.exec(await client.info('stats'))?.[1]
  return {
    nodes: nodes.reduce((total, node) => total + processorTime(idOf(node)), 0),
    redis: processorTime(idOf(redis)),
    roundTrips: Number(reads),
  }
}

function sum(all: readonly Usage[]): Usage {
  return mapUsage(name => all.reduce((total, usage) => total + usage[name], 0))
}

function mapUsage(of: (name: keyof Usage) => number): Usage {
  return { nodes: of('nodes'), roundTrips: of('roundTrips'), redis: of('redis') }
}

/** Of each figure the median over the rounds, and that of the ratios within a round. */
function judge(load: LoadSetup, measured: readonly Round[]): void {
  const isFull = load.rate === 'full'
  console.log(
    `\n${nameOf(load)}, ${rounds} rounds of ${seconds} s, load of the machine ${loadavg()[0]?.toFixed(1)}:`,
  )
  const rows = (Object.keys(figures) as (keyof Measured)[]).map(figure => {
    const of = (side: keyof Round) => measured.map(round => round[side][figure])
    const two = of('two')
    const ratioTo = (others: readonly number[]) =>
      median(two.map((value, round) => value / (others[round] ?? Number.NaN)))
    const bound = bounds[figure]
    const against = of('against')
    const holds =
      bound === undefined || ratioTo(against) <= bound.ratio || median(two) - median(against) <= bound.more
    if (!holds) broken++
    return {
      figure: figures[figure],
      'two nodes': median(two).toFixed(3),
      [isFull ? 'two apart' : 'one node, as busy as each']: median(against).toFixed(3),
      ratio: ratioTo(against).toFixed(2),
      bound: bound ? `at most ${bound.ratio.toFixed(1)}` : '',
      holds: bound ? holds : '',
      [isFull ? 'one node, all it can do' : 'one node, writes of both']: median(of('one')).toFixed(3),
      'ratio to it': ratioTo(of('one')).toFixed(2),
    }
  })
  console.table(rows)
}
