import { gradeOf, type Verdict } from '../compare/comparison.ts'
import { aligned, figureText } from '../compare/report.ts'
import { median } from '../program.ts'
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

/** What the looks of one store are held to: times of the product as shares of a peer's, or else of its own later looks. */
const bars: readonly { view: string; when: When; peer?: string; limits: Limits }[] = [
  { view: monthByHour.name, when: 'first', peer: 'SQLite', limits: [1, 0.5] },
  { view: monthByHour.name, when: 'later', peer: 'PostgreSQL', limits: [0.2, 0.05] },
  { view: dayByMinute.name, when: 'first', peer: 'SQLite', limits: [1.5, 1] },
  { view: dayByMinute.name, when: 'later', peer: 'SQLite', limits: [0.5, 0.2] },
  { view: latest.name, when: 'later', peer: 'SQLite', limits: [1.5, 1] },
  { view: lastThousand.name, when: 'later', peer: 'SQLite', limits: [1.5, 1] },
  { view: lateRecord, when: 'first', limits: [3, 1.5] },
]
const largeLimits: Limits = [1.3, 1.1]
/** Bytes a record of single writes. */
const diskLimits: Limits = [30, 20]
/** MiB that a server takes more, at most, for a longer CSV: its memory is flat (contract §6.2). */
const csvLimits: Limits = [30, 20]

/** The bars of a store, of those views that were asked for. */
export function judgeLooks(turns: readonly Turn[], records: number): Judged[] {
  const own = turns.filter(turn => turn.records === records)
  const asked = bars.filter(({ view }) => own.some(turn => turn.view === view))
  return shapes.flatMap(({ name: side }) =>
    asked.map(({ view, when, peer, limits }) => {
      const over = timesOf(own, view, side, when)
      if (peer === undefined)
        return ratio(`${view}, next look / later look`, side, limits, over, timesOf(own, view, side, 'later'))
      const under = timesOf(own, view, peer, when)
      return ratio(`${view}, ${when}`, `${side} / ${peer}`, limits, over, under)
    }),
  )
}

/** Whether a look costs its buckets, and not the records of the store. Nothing unless both sizes were measured. */
export function judgeGrowth(turns: readonly Turn[]): Judged[] {
  const ofView = turns.filter(({ view }) => view === monthByHour.name)
  const [large, small] = [largeStore, judgedFrom].map(size => ofView.filter(turn => turn.records === size))
  if (!large?.length || !small?.length) return []
  const name = `${monthByHour.name}, later, 20 M / 2.6 M records`
  return shapes.map(({ name: side }) => {
    const [over, under] = [large, small].map(all => timesOf(all, monthByHour.name, side, 'later'))
    return ratio(name, side, largeLimits, over ?? [], under ?? [])
  })
}

export function judgeDisk(measure: string, bytesPerRecord: number): Judged {
  return judgedAs('disk a record', measure, diskLimits, [bytesPerRecord], bytesPerRecord, 'bytes')
}

export function judgeCsv(measure: string, growth: number): Judged {
  const mebibytes = growth / 2 ** 20
  return judgedAs('CSV of all, memory from row 100,000 on', measure, csvLimits, [mebibytes], mebibytes, 'MiB')
}

/** Times by round. */
type Rounds = readonly (readonly number[])[]

function timesOf(turns: readonly Turn[], view: string, side: string, when: When): Rounds {
  return turns.filter(turn => turn.view === view && turn.side === side).map(turn => turn[when])
}

function ratio(name: string, measure: string, limits: Limits, over: Rounds, under: Rounds): Judged {
  const figure = median(over.flat()) / median(under.flat())
  const each = over.map((times, round) => median(times) / median(under[round] ?? []))
  return judgedAs(name, measure, limits, each, figure)
}

/** A limit within the spread of the rounds counts as held. @param each figure of a round */
function judgedAs(
  name: string,
  measure: string,
  [floor, aim]: Limits,
  each: readonly number[],
  figure: number,
  unit?: string,
): Judged {
  const [lowest, highest] = [Math.min(...each), Math.max(...each)]
  const bar = { measure, bound: 'at most', floor, aim, ...(unit && { unit }) } as const
  const own = gradeOf(bar, figure)
  const grade = own === 'missed' && lowest <= floor ? 'floor' : own
  return { name, verdicts: [{ bar, figure, lowest, highest, grade }] }
}

/** What each side took, medians in milliseconds. */
export function looksTable(turns: readonly Turn[]): string {
  const [sides, views] = [[...new Set(turns.map(({ side }) => side))], new Set(turns.map(({ view }) => view))]
  const rows = [...views].flatMap(view =>
    (['first', 'later'] as const).map(when => {
      const took = sides.map(side => figureText(median(timesOf(turns, view, side, when).flat())))
      const late = { first: 'next', later: 'before' }
      return [when === 'first' ? view : '', view === lateRecord ? late[when] : when, ...took]
    }),
  )
  return aligned([['ms', 'look', ...sides], ...rows])
}
