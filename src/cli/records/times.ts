import { formatDatetime, latestDatetime, parseDatetime } from '../../core/record/datetime.ts'
import type { TimeZone } from '../../core/time/time-zone.ts'
import { milliseconds } from '../../core/time/utc-buckets.ts'
import { failure } from '../exit.ts'

/** Of one number of a column of Unix times, in milliseconds. */
const unixUnits = { s: 1000, ms: 1, us: 1e-3, ns: 1e-6 } as const

/** Unit of a column of numbers: `count` milliseconds each, or `hhmm` (`930` is 09:30). */
export interface TimeUnit {
  readonly name: string
  readonly count: number | 'hhmm'
  /** Whether numbers count from the midnight of a day beside them; else from 1970 on. */
  readonly isOfDay: boolean
}

/** @param name `s`, `ms`, `us`, `ns`: Unix times; `hhmm`, or a length such as `1h` and `30m`: times of day @returns undefined if it is none */
export function timeUnitOf(name: string): TimeUnit | undefined {
  if (Object.hasOwn(unixUnits, name)) {
    return { name, count: unixUnits[name as keyof typeof unixUnits], isOfDay: false }
  }
  if (name === 'hhmm') return { name, count: name, isOfDay: true }
  const [, count, unit] = /^([1-9]\d?)([smh])$/.exec(name) ?? []
  if (!unit) return undefined
  return { name, count: Number(count) * milliseconds[unit as 's' | 'm' | 'h'], isOfDay: true }
}

/** What the command line says of the times of a file. */
export interface TimeOptions {
  readonly timeColumn?: string | undefined
  /** Of a column of numbers. */
  readonly timeUnit?: TimeUnit | undefined
  /** Of times that name no zone. */
  readonly zone?: { readonly name: string; readonly clocks: TimeZone } | undefined
  /** Day of the first row, where the file has times of day alone. */
  readonly date?: string | undefined
  /** A record without a time gets that of its receipt; `once`: all of them at about the same time. */
  readonly now?: 'each' | 'once' | undefined
}

export interface RowTime {
  /** RFC 3339. */
  readonly datetime?: string
  /** The time that rows without one share. */
  readonly at?: string
  /** Whether the rows may have finer times: this one is a day, a number of hours, or 00:00 where no row before has another time. */
  readonly isCoarse?: boolean
}

/** A string says why there is none. */
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
/** `2026070112` and `202607011200`; as Unix times they are of 2034, and of 1976. */
const digitsOfHour = /^20\d{8}(?:\d\d)?$/
const number = /^\d+(?:[.,]\d+)?$/
const unixYear = 365 * milliseconds.d
const year1990 = Date.UTC(1990)

/**
 * Reads a time as files have it: the forms of the contract, and day and time of day with `-`, `/` or `.` in the day, a zone
 * spelled as `UTC`, `+0200` or `+02`, `AM` and `PM`; a day alone is its midnight.
 *
 * @returns milliseconds since the epoch, UTC where the text names no zone; undefined if it is no such text, no real time, or could
 * be two: `03/04/2026`
 */
export function parseTime(text: string): number | undefined {
  const [, dayText = text, clock = '00:00'] = dayAndTime.exec(text) ?? []
  const found =
    parseDatetime(digitsOfHour.test(text) ? text.padEnd(14, '0') : text) ??
    (day.test(dayText) ? timeOn(dayText, clock) : undefined)
  return found !== undefined && found <= latestDatetime ? found : undefined
}

/**
 * A time of day on a day, as `parseTime`.
 *
 * @param dayText `2026-06-30`, `30.06.2026`
 * @param clock `09:48`, `094800`, `9:48:00 PM`
 */
function timeOn(dayText: string, clock: string): number | undefined {
  const [, hour = '', minute = '', second = '00', fraction = '0', half, zone = ''] =
    clockParts.exec(clock) ?? []
  // 12 AM is midnight, 12 PM noon.
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

/** What the text of a cell is by itself; a `midnight` is a day that is spelled with 00:00. */
export type Held = 'nothing' | 'day' | 'midnight' | 'clock' | 'time' | 'other'

/** @param cell a text of CSV, a value of JSON; digits alone could be any number, and are no time here */
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
  /** Midnight of the day of the row before, and its time since then. */
  #midnight: number
  #last: { readonly time: number; readonly text: string } | undefined
  #hasClock: boolean

  constructor(options: TimeOptions) {
    this.#options = options
    this.#hasClock = options.timeColumn !== undefined
    this.#midnight = parseTime(options.date ?? '1970-01-01') ?? 0
  }

  /**
   * The time of a row, as RFC 3339; nothing if the record is to get that of its receipt.
   *
   * @param time a cell of a file or a value of JSON
   * @param date the day of a time of day, where the file has it apart; undefined: it has not
   * @param others what may name a zone of the time zone database: cells, words of the header
   * @throws CommandError failed if it is not clear of which day or zone the row is
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
    // The last of a day may look like an offset: 2026-06-30.
    const bare = day.test(text) ? text : text.replace(zoneAtEnd, '')
    const isCoarse = this.#isCoarse(text, parseTime(bare) ?? local)
    if (bare !== text || timeUnit?.isOfDay === false) return { datetime: formatDatetime(local), isCoarse }
    const shown = date === undefined || parseTime(text) !== undefined ? text : `${date} ${text}`
    const found = this.#inZone(line, shown, local, others())
    return typeof found === 'string' ? found : { datetime: formatDatetime(found), isCoarse }
  }

  #isCoarse(text: string, shown: number): boolean {
    if (this.#options.timeUnit?.isOfDay || day.test(text)) return true
    // As Thingwire itself writes a midnight.
    const isMidnight = shown % milliseconds.d === 0 && !text.endsWith('00.000Z')
    this.#hasClock ||= !isMidnight
    return !this.#hasClock
  }

  /** Milliseconds as UTC. */
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

  /** @param local milliseconds that clocks show @throws CommandError failed without `--tz`, or if the file names another zone */
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
    if (time === undefined || time < 0 || time >= milliseconds.d) return `"${text}" is no time of day`
    this.#follow(line, time, text)
    return this.#midnight + time
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
    if (step < -milliseconds.d / 2) this.#midnight += milliseconds.d
    else if (step < 0 || step > milliseconds.d / 2) {
      throw failure(
        `line ${line}: the time ${step < 0 ? 'goes back' : 'leaps'} from ${last.text} to ${text}, so it is not clear of which day the row is: add a column date (2026-11-20), or write whole times (2026-11-20T09:30:00Z)`,
      )
    }
  }
}

function ofUnix(text: string, { name, count }: TimeUnit): number | string {
  const none = `${JSON.stringify(text)} is no Unix time in ${name}`
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

/** The text of a day, also where it is spelled as its midnight; undefined if it is none. */
function dayOf(date: unknown): string | undefined {
  const text = typeof date === 'string' ? date.trim().replace(/[t ]00:00(:00(\.0+)?)?z?$/i, '') : ''
  return day.test(text) ? text : undefined
}

/** A number that counts from the midnight of its day on; 24 hours are the next midnight. */
function ofNumber(text: string, { name, count }: TimeUnit, date: unknown): number | string {
  if (date === undefined) return `--time-unit ${name} needs a column date with the day of each row`
  const midnight = parseTime(dayOf(date) ?? '')
  if (midnight === undefined) return unreadable(`${date} ${text}`)
  const isClock = count === 'hhmm'
  const value = (isClock ? /^\d+$/ : number).test(text) ? Number(text.replace(',', '.')) : Number.NaN
  const [hours, minutes] = [Math.floor(value / 100), value % 100]
  const since = isClock ? hours * milliseconds.h + minutes * milliseconds.m : Math.round(value * count)
  if (since <= milliseconds.d && !(isClock && minutes > 59)) return midnight + since
  return `${JSON.stringify(text)} is no time of day in ${name}`
}

/** When the clocks of a zone show a time: never, once or twice. */
function timesOf(local: number, clocks: TimeZone): number[] {
  const offsets = [-milliseconds.d, milliseconds.d].map(step => clocks.spanAt(local + step).offset)
  return [...new Set(offsets)]
    .map(offset => local - offset)
    .filter(time => time + clocks.spanAt(time).offset === local)
}

/** Forms of times that are not read, and what to do about them. The first row that fits counts. */
export const unread: readonly (readonly [form: RegExp, advice: string])[] = [
  [/^[\d.,]+e\+?\d+$/i, 'a spreadsheet has cut off its last digits; export the times anew'],
  [/^\d\d?:\d\d\.\d+$/, 'it has minutes and seconds alone; let the spreadsheet show day and hour, too'],
  [/^\d\d?[-/]\d\d?[-/]\d/, 'its day could be two; write it as 2026-11-21 or 21.11.2026'],
  [/:\d\d(?:[.,]\d+)? ?(?![ap]m$)[a-z]{2,5}$/i, 'leave out the letters at its end; --tz names a zone'],
  [/^\d\d?:\d\d/, 'it has no day; add a column date, or give the day of the first row with --date'],
  [/^(?:19|20)\d\d$/, 'it is a year; join the parts of the time into one column, 2026-11-21T09:30:00Z'],
]

function adviceOn(text: string): string {
  return unread.find(([form]) => form.test(text))?.[1] ?? 'write it as 2026-11-21T09:30:00Z'
}

/** Why a text is no time, and what to do about it. */
export function unreadable(text: string): string {
  return `${JSON.stringify(text)} is no time that can be read: ${adviceOn(text)}`
}

/** Of the cells that look like one; paths and the like may be without number. */
const places = new Map<string, string | undefined>()

/** `Europe/Zurich` for each of its names in the time zone database; undefined for every other text. */
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
