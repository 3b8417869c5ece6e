import { formatDatetime, latestDatetime, parseDatetime } from '../../core/record/datetime.ts'
import type { TimeZone } from '../../core/time/time-zone.ts'
import { milliseconds } from '../../core/time/utc-buckets.ts'
import { failure } from '../exit.ts'

/** Length of the units of Unix times, milliseconds. */
const unixUnits = { s: 1000, ms: 1, us: 1e-3, ns: 1e-6 } as const

/** The unit of times that are numbers. `count` is its length in milliseconds, or `hhmm`, in which `930` is 09:30. */
export interface TimeUnit {
  readonly name: string
  readonly count: number | 'hhmm'
  /** Whether the numbers count from midnight of the day in another column; otherwise they count from 1970. */
  readonly isOfDay: boolean
}

/** @param name `s`, `ms`, `us` or `ns` for Unix times; `hhmm`, `1h`, `30m` etc. for times of day @returns undefined if unknown */
export function timeUnitOf(name: string): TimeUnit | undefined {
  if (Object.hasOwn(unixUnits, name)) {
    return { name, count: unixUnits[name as keyof typeof unixUnits], isOfDay: false }
  }
  if (name === 'hhmm') return { name, count: name, isOfDay: true }
  const [, count, unit] = /^([1-9]\d?)([smh])$/.exec(name) ?? []
  if (!unit) return undefined
  return { name, count: Number(count) * milliseconds[unit as 's' | 'm' | 'h'], isOfDay: true }
}

/** The command-line options about the times of a file. */
export interface TimeOptions {
  readonly timeColumn?: string | undefined
  /** Unit of the times, if they are numbers. */
  readonly timeUnit?: TimeUnit | undefined
  /** Zone of the times that name no zone. */
  readonly zone?: { readonly name: string; readonly clocks: TimeZone } | undefined
  /** Day of the first row, if the file only has times of day. */
  readonly date?: string | undefined
  /** If set, records without a time get their time of receipt. For a file (`once`), it is about the same for all. */
  readonly now?: 'each' | 'once' | undefined
}

export interface RowTime {
  /** RFC 3339; absent if the record gets its time of receipt. */
  readonly datetime?: string
  /** Words for the time that all rows without a time share. */
  readonly at?: string
  /** Whether another column may have the finer time: this is a day, a number of hours or minutes, or 00:00 in all rows so far. */
  readonly isCoarse?: boolean
}

/** The time of a row, or a string that says why there is none. */
type Found = RowTime | string

const dayForm = String.raw`\d{4}-\d\d?-\d\d?|\d{4}/\d\d?/\d\d?|\d{4}\.\d\d?\.\d\d?|\d\d?\.\d\d?\.\d{4}|\d{8}`
const minuteForm = String.raw`:\d\d(?::\d\d(?:[.,]\d+)?)?`
const clockForm = String.raw`(?:(?:0?[1-9]|1[0-2])${minuteForm} ?[ap]m|\d\d?${minuteForm}|\d{6}(?:[.,]\d+)?)`
const zoneForm = String.raw`(?: ?(?:z|utc|gmt|[+-]\d\d(?::?\d\d)?))`

const day = new RegExp(`^(?:${dayForm})$`)
const timeOfDay = new RegExp(`^${clockForm}${zoneForm}?$`, 'i')
const dayAndTime = new RegExp(`^(${dayForm})(?:[t_]|,? +)(${clockForm}${zoneForm}?)$`, 'i')
const clockParts = /^(\d\d?):?(\d\d)(?::?(\d\d))?(?:[.,](\d+))?(?: ?([ap])m)?(.*)$/i
const zoneAtEnd = new RegExp(`${zoneForm}$`, 'i')
/** Matches times such as `2026070112` and `202607011200`. As Unix times in s and ms, these would be in 2034 and in 1976. */
const digitsOfHour = /^20\d{8}(?:\d\d)?$/
const number = /^\d+(?:[.,]\d+)?$/
const unixYear = 365 * milliseconds.d
const year1990 = Date.UTC(1990)

/**
 * Parses a time as it is spelled in files: the forms of the contract, and a day with `-`, `/` or `.` before a time of day, which
 * may have `AM` or `PM` and a zone such as `UTC`, `+0200` or `+02`. A day alone stands for its midnight.
 *
 * @returns milliseconds since the epoch, as UTC if the text names no zone; undefined if the form is unknown, the time does not
 * exist, or the text is ambiguous, such as `03/04/2026`
 */
export function parseTime(text: string): number | undefined {
  const [, dayText = text, clock = '00:00'] = dayAndTime.exec(text) ?? []
  const found =
    parseDatetime(digitsOfHour.test(text) ? text.padEnd(14, '0') : text) ??
    (day.test(dayText) ? timeOn(dayText, clock) : undefined)
  return found !== undefined && found <= latestDatetime ? found : undefined
}

/**
 * Parses a day and a time of day. The result is like that of `parseTime`.
 *
 * @param dayText for example `2026-06-30` or `30.06.2026`
 * @param clock for example `09:48`, `094800` or `9:48:00 PM`
 */
function timeOn(dayText: string, clock: string): number | undefined {
  const [, hour = '', minute = '', second = '00', fraction = '0', half, zone = ''] =
    clockParts.exec(clock) ?? []
  // 12 AM is midnight, 12 PM is noon.
  const hours = half ? (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0) : Number(hour)
  const [, offset, minutes = '00'] = /([+-]\d\d):?(\d\d)?$/.exec(zone) ?? []
  const time = `${String(hours).padStart(2, '0')}:${minute}:${second}.${fraction}`
  return parseDatetime(`${isoDay(dayText)}T${time}${offset === undefined ? 'Z' : `${offset}:${minutes}`}`)
}

function isoDay(text: string): string {
  const yearFirst = /^\d\d?\./.test(text) ? text.split('.').reverse().join('.') : text
  const [, year, month = '', last = ''] = /^(\d{4})\D?(\d\d?)\D?(\d\d?)$/.exec(yearFirst) ?? []
  return `${year}-${month.padStart(2, '0')}-${last.padStart(2, '0')}`
}

/** What the text of a cell looks like. A `midnight` is a day that is spelled with 00:00. */
export type Held = 'nothing' | 'day' | 'midnight' | 'clock' | 'time' | 'other'

/** @param cell a text of CSV or a value of JSON. Digits alone do not count as a time, since they could be any number */
export function heldBy(cell: unknown): Held {
  if (cell === undefined || cell === null || cell === '') return 'nothing'
  const text = typeof cell === 'string' ? cell.trim() : ''
  if (/^\d*$/.test(text)) return 'other'
  if (text.includes(':') && timeOfDay.test(text)) return 'clock'
  if (parseTime(text) === undefined) return 'other'
  if (day.test(text)) return 'day'
  return dayOf(text) === undefined ? 'time' : 'midnight'
}

/** Reads the times of the rows of one file, in their order. */
export class RowTimes {
  readonly #options: TimeOptions
  /** Midnight of the previous row's day, milliseconds. `#last` is the time of day of that row. */
  #midnight: number
  #last: { readonly time: number; readonly text: string } | undefined
  #hasClock: boolean

  constructor(options: TimeOptions) {
    this.#options = options
    this.#hasClock = options.timeColumn !== undefined
    this.#midnight = parseTime(options.date ?? '1970-01-01') ?? 0
  }

  /**
   * The time of a row. Its `datetime` is absent if the record gets its time of receipt.
   *
   * @param time a text of CSV or a value of JSON
   * @param date the day of the row, if the file has a separate column for it; undefined if not
   * @param others returns texts that may name a zone of the time zone database: cells, and words of the header
   * @throws CommandError failed if the day or the zone of the row is not clear
   */
  of(line: number, time: unknown, date: unknown, others: () => readonly unknown[]): Found {
    const { now, timeUnit } = this.#options
    if (time === undefined || time === null || time === '') {
      if (typeof date === 'string' && date !== '') return 'there is a day and no time'
      if (now) return now === 'once' ? { at: 'the time of receipt' } : {}
      return 'there is no time: add it, or give the record the time of its receipt with --now'
    }
    const text = typeof time === 'string' ? time.trim() : JSON.stringify(time)
    const local = this.#local(line, text, date)
    if (typeof local === 'string') return local
    // The end of a day may look like an offset, for example in 2026-06-30.
    const bare = day.test(text) ? text : text.replace(zoneAtEnd, '')
    const isCoarse = this.#isCoarse(text, parseTime(bare) ?? local)
    if (bare !== text || timeUnit?.isOfDay === false) return { datetime: formatDatetime(local), isCoarse }
    const shown = date === undefined || parseTime(text) !== undefined ? text : `${date} ${text}`
    const found = this.#inZone(line, shown, local, others())
    return typeof found === 'string' ? found : { datetime: formatDatetime(found), isCoarse }
  }

  #isCoarse(text: string, shown: number): boolean {
    if (this.#options.timeUnit?.isOfDay || day.test(text)) return true
    // A time that ends like this was written by Thingwire itself, so 00:00 is exact.
    const isMidnight = shown % milliseconds.d === 0 && !text.endsWith('00.000Z')
    this.#hasClock ||= !isMidnight
    return !this.#hasClock
  }

  /** Milliseconds since the epoch, as UTC if the text names no zone; a string says why there is no time. */
  #local(line: number, text: string, date: unknown): number | string {
    const { timeUnit } = this.#options
    if (timeUnit) return timeUnit.isOfDay ? ofNumber(text, timeUnit, date) : ofUnix(text, timeUnit)
    const whole = parseTime(text)
    if (whole !== undefined) return whole
    if (timeOfDay.test(text)) return this.#ofTimeOfDay(line, text, date)
    if (!number.test(text)) return unreadable(text)
    const start = `the time ${JSON.stringify(text)} is a number: if`
    return date === undefined
      ? `${start} it is a Unix time, give its unit with --time-unit s, ms, us or ns; if a spreadsheet counts days, export dates`
      : `${start} it counts from midnight on, give its unit with --time-unit 1h, 30m, 1m or hhmm (09:30 is 930)`
  }

  /** @param local as if it were UTC, milliseconds @throws CommandError failed without `--tz`, or if the row names another zone */
  #inZone(line: number, text: string, local: number, others: readonly unknown[]): number | string {
    const { zone } = this.#options
    if (!zone) {
      throw failure(
        `line ${line}: ${text} names no zone: give the zone of such times with --tz, such as --tz UTC or --tz America/Denver`,
      )
    }
    const place = others.map(placeOf).find(each => each !== undefined)
    if (place !== undefined && place !== placeOf(zone.name)) {
      throw failure(
        `line ${line}: ${place} is not the zone of --tz, ${zone.name}: split the file by its zones`,
      )
    }
    const [time, other] = timesOf(local, zone.clocks)
    if (time !== undefined && other === undefined) return time
    const came = time === undefined ? 'was skipped' : 'came twice'
    return `${JSON.stringify(text)} ${came} in ${zone.name}, where the clocks changed: write it with its offset, such as 2026-11-01T01:30:00-06:00`
  }

  #ofTimeOfDay(line: number, text: string, date: unknown): number | string {
    if (date === '') return 'the time has no day in this row'
    if (date !== undefined) {
      const day = dayOf(date)
      return (day === undefined ? undefined : timeOn(day, text)) ?? unreadable(`${date} ${text}`)
    }
    if (this.#options.date === undefined) return unreadable(text)
    const time = timeOn('1970-01-01', text)
    if (time === undefined || time < 0 || time >= milliseconds.d) return `"${text}" is not a time of day`
    this.#follow(line, time, text)
    return this.#midnight + time
  }

  /**
   * A step back of more than half a day means that a midnight has passed. Any other step back, and a step forward of more than half
   * a day, is refused: the rows may be unordered, and a wrong midnight would put all later rows on a wrong day.
   */
  #follow(line: number, time: number, text: string): void {
    const last = this.#last
    this.#last = { time, text }
    if (!last) return
    const step = time - last.time
    if (step < -milliseconds.d / 2) this.#midnight += milliseconds.d
    else if (step < 0 || step > milliseconds.d / 2) {
      throw failure(
        `line ${line}: the time ${step < 0 ? 'goes back' : 'jumps'} from ${last.text} to ${text}, so it is not clear which day the row belongs to: add a column date (2026-11-20), or write whole times (2026-11-20T09:30:00Z)`,
      )
    }
  }
}

function ofUnix(text: string, { name, count }: TimeUnit): number | string {
  const none = `${JSON.stringify(text)} is not a Unix time in ${name}`
  if (parseTime(text) !== undefined) return `${none} but a date: leave --time-unit out`
  if (!number.test(text)) return `${none}: ${adviceOn(text)}`
  const value = Number(text.replace(',', '.'))
  const time = Math.floor(value * Number(count))
  if (time >= unixYear && time <= latestDatetime) return time
  const newest = Date.now() + milliseconds.d
  const [unit, length] =
    Object.entries(unixUnits).find(([, each]) => value * each > year1990 && value * each < newest) ?? []
  const what = time > latestDatetime ? none : `the time ${text} in ${name} is ${formatDatetime(time)}`
  const why = length
    ? `with --time-unit ${unit} it is ${formatDatetime(Math.floor(value * length))}`
    : 'was the clock not set, or is it a time since a start?'
  return `${what}: ${why}`
}

/** The text of a day, which may be spelled as its midnight; undefined if the value is not a day. */
function dayOf(date: unknown): string | undefined {
  const text = typeof date === 'string' ? date.trim().replace(/[t ]00:00(:00(\.0+)?)?z?$/i, '') : ''
  return day.test(text) ? text : undefined
}

/** The time of a number that counts from midnight of its day. 24 hours are the next midnight. */
function ofNumber(text: string, { name, count }: TimeUnit, date: unknown): number | string {
  if (date === undefined) return `--time-unit ${name} needs a column date with the day of each row`
  const midnight = parseTime(dayOf(date) ?? '')
  if (midnight === undefined) return unreadable(`${date} ${text}`)
  const isClock = count === 'hhmm'
  const value = (isClock ? /^\d+$/ : number).test(text) ? Number(text.replace(',', '.')) : Number.NaN
  const [hours, minutes] = [Math.floor(value / 100), value % 100]
  const since = isClock ? hours * milliseconds.h + minutes * milliseconds.m : Math.round(value * count)
  if (since <= milliseconds.d && !(isClock && minutes > 59)) return midnight + since
  return `${JSON.stringify(text)} is not a time of day in ${name}`
}

/** The instants at which the clocks of a zone show a local time: none, one or two. */
function timesOf(local: number, clocks: TimeZone): number[] {
  const offsets = [-milliseconds.d, milliseconds.d].map(step => clocks.spanAt(local + step).offset)
  return [...new Set(offsets)]
    .map(offset => local - offset)
    .filter(time => time + clocks.spanAt(time).offset === local)
}

/** Forms of times that cannot be read, with advice. The first form that matches is used. */
export const unread: readonly (readonly [form: RegExp, advice: string])[] = [
  [/^[\d.,]+e\+?\d+$/i, 'a spreadsheet has cut off its last digits; export the times anew'],
  [/^\d\d?:\d\d\.\d+$/, 'it has only minutes and seconds; make the spreadsheet show day and hour as well'],
  [/^\d\d?[-/]\d\d?[-/]\d/, 'its day and month are ambiguous; write it as 2026-11-21 or 21.11.2026'],
  [/:\d\d(?:[.,]\d+)? ?(?![ap]m$)[a-z]{2,5}$/i, 'leave out the letters at its end; --tz names a zone'],
  [/^\d\d?:\d\d/, 'it has no day; add a column date, or give the day of the first row with --date'],
  [/^(?:19|20)\d\d$/, 'it is a year; join the parts of the time into one column, 2026-11-21T09:30:00Z'],
]

function adviceOn(text: string): string {
  return unread.find(([form]) => form.test(text))?.[1] ?? 'write it as 2026-11-21T09:30:00Z'
}

/** A message that says that a text cannot be read as a time, and what to do about it. */
export function unreadable(text: string): string {
  return `${JSON.stringify(text)} cannot be read as a time: ${adviceOn(text)}`
}

/** A cache of `placeOf`. Its size is limited, since other texts, such as paths, also look like names of zones. */
const places = new Map<string, string | undefined>()

/** The main name of a zone, such as `Europe/Zurich`, for any of its names in the time zone database; undefined for other texts. */
function placeOf(zone: unknown): string | undefined {
  if (typeof zone !== 'string' || !/^[A-Z]\w+\/[\w+/-]+$/.test(zone)) return undefined
  if (places.has(zone)) return places.get(zone)
  if (places.size >= 1_000) places.clear()
  places.set(zone, undefined)
  try {
    places.set(zone, new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone)
  } catch {}
  return places.get(zone)
}
