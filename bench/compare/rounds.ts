import { type Peer, ProgramMissing } from '../peers/peer.ts'
import { allowedCores, keepMainThreadOn } from '../peers/processes.ts'
import { median } from '../statistics.ts'
import type { Bar, Comparison, Contestant, Figures, Session, Turn } from './comparison.ts'

/** A comparison when it is over. */
export interface Outcome {
  readonly name: string
  readonly unit: string
  /** Of each side, one turn a round. */
  readonly turns: Readonly<Record<string, readonly Turn[]>>
  readonly verdicts: readonly Verdict[]
  /** What could not be measured, and why. */
  readonly missing: readonly string[]
}

export interface Verdict {
  readonly bar: Omit<Bar, 'judged'>
  /** Of the medians of all rounds; NaN: not measured. */
  readonly figure: number
  /** Of the rounds each for itself. */
  readonly lowest: number
  readonly highest: number
  readonly grade: Grade
}

export type Grade = 'aim' | 'floor' | 'missed' | 'not measured'

/** Of rounds: what a comparison whose figure is close to its floor gets. */
export const closeTimes = 5

/**
 * All sides in turn, round after round. Who begins changes, so that nobody is always measured on a machine that is warm, and so does
 * the core that a main thread is on: cores may be of unlike speed, and the scheduler leaves a thread where it once put it.
 */
export async function compare(
  { name, unit, sides, bars, isClose = undefined }: Comparison,
  session: Session,
  usualRounds: number,
  onProgress: (progress: string) => void,
): Promise<Outcome> {
  const rounds = isClose ? closeTimes * usualRounds : usualRounds
  const cores = allowedCores()
  const contestants = new Map<string, Contestant>()
  const turns: Record<string, Turn[]> = {}
  const missing: string[] = []
  try {
    for (const [side, start] of Object.entries(sides)) {
      onProgress(`${name}: ${side} starts`)
      try {
        contestants.set(side, await start(session))
        turns[side] = []
      } catch (error) {
        // The others are measured nevertheless.
        if (!(error instanceof ProgramMissing)) throw error
        missing.push(`${side}: ${error.message}`)
      }
    }
    for (let round = 1; round <= rounds; round++) {
      const [core = 0] = rotated(cores, round)
      for (const [side, contestant] of rotated([...contestants], round - 1)) {
        onProgress(`${name}: ${side}, round ${round} of ${rounds}`)
        if (contestant.peer) keepOn(core, contestant.peer)
        turns[side]?.push(await contestant.turn())
      }
    }
  } catch (error) {
    missing.push(error instanceof Error ? error.message : String(error))
  } finally {
    for (const contestant of contestants.values()) await contestant.stop()
  }
  return { name, unit, turns, verdicts: bars.map(bar => judge(bar, turns, rounds)), missing }
}

function keepOn(core: number, { processes }: Peer): void {
  for (const processId of Object.values(processes)) keepMainThreadOn(core, processId)
}

function rotated<T>(items: readonly T[], by: number): T[] {
  const place = by % items.length
  return [...items.slice(place), ...items.slice(0, place)]
}

function judge({ judged, ...bar }: Bar, turns: Outcome['turns'], rounds: number): Verdict {
  const sides = Object.entries(turns)
  const figuresOf = (pick: (figures: readonly number[]) => number): Figures =>
    Object.fromEntries(sides.map(([side, all]) => [side, pick(all.map(({ figure }) => figure))]))
  const figure = judged(figuresOf(median))
  const each = Array.from({ length: rounds }, (_, round) =>
    judged(figuresOf(all => all[round] ?? Number.NaN)),
  )
  return { bar, figure, lowest: Math.min(...each), highest: Math.max(...each), grade: gradeOf(bar, figure) }
}

function gradeOf({ bound, floor, aim }: Verdict['bar'], figure: number): Grade {
  if (!Number.isFinite(figure)) return 'not measured'
  const reaches = (limit: number) => (bound === 'at least' ? figure >= limit : figure <= limit)
  if (reaches(aim)) return 'aim'
  return reaches(floor) ? 'floor' : 'missed'
}
