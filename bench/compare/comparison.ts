import { type Peer, ProgramMissing } from '../peers/peer.ts'
import { allowedCores, keepMainThreadOn } from '../peers/processes.ts'
import type { ProductSetup } from '../peers/product.ts'
import { median, rotated } from '../program.ts'

/** What one run of the bench has at hand. Every store is in `directory`, the peers' too: on the disk that is to be measured. */
export interface Session extends ProductSetup {
  /** Of a measured stretch. */
  readonly seconds: number
  /** Before it. */
  readonly warmUp: number
}

/** What was measured of one side in one round. */
export interface Turn {
  readonly figure: number
  /** Processor time over the measured stretch by process, as a share of one core; `generator` is the load's own. */
  readonly cores: Readonly<Record<string, number>>
  /** What a reader has to know about this turn, such as a generator that was late. */
  readonly note?: string
}

/** One side while it runs. */
export interface Contestant {
  /** Its main thread is put on another core each round. Absent: it has several processes, or each turn starts its own. */
  readonly peer?: Peer
  turn(): Promise<Turn>
  /** Absent: each turn stops what it has started. */
  stop?(): Promise<void>
}

export type StartContestant = (session: Session) => Promise<Contestant>

/** By name of the side. */
export type Figures = Readonly<Record<string, number>>

/** What a comparison is held to. */
export interface Bar {
  readonly measure: string
  readonly judged: (figures: Figures) => number
  readonly bound: 'at least' | 'at most'
  readonly floor: number
  readonly aim: number
  /** Of `floor` and `aim`; absent: a ratio. */
  readonly unit?: string
}

/** Sides that are measured in turn, in the same minutes, under the same load. */
export interface Comparison {
  readonly name: string
  /** Of the figures. */
  readonly unit: string
  /** The figure lies near its floor: it is measured in five times as many rounds. */
  readonly isClose?: true
  /** With `--before` all sides stay, and this one is held to so many times the figure of the earlier builds. */
  readonly before?: { readonly side: string; readonly floor: number }
  readonly sides: Readonly<Record<string, StartContestant>>
  readonly bars: readonly Bar[]
}

/** Floor, then aim. */
type Limits = readonly [number, number]

/** The bar that `side` makes at least so many times the figure of `over`. */
export function ratio(side: string, over: string, [floor, aim]: Limits): Bar {
  const judged = (figures: Figures) => (figures[side] ?? Number.NaN) / (figures[over] ?? Number.NaN)
  return { measure: `${side} / ${over}`, judged, bound: 'at least', floor, aim }
}

/** The bar that the figure of the product is at most so much. */
export function most(unit: string, [floor, aim]: Limits): Bar {
  const judged = ({ product = Number.NaN }: Figures) => product
  return { measure: 'product', judged, bound: 'at most', floor, aim, unit }
}

/**
 * The product in turn with other builds of it, in the place of its peers: what a change is worth. No floor is missed by it,
 * unless the comparison has one for it.
 *
 * @param before each build's tree as it was given, since two trees may end alike, and its command as in `Session`
 * @returns undefined: the product is no side of the comparison, nor is any held to other builds
 */
export function besideBefore(
  { sides, bars, before: own, ...comparison }: Comparison,
  before: readonly { readonly name: string; readonly command: string }[],
): Comparison | undefined {
  const side = own?.side ?? 'product'
  const product = sides[side]
  if (!product) return undefined
  const bound = bars[0]?.bound ?? 'at least'
  const builds = before.map(
    ({ name, command }) => [name, (session: Session) => product({ ...session, command })] as const,
  )
  return {
    ...comparison,
    sides: { ...(own ? sides : { product }), ...Object.fromEntries(builds) },
    bars: [
      ...(own ? bars : []),
      ...before.map(({ name }) => {
        const unmissable = bound === 'at least' ? 0 : Number.POSITIVE_INFINITY
        return { ...ratio(side, name, [own?.floor ?? unmissable, 1]), bound }
      }),
    ],
  }
}

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
    for (const contestant of contestants.values()) await contestant.stop?.()
  }
  return { name, unit, turns, verdicts: bars.map(bar => judge(bar, turns, rounds)), missing }
}

function keepOn(core: number, { processes }: Peer): void {
  for (const processId of Object.values(processes)) keepMainThreadOn(core, processId)
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

export function gradeOf({ bound, floor, aim }: Verdict['bar'], figure: number): Grade {
  if (!Number.isFinite(figure)) return 'not measured'
  const reaches = (limit: number) => (bound === 'at least' ? figure >= limit : figure <= limit)
  if (reaches(aim)) return 'aim'
  return reaches(floor) ? 'floor' : 'missed'
}
