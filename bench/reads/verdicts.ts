import { gradeOf, type Verdict } from '../compare/comparison.ts'
import { aligned, figureText } from '../compare/report.ts'
import { median } from '../program.ts'
import { lateRecord, type Turn } from './looks.ts'
import { type ProductSide, shapes } from './product.ts'
import { dayByMinute, lastThousand, latest, monthByHour } from './questions.ts'
import type { Side } from './side.ts'

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
  const own = turns.filter(turn => turn.records === records)
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
  const ofView = turns.filter(({ view }) => view === monthByHour.name)
  const [large, small] = [largeStore, judgedFrom].map(size => ofView.filter(turn => turn.records === size))
  if (!large?.length || !small?.length) return []
  return shapes.map(({ name: side }) =>
    ratio(`${monthByHour.name}, later, 20 M / 2.6 M records`, side, largeLimits, {
      over: timesOf(large, monthByHour.name, side, 'later'),
      under: timesOf(small, monthByHour.name, side, 'later'),
    }),
  )
}

export function judgeDisk(measure: string, bytesPerRecord: number): Judged {
  return judgedAs('disk a record', measure, diskLimits, [bytesPerRecord], bytesPerRecord, 'bytes')
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

const peers = ['SQLite', 'PostgreSQL'] as const
/** In the heads of columns. */
const short: Readonly<Record<string, string>> = {
  'product, batches': 'batch',
  'product, single writes': 'single',
  SQLite: 'SQLite',
  PostgreSQL: 'PG',
}

/** What each side took, medians in milliseconds, and the product's as a multiple of each peer's. */
export function looksTable(turns: readonly Turn[]): string {
  const products = shapes.map(({ name }) => name)
  const ratios = products.flatMap(product => peers.map(peer => ({ product, peer })))
  const header = [
    'ms',
    'look',
    ...[...products, ...peers].map(side => short[side] ?? side),
    ...ratios.map(({ product, peer }) => `${short[product]}/${short[peer]}`),
  ]
  const names = [...new Set(turns.map(({ view }) => view))]
  const rows = names.flatMap(view => {
    const ofView = turns.filter(turn => turn.view === view)
    const isLate = view === lateRecord
    return (['first', 'later'] as const).map(when => {
      const figureOf = (side: string) =>
        median(ofView.filter(turn => turn.side === side).flatMap(turn => turn[when]))
      return [
        when === 'first' ? view : '',
        isLate ? { first: 'next', later: 'before' }[when] : when,
        ...[...products, ...peers].map(side => figureText(figureOf(side))),
        ...ratios.map(({ product, peer }) => figureText(figureOf(product) / figureOf(peer))),
      ]
    })
  })
  return aligned([header, ...rows])
}

/** What each side keeps, and what the compactor needed for the product's. */
export function storesTable(sides: readonly (Side | ProductSide)[]): string {
  const header = ['store', 'filled in s', 'bytes a record', 'before compaction', 'packed in s']
  const rows = sides.map(side => {
    const packing = 'secondsToPack' in side ? [side.bytesPerRecordBefore, side.secondsToPack] : [NaN, NaN]
    const figures = [side.secondsToFill, side.bytesPerRecord, ...packing]
    return [side.name, ...figures.map(figure => figureText(figure))]
  })
  return aligned([header, ...rows])
}
