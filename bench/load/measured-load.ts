import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '../../test/helpers/waiting.ts'
import { answerCommands } from './commands.ts'
import { LatencyRecorder } from './latency.ts'
import type { LoadResult } from './load.ts'

/** Milliseconds from one look at the count of acks to the next. */
const interval = 5

/** Writers, of whatever protocol, that write as fast as is acked or at times of their own. */
export interface Load {
  readonly sent: number
  readonly acked: number
  /** Resolves when all connections stand. */
  connect(): Promise<void>
  start(): void
  /** Nothing is sent from now on. */
  stop(): void
  /** Ends the connections. */
  close(): Promise<void>
}

/** What an open loop is to be told of; a closed one leaves them empty. */
export interface Recorders {
  /** From when a write was due to its ack. */
  readonly latency: LatencyRecorder
  /** From when a write was due, and could have been sent, until it was. */
  readonly lateness: LatencyRecorder
}

/** What the connection of this index has of what all have in turn. @throws RangeError if there is none */
export function inTurn<T>(all: readonly T[], index: number): T {
  const one = all[index % all.length]
  if (one === undefined) throw new RangeError('a load needs at least one port, and one topic or path')
  return one
}

/** Makes this process one that runs a load, in the steps that `measure` asks for. */
export function runLoad<Setup extends { readonly rate?: number }>(
  create: (setup: Setup, recorders: Recorders) => Load,
): void {
  const recorders = { latency: new LatencyRecorder(), lateness: new LatencyRecorder() }
  let load: Load
  let isOpen = false
  let stretch: Stretch
  let measured: ReturnType<Stretch['end']>
  answerCommands({
    connect: async (setup: Setup) => {
      isOpen = setup.rate !== undefined
      load = create(setup, recorders)
      await load.connect()
    },
    start: () => load.start(),
    begin: () => {
      stretch = new Stretch(load, recorders)
    },
    untilAcked: async (count: number) => {
      while (stretch.acked < count) await delay(interval)
    },
    end: () => {
      measured = stretch.end()
    },
    finish: async (): Promise<LoadResult> => {
      load.stop()
      await eventually(() => load.acked === load.sent)
      const { acked, sent } = load
      await load.close()
      const { latency, lateness } = recorders
      const times = isOpen ? { latency: latency.summary(), lateness: lateness.summary() } : {}
      return { ...measured, total: acked, unacked: sent - acked, ...times }
    },
  })
}

/** What is measured, from when it is created on. */
class Stretch {
  readonly #load: Load
  readonly #recorders: Recorders
  readonly #begin = performance.now()
  readonly #ackedBefore: number
  readonly #usageBefore = process.cpuUsage()

  constructor(load: Load, recorders: Recorders) {
    this.#load = load
    this.#recorders = recorders
    this.#ackedBefore = load.acked
    recorders.latency.begin(this.#begin)
    recorders.lateness.begin(this.#begin)
  }

  get acked(): number {
    return this.#load.acked - this.#ackedBefore
  }

  end(): Pick<LoadResult, 'done' | 'seconds' | 'processorTime'> {
    const { user, system } = process.cpuUsage(this.#usageBefore)
    const end = performance.now()
    this.#recorders.latency.end(end)
    this.#recorders.lateness.end(end)
    return { done: this.acked, seconds: (end - this.#begin) / 1_000, processorTime: user + system }
  }
}
