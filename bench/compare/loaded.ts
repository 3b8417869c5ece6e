import { setTimeout as delay } from 'node:timers/promises'
import { type Subscription, subscribe } from '../load/subscribers.ts'
import { type LoadResult, type Marks, readings } from '../load/writes.ts'
import type { Peer } from '../peers/peer.ts'
import { processorTime } from '../peers/processes.ts'
import type { Session, StartContestant, Turn } from './comparison.ts'

/** Of a load of whatever kind. */
type Measured = Partial<LoadResult> & Pick<LoadResult, 'done' | 'seconds' | 'processorTime'>

/** One load of a side, again in each turn. */
export interface Plan {
  readonly load: (marks: Marks) => Promise<Measured>
  /** Whose deliveries in the measured stretch are counted. */
  readonly subscription?: Subscription
  /** Of a turn, when the side is idle again. @param delivered messages in the measured stretch, at all subscribers */
  readonly figure: (result: Measured, delivered: number) => Pick<Turn, 'figure' | 'note'>
}

/** A side that is under a load in each turn. */
export function loaded<Side extends { readonly peer: Peer }>(
  start: (session: Session) => Promise<Side>,
  planOf: (side: Side, session: Session) => Plan,
): StartContestant {
  return async session => {
    const side = await start(session)
    const { peer } = side
    const { load, subscription, figure } = planOf(side, session)
    return {
      peer,
      turn: async () => {
        const subscriber = subscription && (await subscribe(subscription))
        const received: number[] = []
        const { result, cores } = await watch(peer, load, async (): Promise<Times> => {
          if (!subscriber) return {}
          received.push(await subscriber.received())
          return { subscriber: await subscriber.processorTime() }
        })
        await subscriber?.drained()
        await subscriber?.close()
        await settled(peer)
        return { ...figure(result, (received.at(-1) ?? 0) - (received[0] ?? 0)), cores }
      },
      stop: () => peer.stop(),
    }
  }
}

/** Microseconds of processor time so far, by process. */
export type Times = Readonly<Record<string, number>>

/**
 * Runs a load, and gives what the peer's processes used while it was measured.
 *
 * @param more processor times of others, such as subscribers, by name
 */
export async function watch<Result extends Measured>(
  peer: Peer,
  load: (marks: Marks) => Promise<Result>,
  more: () => Promise<Times> = async () => ({}),
): Promise<{ readonly result: Result; readonly cores: Turn['cores'] }> {
  const { values, marks } = readings(async (): Promise<Times> => ({ ...timesOf(peer), ...(await more()) }))
  const result = await load(marks)
  const [before = {}, after = {}] = values
  const generator = result.processorTime / (result.seconds * 1e6)
  return { result, cores: { ...coresBetween(before, after, result.seconds), generator } }
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
 * Resolves when the peer does nothing any more, or at the deadline: its work behind its acks must not slow down the next turn.
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
