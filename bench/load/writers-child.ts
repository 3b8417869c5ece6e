import { createHistogram } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { Random } from '../../test/helpers/random.ts'
import { eventually } from '../../test/helpers/waiting.ts'
import { Gathering } from './gathering.ts'
import { HttpWriter } from './http-writer.ts'
import { readyBatches } from './mqtt-packets.ts'
import { MqttWriter } from './mqtt-writer.ts'
import { answerCommands } from './process.ts'
import type { OnAcked, Writer } from './raw-connection.ts'
import type { Latency, LoadResult, Writes } from './writes.ts'

/** Writes, in a process of its own, as `runWrites` asks for. */

/** When the writers write. */
interface Loop {
  start(): void
  /** Nothing is sent from now on. */
  stop(): void
  readonly onAcked: OnAcked<Writer>
}

/** Milliseconds from one look at the count of acks to the next. */
const lookEvery = 5
/** Milliseconds. A timer is late by up to one, and by another where it rounds. */
const timerError = 2
/** Of a write to any server: less than has been seen of one, milliseconds. */
const leastCost = { mqtt: 0.001, http: 0.005 }

let writers: readonly Writer[]
let loop: Loop
let isOpen = false
const latency = createRecorder()
const lateness = createRecorder()
let begin: { readonly time: number; readonly acked: number; readonly usage: NodeJS.CpuUsage }
let measured: Pick<LoadResult, 'done' | 'seconds' | 'processorTime'>

answerCommands({
  connect: async (writes: Writes) => {
    isOpen = writes.rate !== undefined
    writers = writersOf(writes, (writer, batches) => loop.onAcked(writer, batches))
    loop = writes.rate === undefined ? closedLoop(writes) : new OpenLoop(writes.rate, writes.rest)
    await Promise.all(writers.map(writer => writer.connect()))
  },
  start: () => loop.start(),
  begin: () => {
    begin = { time: performance.now(), acked: acked(), usage: process.cpuUsage() }
    for (const recorder of [latency, lateness]) recorder.begin = begin.time
  },
  untilAcked: async (count: number) => {
    while (acked() - begin.acked < count) await delay(lookEvery)
  },
  end: () => {
    const { user, system } = process.cpuUsage(begin.usage)
    const end = performance.now()
    for (const recorder of [latency, lateness]) recorder.end = end
    const seconds = (end - begin.time) / 1_000
    measured = { done: acked() - begin.acked, seconds, processorTime: user + system }
  },
  finish: async (): Promise<LoadResult> => {
    loop.stop()
    await eventually(() => acked() === sent())
    const times = isOpen ? { latency: latency.summary(), lateness: lateness.summary() } : {}
    const result = { ...measured, total: acked(), unacked: sent() - acked(), ...times }
    await Promise.all(writers.map(writer => writer.end()))
    return result
  },
})

function acked(): number {
  return writers.reduce((sum, { acked, writes }) => sum + acked * writes, 0)
}

function sent(): number {
  return writers.reduce((sum, { sent, writes }) => sum + sent * writes, 0)
}

function writersOf(writes: Writes, onAcked: OnAcked<Writer>): readonly Writer[] {
  const { host, ports, connections } = writes
  if (writes.rate !== undefined && 'qos' in writes && writes.qos === 0)
    throw new RangeError('an open loop needs acks: QoS 1')
  const batchesOf =
    'topics' in writes
      ? writes.topics
          .slice(0, connections)
          .map((_, index, { length }) => readyBatches(everyNth(writes.topics, length, index), writes))
      : []
  return Array.from({ length: connections }, (_, index): Writer => {
    const to = { host, port: inTurn(ports, index), onAcked }
    if (!('topics' in writes))
      return new HttpWriter({
        ...to,
        name: `connection ${index}`,
        ...writes,
        path: inTurn(writes.paths, index),
      })
    const clientId = `${writes.clientIdPrefix}${index}`
    const { username, password, version = 4 } = writes
    const login = { clientId, version, ...(username && { username }), ...(password && { password }) }
    return new MqttWriter({ ...to, ...login, batches: inTurn(batchesOf, index) })
  })
}

function everyNth<T>(all: readonly T[], n: number, first: number): T[] {
  return all.filter((_, place) => place % n === first)
}

/** @throws RangeError if there is none */
function inTurn<T>(all: readonly T[], index: number): T {
  const one = all[index % all.length]
  if (one === undefined) throw new RangeError('a load needs at least one port, and one topic or path')
  return one
}

/** Each connection always has all on their way that may be. */
function closedLoop(writes: Writes): Loop {
  let isStopped = false
  const [cost, window] = 'topics' in writes ? [leastCost.mqtt, writes.window] : [leastCost.http, 1]
  const gathering = new Gathering(writes.connections * window * cost)
  return {
    start: () => {
      for (const writer of writers) writer.send(writer.window)
    },
    stop: () => {
      isStopped = true
    },
    onAcked: (writer, batches) => {
      if (isStopped) return
      writer.send(batches)
      gathering.onAnswered()
    },
  }
}

/**
 * Writes at random times that do not depend on acks, and are the same in each run: many devices that know nothing of one
 * another are a Poisson process. A write that finds no connection free waits for one, and that is part of its latency. While
 * the next is close the loop does not sleep, since a timer has whole milliseconds: it takes a whole core, unless it rests.
 */
class OpenLoop implements Loop {
  readonly #meanGap: number
  readonly #rest: number
  readonly #random = new Random(8)
  /** The connection that waits for the longest is first: so all are used alike. */
  readonly #free = writers.map(writer => ({ writer, since: 0 }))
  /** Of each connection, when its batches that wait for an ack were due. */
  readonly #due = new Map(writers.map(writer => [writer, new Float64Array(writer.window)]))
  /** When the writes that wait for a connection were due. */
  readonly #waiting: number[] = []
  #next = 0
  #isStopped = false

  /** @param rate a second @param rest least milliseconds from one look at what is due to the next */
  constructor(rate: number, rest = 0) {
    this.#meanGap = 1_000 / rate
    this.#rest = rest
  }

  start(): void {
    this.#next = performance.now() + this.#gap()
    this.#turn()
  }

  /** What has been due until now is not left out, late as it may be. */
  stop(): void {
    this.#takeDue()
    this.#isStopped = true
  }

  readonly onAcked: OnAcked<Writer> = (writer, batches) => {
    const now = performance.now()
    const { sent, acked, window } = writer
    for (let index = acked - batches; index < acked; index++) {
      latency.record(this.#due.get(writer)?.[index % window] ?? 0, now)
    }
    if (sent - (acked - batches) === window) this.#free.push({ writer, since: now })
    this.#sendWaiting()
  }

  readonly #turn = (): void => {
    if (this.#isStopped) return
    this.#takeDue()
    const sleep = Math.max(this.#rest, Math.floor(this.#next - performance.now() - timerError))
    if (sleep > 0) setTimeout(this.#turn, sleep)
    else setImmediate(this.#turn)
  }

  #takeDue(): void {
    for (const now = performance.now(); this.#next <= now; this.#next += this.#gap()) {
      this.#waiting.push(this.#next)
    }
    this.#sendWaiting()
  }

  #sendWaiting(): void {
    while (this.#waiting.length > 0) {
      const free = this.#free.shift()
      if (free === undefined) return
      const { writer, since } = free
      const due = this.#waiting.shift() ?? 0
      const times = this.#due.get(writer)
      if (times) times[writer.sent % writer.window] = due
      writer.send(1)
      lateness.record(due, performance.now(), Math.max(due, since))
      if (writer.sent - writer.acked < writer.window) this.#free.push(free)
    }
  }

  /** Milliseconds. */
  #gap(): number {
    return -Math.log(1 - this.#random.next()) * this.#meanGap
  }
}

/** How long what was due in a stretch of time took. All times are milliseconds of `performance.now()`. */
function createRecorder() {
  const histogram = createHistogram()
  return {
    begin: Number.POSITIVE_INFINITY,
    end: Number.POSITIVE_INFINITY,
    /** @param since when it began, where that is later than when it was due */
    record(due: number, until: number, since = due): void {
      if (due < this.begin || due >= this.end) return
      histogram.record(Math.max(1, Math.round((until - since) * 1_000)))
    },
    summary(): Latency {
      const [p50 = 0, p99 = 0, max = 0] = [50, 99, 100].map(percent => histogram.percentile(percent) / 1_000)
      return { p50, p99, max }
    },
  }
}
