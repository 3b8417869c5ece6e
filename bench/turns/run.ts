import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { preload } from '../../test/helpers/preload.ts'
import { makeBenchDirectory } from '../bench-directory.ts'
import { comparisons } from '../compare/measures.ts'
import { fillStore } from '../peers/filled-store.ts'
import { startProduct } from '../peers/product.ts'
import { quantile } from '../statistics.ts'
import { largestWrites, sendLargestWrites, type WritesOf } from './largest-writes.ts'
import type { TurnTimes } from './turns-preload.ts'

/**
 * `npm run bench:turns [-- --seconds 5 --records 200000]`: how long the event loop is kept by one turn under the loads of
 * `npm run bench` that keep it busiest, and by writes that are as large as may be. Exits with 1 if the bound is missed. Linux only.
 */

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    records: { type: 'string', default: '200000' },
  },
})
const seconds = Number(values.seconds)
/** Processor time of one turn in a hundred at most, milliseconds. */
const bound = 20
const loads = [
  'durable QoS 1, 1 value',
  'durable QoS 1, 1 value, 1 subscriber',
  'durable QoS 1, 100 values',
  'durable HTTP, 1 value',
  'durable HTTP, 100 values',
  'QoS 0, 100 publishers, 1 subscriber',
]

const directory = await makeBenchDirectory()
const session = {
  directory,
  filled: await fillStore({ parent: directory, records: Number(values.records) }),
  seconds,
  warmUp: Math.min(seconds, 3),
  connections: 10,
  window: 100,
}

/** Of the largest writes. */
const rounds = 20
let sockets = 0
const rows: Record<string, string | number>[] = []
let worst = 0

for (const load of loads) show(load, await measureLoad(load))
for (const [load, writesOf] of largestWrites) show(load, await measureWrites(load, writesOf))
console.table(rows)
console.log(`p99 of the processor time of a turn is to be ${bound} ms at most: ${worst.toFixed(1)}`)
process.exit(worst <= bound ? 0 : 1)

function show(load: string, { processor, wall }: TurnTimes): void {
  worst = Math.max(worst, quantile(processor, 0.99))
  rows.push({
    'load, ms of a turn': load,
    turns: processor.length,
    median: quantile(processor, 0.5).toFixed(1),
    p99: quantile(processor, 0.99).toFixed(1),
    longest: quantile(processor, 1).toFixed(1),
    'p99 by the clock': quantile(wall, 0.99).toFixed(1),
    'longest by the clock': quantile(wall, 1).toFixed(1),
  })
}

async function measureLoad(load: string): Promise<TurnTimes> {
  const start = comparisons.find(({ name }) => name === load)?.sides.product
  if (!start) throw new Error(`there is no measure ${load}`)
  const { environment, socketPath } = watched(load)
  const product = await start({ ...session, environment })
  try {
    // What is compiled first is no load's.
    await product.turn()
    const watch = connect(socketPath)
    const turn = product.turn()
    await delay((session.warmUp + seconds) * 1_000)
    // While it is looked at, the process is never idle, for which the contestant waits at the end.
    const times = await seen(watch)
    await turn
    return times
  } finally {
    await product.stop()
  }
}

async function measureWrites(load: string, writesOf: WritesOf): Promise<TurnTimes> {
  const { environment, socketPath } = watched(load)
  const { server, stop } = await startProduct({ filled: session.filled, directory, environment })
  try {
    await sendLargestWrites(server, writesOf, rounds)
    const watch = connect(socketPath)
    await sendLargestWrites(server, writesOf, rounds)
    return await seen(watch)
  } finally {
    await stop()
  }
}

/** The environment of a product whose turns are told to whoever connects to the socket. */
function watched(load: string): { environment: NodeJS.ProcessEnv; socketPath: string } {
  process.stderr.write(`${load}\n`)
  const socketPath = join(directory, `${sockets++}.sock`)
  const environment = { ...preload(new URL('turns-preload.ts', import.meta.url)), BENCH_TURNS: socketPath }
  return { environment, socketPath }
}

/** Of all turns since it was connected. */
async function seen(watch: Socket): Promise<TurnTimes> {
  watch.end()
  return JSON.parse(await text(watch)) as TurnTimes
}
