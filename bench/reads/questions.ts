import { end, gap } from './rows.ts'

/** What is asked for, in no side's language. Times are milliseconds, `to` is exclusive, answers are newest first. */
export type Question = NewestRecords | Rollups | WholeRange

export interface NewestRecords {
  readonly kind: 'records'
  readonly limit: number
  readonly to?: number
}

export interface Rollups {
  readonly kind: 'summaries'
  readonly functions: readonly SummaryFunction[]
  /** Sums as of decimals: by default a side may add doubles one by one, each rounded. */
  readonly isExact?: boolean
  /** Milliseconds, aligned to the epoch. */
  readonly interval: number
  readonly from: number
  readonly to: number
}

/** As CSV. */
export interface WholeRange {
  readonly kind: 'csv'
  readonly from: number
  readonly to: number
}

export type SummaryFunction = 'avg' | 'min' | 'max' | 'sum' | 'count'

/** A kind of look at the records, whose window can be moved. */
export interface View {
  readonly name: string
  /** Its window is a span whose summaries can be kept: later looks go over what was looked at already. */
  readonly isSpan: boolean
  /** @param shift how much earlier the window is, milliseconds; it does not count where there is one window only */
  readonly at: (shift: number, records: number) => Question
}

const second = 1_000
const minute = 60 * second
export const hour = 60 * minute
const day = 24 * hour
const timedFunctions: readonly SummaryFunction[] = ['avg']
const pageLimit = 100

export const monthByHour = summaries('30 days by the hour', 30 * day, hour)
export const dayByMinute = summaries('a day by the minute', day, minute)
export const latest = newest('latest', 1)
export const lastThousand = newest('last 1,000', 1_000)
export const csvOfAll: View = {
  name: 'CSV of all',
  isSpan: false,
  at: (shift, records) => ({ kind: 'csv', from: end - records * gap, to: end - (shift % (60 * minute)) }),
}

export const views: readonly View[] = [
  /** The cost of being asked at all: credentials, a parser, an answer. */
  {
    name: 'a range without records',
    isSpan: false,
    at: (shift, records) => {
      const to = end - records * gap - day - shift
      return { kind: 'summaries', functions: timedFunctions, interval: minute, from: to - hour, to }
    },
  },
  latest,
  lastThousand,
  {
    name: 'a page in the middle',
    isSpan: false,
    at: (shift, records) => {
      const to = end - Math.floor(records / 2) * gap - (shift % ((records * gap) / 4))
      return { kind: 'records', limit: pageLimit, to }
    },
  },
  dayByMinute,
  monthByHour,
  summaries('a year by the day', 365 * day, day),
  csvOfAll,
]

function summaries(name: string, span: number, interval: number): View {
  return {
    name,
    isSpan: true,
    at: shift => {
      const to = end - shift
      return { kind: 'summaries', functions: timedFunctions, interval, from: to - span, to }
    },
  }
}

function newest(name: string, limit: number): View {
  return { name, isSpan: false, at: () => ({ kind: 'records', limit }) }
}
