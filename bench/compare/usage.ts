import { setTimeout as delay } from 'node:timers/promises'
import type { LoadResult, Marks } from '../load/load.ts'
import type { Peer } from '../peers/peer.ts'
import { processorTime } from '../peers/processes.ts'
import type { Turn } from './comparison.ts'

/** Microseconds of processor time so far, by process. */
export type Times = Readonly<Record<string, number>>

/** What has to be known of a load to tell the shares of cores. */
type Measured = Pick<LoadResult, 'seconds' | 'processorTime'>

export interface Watched<Result extends Measured> {
  readonly result: Result
  readonly cores: Turn['cores']
}

/**
 * Runs a load and tells what the peer's processes used while it was measured.
 *
 * @param more processor times of others, such as subscribers, by name
 */
export async function watch<Result extends Measured>(
  peer: Peer,
  load: (marks: Marks) => Promise<Result>,
  more: () => Promise<Times> = async () => ({}),
): Promise<Watched<Result>> {
  const read = async (): Promise<Times> => ({ ...timesOf(peer), ...(await more()) })
  let before: Times = {}
  let after: Times = {}
  const result = await load({
    onBegin: async () => {
      before = await read()
    },
    onEnd: async () => {
      after = await read()
    },
  })
  return {
    result,
    cores: {
      ...coresBetween(before, after, result.seconds),
      generator: result.processorTime / (result.seconds * 1e6),
    },
  }
}

/** As shares of one core. */
export function coresBetween(before: Times, after: Times, seconds: number): Turn['cores'] {
  const share = ([name, time]: [string, number]) => [name, (time - (before[name] ?? 0)) / (seconds * 1e6)]
  return Object.fromEntries(Object.entries(after).map(share))
}

/** Under this share of a core a process is idle. */
const idle = 0.05
const interval = 250
const ordinaryDeadline = 20_000

/**
 * Resolves when the peer does nothing any more, or at the deadline: what it does behind its acks must not slow down the next.
 *
 * @param deadline milliseconds
 */
export async function settled(peer: Pick<Peer, 'processes'>, deadline = ordinaryDeadline): Promise<void> {
  const total = () => Object.values(timesOf(peer)).reduce((sum, time) => sum + time, 0)
  for (const end = performance.now() + deadline; performance.now() < end; ) {
    const before = total()
    await delay(interval)
    if (total() - before < idle * interval * 1_000) return
  }
}

export function timesOf({ processes }: Pick<Peer, 'processes'>): Times {
  return Object.fromEntries(
    Object.entries(processes).map(([name, processId]) => [name, processorTime(processId)]),
  )
}
