import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createThing, write } from '../../test/helpers/http-client.ts'
import type { ServerProcess } from '../../test/helpers/server-process.ts'
import { comparisons } from '../compare/measures.ts'
import { fillStore, startProduct } from '../peers/product.ts'
import { makeBenchDirectory, quantile, readOptions, report } from '../program.ts'
import { type Discovery, discover } from './discovery.ts'
import type { TurnTimes } from './turns-preload.ts'
import { WatchedTurns } from './watched-turns.ts'

/**
 * `npm run bench:turns [-- --seconds 5 --records 200000]`: how long the event loop is kept by one turn under the loads of
 * `npm run bench` that keep it busiest, and by writes that are as large as may be. Exits with 1 if the bound is missed. Linux only.
 */

const { seconds, records } = readOptions({ seconds: 5, records: 200_000 })
/** Processor time of one turn in a hundred at most, milliseconds. */
const bound = 20
/** Of what a source teaches: times JSON.parse of the same bytes, and resident megabytes. */
const [mostOfParse, mostMemory] = [2, 40]
const loads = [
  'durable QoS 1, 1 value',
  'durable QoS 1, 1 value, 1 subscriber',
  'durable QoS 1, 100 values',
  'durable HTTP, 1 value',
  'durable HTTP, 100 values',
  'QoS 0, 100 publishers, 1 subscriber',
]
/** As many records as a write may carry (contract §2), milliseconds between two, and rounds of them. */
const largest = { records: 10_000, resources: 10, interval: 1_000, rounds: 20 }
/** By the name of a load, the writes of one of its rounds, one after another. */
const largestWrites: Readonly<Record<string, (round: number) => readonly (readonly object[])[]>> = {
  'HTTP, 10,000 values without datetime': () => [valuesOf(() => undefined)],
  'HTTP, 10,000 values in time order, and then 10,000 between them': round => {
    const begin = Date.UTC(2026, 0, 1) + round * largest.records * largest.interval
    const at = (place: number) => new Date(begin + place * largest.interval).toISOString()
    return [valuesOf(at), valuesOf(place => at(place + 0.5))]
  },
}

const directory = await makeBenchDirectory()
const filled = await fillStore(directory, records)
const session = { directory, filled, seconds, warmUp: Math.min(seconds, 3) }
const rows: object[] = []
let worst = 0

for (const load of loads) show(load, await measureLoad(load))
for (const load of Object.keys(largestWrites)) show(load, await measureWrites(load))
const { times, ratio, memory } = await measureDiscovery()
show('discovery', times)
console.table(rows)
console.log(
  `a list of 300 devices and 5,000 discovery messages: longest turn / JSON.parse of the list ` +
    `${ratio.toFixed(1)}, at most ${mostOfParse}; ${(memory / 1e6).toFixed(0)} MB more, at most ${mostMemory}`,
)
console.log(`p99 of the processor time of a turn is to be ${bound} ms at most: ${worst.toFixed(1)}`)
process.exit(worst <= bound && ratio <= mostOfParse && memory <= mostMemory * 1e6 ? 0 : 1)

function show(load: string, { processor, wall }: TurnTimes): void {
  worst = Math.max(worst, quantile(processor, 0.99))
  const [median, p99, longest] = [0.5, 0.99, 1].map(share => quantile(processor, share).toFixed(1))
  const byClock = quantile(wall, 0.99).toFixed(1)
  rows.push({
    'load, ms of a turn': load,
    turns: processor.length,
    median,
    p99,
    longest,
    'p99 by the clock': byClock,
  })
}

async function measureLoad(load: string): Promise<TurnTimes> {
  const start = comparisons.find(({ name }) => name === load)?.sides.product
  if (!start) throw new Error(`there is no measure ${load}`)
  const turns = turnsUnder(load)
  const product = await start({ ...session, environment: turns.environment })
  try {
    // What is compiled first is no load's.
    await product.turn()
    const end = turns.watch()
    const turn = product.turn()
    await delay((session.warmUp + seconds) * 1_000)
    // The contestant waits at the end until the process is idle, which it is not while it is watched.
    const times = await end()
    await turn
    return times
  } finally {
    await product.stop?.()
  }
}

async function measureWrites(load: string): Promise<TurnTimes> {
  const turns = turnsUnder(load)
  const { server, stop } = await startProduct({ ...session, environment: turns.environment })
  try {
    await sendLargest(server, load)
    const end = turns.watch()
    await sendLargest(server, load)
    return await end()
  } finally {
    await stop()
  }
}

async function measureDiscovery(): Promise<Discovery> {
  const turns = turnsUnder('discovery')
  // Records that are being packed would take turns and memory of their own.
  const empty = await fillStore(directory, 0)
  const product = await startProduct({ ...session, filled: empty, environment: turns.environment })
  try {
    return await discover(product, turns)
  } finally {
    await product.stop()
  }
}

/** To a new thing. @throws Error if a write is not stored */
async function sendLargest(server: ServerProcess, load: string): Promise<void> {
  const thing = await createThing(server)
  for (let round = 0; round < largest.rounds; round++) {
    for (const values of largestWrites[load]?.(round) ?? []) {
      const { status } = await write(server, thing, { values })
      if (status !== 201) throw new Error(`a write was answered with ${status}`)
    }
  }
}

function valuesOf(datetime: (place: number) => string | undefined): object[] {
  return Array.from({ length: largest.records }, (_, place) => {
    const key = `sensor-${place % largest.resources}`
    return { key, value: 20 + place / 1_000, datetime: datetime(place) }
  })
}

function turnsUnder(load: string): WatchedTurns {
  report(load)
  return new WatchedTurns(join(directory, `${rows.length}.sock`))
}
