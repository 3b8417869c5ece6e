import { formatDatetime, latestDatetime, parseDatetime } from '../../core/record/datetime.ts'
import { failure } from '../exit.ts'
import type { Fault } from './sourced.ts'
import { isDay, isTimeOfDay, parseTime, timeOn } from './time-text.ts'

/** Of one number of a column of Unix times, in milliseconds. */
export const timeUnits = { s: 1000, ms: 1, us: 1e-3, ns: 1e-6 } as const
type TimeUnit = keyof typeof timeUnits

export function isTimeUnit(text: string): text is TimeUnit {
  return Object.hasOwn(timeUnits, text)
}

/** What the command line says of the times of a file. */
export interface TimeOptions {
  /** Of a column of Unix times. */
  readonly timeUnit?: TimeUnit | undefined
  /** `YYYY-MM-DD` of the first row, where the file has times of day alone. */
  readonly date?: string | undefined
  /** Whether a record without a time gets that of its receipt. */
  readonly now?: boolean | undefined
}

type Found = { readonly datetime?: string } | { readonly fault: Fault }

const halfDay = 43_200_000
const unixTime = /^\d+(?:[.,]\d+)?$/

/** Reads the times of the rows of one file, in their order. */
export class RowTimes {
  readonly #options: TimeOptions
  /** Midnight of the day of the row before, and its time since then. */
  #midnight: number
  #last: { readonly time: number; readonly text: string } | undefined

  constructor(options: TimeOptions) {
    this.#options = options
    this.#midnight = Date.parse(`${options.date ?? '1970-01-01'}T00:00:00Z`)
  }

  /**
   * The time of a row, as RFC 3339; nothing if the record is to get that of its receipt.
   *
   * @param time a cell of a file or a value of JSON
   * @param date the day of a time of day, where the file has it apart; undefined: it has not
   * @throws CommandError failed if it is not clear of which day the row is
   */
  of(line: number, time: unknown, date: unknown): Found {
    if (time === undefined || time === null || time === '') return this.#ofNone(date)
    if (this.#options.timeUnit !== undefined) return this.#ofNumber(time, timeUnits[this.#options.timeUnit])
    const text = typeof time === 'string' ? time.trim() : ''
    const whole = parseTime(text)
    if (whole !== undefined) return { datetime: formatDatetime(whole) }
    if (isTimeOfDay(text)) return this.#ofTimeOfDay(line, text, date)
    if (typeof time === 'number' || unixTime.test(text)) {
      return fault(
        'the time is a number: if it is a Unix time, give its unit with --time-unit s, ms, us or ns',
      )
    }
    return unreadable(time)
  }

  #ofNone(date: unknown): Found {
    if (typeof date === 'string' && date !== '') return fault('there is a day and no time')
    if (this.#options.now === true) return {}
    return fault('there is no time: add it, or give the record the time of its receipt with --now')
  }

  #ofNumber(time: unknown, unit: number): Found {
    const text = String(time).trim()
    const milliseconds = unixTime.test(text) ? Math.floor(Number(text.replace(',', '.')) * unit) : Number.NaN
    if (milliseconds >= 0 && milliseconds <= latestDatetime) return { datetime: formatDatetime(milliseconds) }
    return fault(`the time ${JSON.stringify(time)} is no Unix time in ${this.#options.timeUnit}`)
  }

  #ofTimeOfDay(line: number, text: string, date: unknown): Found {
    if (date === '') return fault('the time has no day in this row')
    if (date !== undefined) {
      const day = typeof date === 'string' ? date.trim().replace(/[t ]00:00(:00(\.0+)?)?z?$/i, '') : ''
      const time = isDay(day) ? timeOn(day, text) : undefined
      return time === undefined ? unreadable(`${date} ${text}`) : { datetime: formatDatetime(time) }
    }
    if (this.#options.date === undefined) {
      return fault(
        'the time has no day: add a column date, or give the day of the first row with --date YYYY-MM-DD',
      )
    }
    const time = timeOn('1970-01-01', text)
    if (time === undefined || time < 0 || time >= 2 * halfDay) return unreadable(text)
    this.#follow(line, time, text)
    return { datetime: formatDatetime(this.#midnight + time) }
  }

  /**
   * A step back of more than half a day is midnight. Every other step of that kind could be a row in another order, too: one
   * that is taken for a midnight puts all rows behind it on a wrong day.
   */
  #follow(line: number, time: number, text: string): void {
    const last = this.#last
    this.#last = { time, text }
    if (!last) return
    const step = time - last.time
    if (step < -halfDay) this.#midnight += 2 * halfDay
    else if (step < 0 || step > halfDay) {
      const goes = step < 0 ? 'goes back' : 'leaps'
      throw failure(
        `line ${line}: the time ${goes} from ${last.text} to ${text}, so it is not clear of which day the row is: add a column date (2026-11-20), or write whole times (2026-11-20T09:30:00Z)`,
      )
    }
  }
}

function unreadable(time: unknown): Found {
  return fault(`${JSON.stringify(time)} is no time that can be read: write it as 2026-11-21T09:30:00Z`)
}

function fault(message: string): Found {
  return { fault: { field: 'datetime', message } }
}

/** Whether this is a real `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && parseDatetime(`${text}T00:00:00Z`) !== undefined
}
