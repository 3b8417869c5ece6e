import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Thing } from '../../test/helpers/http-client.ts'
import { JudgedLines } from '../../test/helpers/judged-lines.ts'
import { createProgress } from '../load/progress.ts'
import { quantile } from '../statistics.ts'
import { measureCrowd } from './crowd.ts'
import { measureFanOut } from './fan-out.ts'
import { fill } from './fill.ts'
import { type ObservedServer, startObservedServer } from './observed.ts'
import type { EventLoopDelay } from './observer.ts'
import { timeOneThing } from './retained.ts'
import { measureWildcard } from './wildcard.ts'

/**
 * `npm run bench:live [-- --things 5000 --seconds 60 --subscribers 500 --only retained]`: what the retained view and
 * fan-out cost. `--only` takes retained, wildcard, crowd or fan-out. Ends with status 1 if a bound is missed. Linux only.
 */

const { values } = parseArgs({
  options: {
    things: { type: 'string', default: '5000' },
    seconds: { type: 'string', default: '60' },
    subscribers: { type: 'string', default: '500' },
    only: { type: 'string', default: '' },
  },
})
const resourcesEach = 20
const rare = 10
const subscribes = 500
/** A second, while keys of all things are read. */
const writes = 200
const crowd = { rate: 50, seconds: 30 }
const fanOut = { subscribers: [0, 1, 5, 50], seconds: 5 }
/** Milliseconds. */
const bounds = { median: 10, block: 20 }

const judged = new JudgedLines()
const parts = {
  retained: benchRetained,
  wildcard: benchWildcard,
  crowd: benchCrowd,
  'fan-out': benchFanOut,
}

const dataDir = await mkdtemp(join(tmpdir(), 'thingwire-bench-'))
const adminKey = randomBytes(32).toString('hex')
const count = Number(values.things)
const onProgress = createProgress(count, done => `things made, with ${resourcesEach} resources each: ${done}`)
const things = await fill({ dataDir, adminKey, things: count, resourcesEach, rare, onProgress })
const observed = await startObservedServer(dataDir, adminKey)
try {
  for (const [name, bench] of Object.entries(parts)) {
    if (name.startsWith(values.only)) await bench(observed, things)
  }
} finally {
  await observed.stop()
  await rm(dataDir, { recursive: true, force: true })
}
process.exitCode = judged.broken === 0 ? 0 : 1

async function benchRetained({ server }: ObservedServer, things: readonly Thing[]): Promise<void> {
  const common = things.slice(rare)
  const times = await timeOneThing(server, common, { subscribes, count: resourcesEach })
  const median = quantile(times, 0.5)
  judged.line(
    median < bounds.median,
    `values/# of one thing of ${things.length}, ${times.length} SUBSCRIBEs to the last of ${resourcesEach} retained messages: ` +
      `median ${ms(median)} (bound ${bounds.median} ms), p99 ${ms(quantile(times, 0.99))}, max ${ms(times.at(-1) ?? 0)}`,
  )
}

async function benchWildcard(observed: ObservedServer, things: readonly Thing[]): Promise<void> {
  const seconds = Number(values.seconds)
  for (const rate of [0, writes]) {
    const result = await measureWildcard({ observed, dataDir, things, rare, seconds, writes: rate })
    const { common, rare: few, server, idle, acked } = result
    const what = rate === 0 ? 'nothing is written' : `${(acked / seconds).toFixed(0)} writes/s`
    const counts = `${common.length} SUBSCRIBEs of ${things.length} (p50 ${ms(quantile(common, 0.5))}), ${few.length} of ${rare} (p50 ${ms(quantile(few, 0.5))})`
    judged.line(
      server.p999 - idle.p999 < bounds.block,
      `things/+/values/<key> for ${seconds} s while ${what}: ${counts}; event-loop delay p99.9 ${ms(server.p999)} ` +
        `less ${ms(idle.p999)} of an idle process (bound ${bounds.block} ms); ${describe(server)}; idle ${describe(idle)}`,
    )
  }
}

async function benchCrowd(observed: ObservedServer): Promise<void> {
  const subscribers = Number(values.subscribers)
  const records = crowd.rate * crowd.seconds
  const { report, memory, delay } = await measureCrowd(observed, { subscribers, rate: crowd.rate, records })
  const { complete, received, outOfOrder, closed, lag } = report
  const [before, connected, highest] = [memory.before, memory.connected, memory.highest].map(megabytes)
  judged.line(
    complete === subscribers && received === subscribers * records && outOfOrder === 0 && closed === 0,
    `${subscribers} subscribers over WebSocket, ${crowd.rate} records/s for ${crowd.seconds} s: ${complete} got all, in order; ` +
      `${received} of ${subscribers * records} messages, ${outOfOrder} out of order, ${closed} closed; ` +
      `lag p50 ${ms(lag.p50)}, p99 ${ms(lag.p99)}, max ${ms(lag.max)}; event-loop delay ${describe(delay)}; ` +
      `resident ${before} MB without them, ${connected} MB with them, at most ${highest} MB`,
  )
}

async function benchFanOut(observed: ObservedServer): Promise<void> {
  const rows: object[] = []
  let alone = 0
  for (const qos of [0, 1] as const) {
    for (const subscribers of fanOut.subscribers) {
      const { writes, deliveries, acked, report } = await measureFanOut(observed, {
        subscribers,
        qos,
        seconds: fanOut.seconds,
      })
      if (subscribers === 0) alone = writes
      const received = report?.received ?? 0
      const hasAll = received === acked * subscribers && (report?.outOfOrder ?? 0) === 0
      judged.line(
        hasAll,
        `fan-out to ${subscribers} at QoS ${qos}: ${received} of ${acked * subscribers} messages, in order`,
      )
      rows.push({
        subscribers,
        qos,
        'writes/s acked': writes.toFixed(0),
        'of those without subscribers': (writes / alone).toFixed(2),
        'messages/s': deliveries.toFixed(0),
        closed: report?.closed ?? 0,
        'lag p50': ms(report?.lag.p50 ?? 0),
        'lag p99': ms(report?.lag.p99 ?? 0),
      })
    }
  }
  console.log(`\nOne writer with 32 writes of one record in flight, for ${fanOut.seconds} s:`)
  console.table(rows)
}

function describe({ p50, p99, p999, max }: EventLoopDelay): string {
  return `p50 ${ms(p50)}, p99 ${ms(p99)}, p99.9 ${ms(p999)}, max ${ms(max)}`
}

function ms(milliseconds: number): string {
  return `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0)
}
