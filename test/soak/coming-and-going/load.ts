import { setTimeout as delay } from 'node:timers/promises'
import { residentMemory } from '../../../bench/peers/processes.ts'
import { JudgedLines } from '../../helpers/judged-lines.ts'
import type { Exit } from '../../helpers/server-process.ts'
import { withServer } from '../../helpers/with-server.ts'
import { type Population, Visitors } from './visitors.ts'

interface MemorySample {
  /** Seconds since the first. */
  readonly at: number
  /** Bytes. */
  readonly resident: number
}

export interface ComingAndGoing extends Population {
  readonly seconds: number
  /** Seconds between two looks at the memory. */
  readonly interval: number
  readonly onSample?: (sample: MemorySample) => void
}

export interface ComingAndGoingResult {
  readonly paced: readonly Paced[]
  readonly memory: readonly MemorySample[]
  readonly exit: Exit
}

/** Each a second. */
const rates = { writes: 180, connects: 2.5, streams: 3, things: 4, reads: 18, refusals: 2 }

/** Clients that come and go, at one server with its embedded store and default options, and what its memory does. */
export function runComingAndGoing(setup: ComingAndGoing): Promise<ComingAndGoingResult> {
  const { seconds, interval, onSample } = setup
  return withServer({}, async server => {
    const visitors = await Visitors.come(server, setup)
    const memory: MemorySample[] = []
    const start = performance.now()
    const look = async () => {
      const at = (performance.now() - start) / 1_000
      const sample = { at, resident: residentMemory(Number(server.process.pid)) }
      memory.push(sample)
      onSample?.(sample)
    }
    await look()
    const [looks, ...paced] = await Promise.all([
      atPace('looks at the memory', 1 / interval, seconds, look),
      atPace('writes', rates.writes, seconds, () => visitors.write()),
      atPace('connects', rates.connects, seconds, () => visitors.connect()),
      atPace('event streams', rates.streams, seconds, () => visitors.stream()),
      atPace('things made and removed', rates.things, seconds, () => visitors.makeAndRemove()),
      atPace('reads', rates.reads, seconds, () => visitors.read()),
      atPace('refused writes', rates.refusals, seconds, () => visitors.refuse()),
    ])
    if (looks.failures.length > 0) throw new Error(looks.failures[0])
    await visitors.go()
    return { paced, memory, exit: await server.stop() }
  })
}

/** What became of a task that ran at a pace. */
interface Paced {
  readonly name: string
  /** A second, that were asked for and that were begun. */
  readonly asked: number
  readonly achieved: number
  readonly count: number
  /** Messages of those that failed. */
  readonly failures: readonly string[]
}

/** Milliseconds. */
const tick = 5
/** So many may run at a time: a server that is kept from running is not to be measured by what waits for it. */
const mostRunning = 50

/** Begins a task so many times a second, whether or not the one before has ended. Resolves when all have ended. */
async function atPace(
  name: string,
  perSecond: number,
  seconds: number,
  task: () => Promise<void>,
): Promise<Paced> {
  const failures: string[] = []
  const running = new Set<Promise<void>>()
  const start = performance.now()
  let begun = 0
  for (let elapsed = 0; elapsed < seconds; elapsed = (performance.now() - start) / 1_000) {
    for (; begun < elapsed * perSecond && running.size < mostRunning; begun++) {
      const run = task()
        .catch((error: Error) => void failures.push(error.message))
        .finally(() => running.delete(run))
      running.add(run)
    }
    await delay(tick)
  }
  const achieved = begun / ((performance.now() - start) / 1_000)
  await Promise.all(running)
  return { name, asked: perSecond, achieved, count: begun, failures }
}

/** Bytes resident at the end: the mean of the last tenth. */
export function memoryAtEnd(samples: readonly MemorySample[]): number {
  const last = samples.slice(-Math.ceil(samples.length / 10))
  return last.reduce((sum, { resident }) => sum + resident, 0) / last.length
}

/** Bytes a minute by which it grew over the second half: the slope of the line with the least squares. */
function growthOf(samples: readonly MemorySample[]): number {
  const half = samples.slice(Math.floor(samples.length / 2))
  const mean = (of: (sample: MemorySample) => number) =>
    half.reduce((sum, sample) => sum + of(sample), 0) / half.length
  const [at, resident] = [mean(sample => sample.at), mean(sample => sample.resident)]
  const rise = mean(sample => (sample.at - at) * (sample.resident - resident))
  return (rise / mean(sample => (sample.at - at) ** 2)) * 60
}

/** Of the memory of the server, bytes; and of what makes a run worth its name: shares of what was asked for. */
const bounds = { atEnd: 230e6, growthPerMinute: 1e6, rate: 0.98, failures: 0.01 }

/** Judges whether the server keeps its memory in bounds, and does what it is asked. */
export async function soakComingAndGoing(minutes: number): Promise<JudgedLines> {
  const report = new JudgedLines()
  const megabytes = (bytes: number, digits = 0) => `${(bytes / 1e6).toFixed(digits)} MB`
  let minute = 0
  const { paced, memory, exit } = await runComingAndGoing({
    ...{ things: 20, keys: 50, sessions: 3_000, seconds: minutes * 60, interval: 5 },
    onSample: ({ at, resident }) => {
      if (at >= minute * 60) console.log(`minute ${minute++}: resident ${megabytes(resident)}`)
    },
  })
  for (const { name, asked, achieved, count, failures } of paced) {
    const examples = failures.slice(0, 3).join('; ')
    const failed = failures.length === 0 ? '' : `; ${failures.length} failed: ${examples}`
    const isRight = achieved >= asked * bounds.rate && failures.length <= count * bounds.failures
    report.line(isRight, `${achieved.toFixed(1)} ${name}/s${failed}`)
  }
  const [atEnd, growth] = [memoryAtEnd(memory), growthOf(memory)]
  report.line(atEnd <= bounds.atEnd, `resident ${megabytes(atEnd)} at the end`)
  const grew = `grew by ${megabytes(growth, 2)} a minute over the second half`
  report.line(growth <= bounds.growthPerMinute, grew)
  report.line(exit.code === 0, `the server ended with ${exit.code}`)
  return report
}
