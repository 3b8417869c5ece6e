import type { Grade, Verdict } from '../compare/rounds.ts'
import { median } from '../statistics.ts'
import { lateRecord, type Turn } from './looks.ts'
import { shapes } from './product.ts'
import { dayByMinute, lastThousand, latest, monthByHour } from './questions.ts'

/** From so many records on a store is judged. */
export const judgedFrom = 2_600_000
const largeStore = 20_000_000

export interface Judged {
  readonly name: string
  readonly verdicts: readonly Verdict[]
}

type When = 'first' | 'later'
type Limits = readonly [floor: number, aim: number]

/** What the looks of one store without other writes are held to: times of the product as shares of a peer's. */
const bars: readonly { view: string; when: When; peer: string; limits: Limits }[] = [
  { view: monthByHour.name, when: 'first', peer: 'SQLite', limits: [1, 0.5] },
  { view: monthByHour.name, when: 'later', peer: 'PostgreSQL', limits: [0.2, 0.05] },
  { view: dayByMinute.name, when: 'first', peer: 'SQLite', limits: [1.5, 1] },
  { view: dayByMinute.name, when: 'later', peer: 'SQLite', limits: [0.5, 0.2] },
  { view: latest.name, when: 'later', peer: 'SQLite', limits: [1.5, 1] },
  { view: lastThousand.name, when: 'later', peer: 'SQLite', limits: [1.5, 1] },
]
const lateLimits: Limits = [3, 1.5]
const largeLimits: Limits = [1.3, 1.1]
/** Bytes a record of single writes. */
const diskLimits: Limits = [30, 20]

/** The bars of a store, of those views that were asked for. */
export function judgeLooks(turns: readonly Turn[], records: number): Judged[] {
  const own = turns.filter(turn => turn.records === records && turn.writes === 0)
  return shapes.flatMap(({ name: side }) => [
    ...bars
      .filter(({ view }) => own.some(turn => turn.view === view))
      .map(({ view, when, peer, limits }) =>
        ratio(`${view}, ${when}`, `${side} / ${peer}`, limits, {
          over: timesOf(own, view, side, when),
          under: timesOf(own, view, peer, when),
        }),
      ),
    ...(own.some(turn => turn.view === lateRecord)
      ? [
          ratio(`${lateRecord}, next look / later look`, side, lateLimits, {
            over: timesOf(own, lateRecord, side, 'first'),
            under: timesOf(own, lateRecord, side, 'later'),
          }),
        ]
      : []),
  ])
}

/** Whether a look costs its buckets, and not the records of the store. Nothing unless both sizes were measured. */
export function judgeGrowth(turns: readonly Turn[]): Judged[] {
  const ofView = turns.filter(({ view, writes }) => view === monthByHour.name && writes === 0)
  const [large, small] = [largeStore, judgedFrom].map(size => ofView.filter(turn => turn.records === size))
  if (!large?.length || !small?.length) return []
  return shapes.map(({ name: side }) =>
    ratio(`${monthByHour.name}, later, 20 M / 2.6 M records`, side, largeLimits, {
      over: timesOf(large, monthByHour.name, side, 'later'),
      under: timesOf(small, monthByHour.name, side, 'later'),
    }),
  )
}

export function judgeDisk(side: string, bytesPerRecord: number): Judged {
  const [floor, aim] = diskLimits
  const bar = { measure: side, bound: 'at most', floor, aim, unit: 'bytes' } as const
  const spread = { lowest: bytesPerRecord, highest: bytesPerRecord }
  const verdict = {
    bar,
    figure: bytesPerRecord,
    ...spread,
    grade: gradeOf(bytesPerRecord, bytesPerRecord, diskLimits),
  }
  return { name: 'disk a record', verdicts: [verdict] }
}

/** Times by round. */
type Rounds = readonly (readonly number[])[]

function timesOf(turns: readonly Turn[], view: string, side: string, when: When): Rounds {
  return turns.filter(turn => turn.view === view && turn.side === side).map(turn => turn[when])
}

function ratio(
  name: string,
  measure: string,
  limits: Limits,
  { over, under }: { readonly over: Rounds; readonly under: Rounds },
): Judged {
  const figure = median(over.flat()) / median(under.flat())
  const each = over.map((times, round) => median(times) / median(under[round] ?? []))
  const [floor, aim] = limits
  const [lowest, highest] = [Math.min(...each), Math.max(...each)]
  const bar = { measure, bound: 'at most', floor, aim } as const
  return { name, verdicts: [{ bar, figure, lowest, highest, grade: gradeOf(figure, lowest, limits) }] }
}

/** A limit within the spread of the rounds counts as held. */
function gradeOf(figure: number, lowest: number, [floor, aim]: Limits): Grade {
  if (!Number.isFinite(figure)) return 'not measured'
  if (figure <= aim) return 'aim'
  return Math.min(figure, lowest) <= floor ? 'floor' : 'missed'
}
