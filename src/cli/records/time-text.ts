import { latestDatetime, parseDatetime } from '../../core/record/datetime.ts'

const dayForm = String.raw`\d{4}-\d\d?-\d\d?|\d{4}/\d\d?/\d\d?|\d{4}\.\d\d?\.\d\d?|\d\d?\.\d\d?\.\d{4}|\d{8}`
const clockForm = String.raw`(?:\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?[ap]m)?|\d{6}(?:[.,]\d+)?)`
const zoneForm = String.raw`(?: ?(?:z|utc|gmt|[+-]\d\d(?::?\d\d)?))?`

const day = new RegExp(`^(?:${dayForm})$`)
const timeOfDay = new RegExp(`^${clockForm}${zoneForm}$`, 'i')
const dayAndTime = new RegExp(`^(${dayForm})(?:[t_]|,? +)(${clockForm}${zoneForm})$`, 'i')
const clockParts = /^(\d\d?):?(\d\d)(?::?(\d\d))?(?:[.,](\d+))?(?: ?([ap])m)?(.*)$/i

/**
 * Reads a time as files have it: the forms of the contract, and day and time of day with `-`, `/` or `.` in the day, a zone
 * spelled as `UTC`, `+0200` or `+02`, `AM` and `PM`; a day alone is its midnight. Without a zone it is UTC.
 *
 * @returns milliseconds since the epoch; undefined if it is no such text, no real time, or could be two: `03/04/2026`
 */
export function parseTime(text: string): number | undefined {
  const milliseconds = parseDatetime(text) ?? ofDayAndTime(text)
  return milliseconds !== undefined && milliseconds <= latestDatetime ? milliseconds : undefined
}

function ofDayAndTime(text: string): number | undefined {
  if (isDay(text)) return parseDatetime(`${isoDay(text)}T00:00:00Z`)
  const [, dayText, clock] = dayAndTime.exec(text) ?? []
  return dayText === undefined || clock === undefined ? undefined : timeOn(dayText, clock)
}

/** Whether this is spelled like a day alone: `2026-06-30`, `30.06.2026`. */
export function isDay(text: string): boolean {
  return day.test(text)
}

/** Whether this is spelled like a time without its day: `09:48`, `094800`, `9:48:00 PM`. */
export function isTimeOfDay(text: string): boolean {
  return timeOfDay.test(text)
}

/**
 * A time of day on a day, as `parseTime`.
 *
 * @param dayText as `isDay` takes it
 * @param clock as `isTimeOfDay` takes it
 */
export function timeOn(dayText: string, clock: string): number | undefined {
  const [, hour = '', minute = '', second = '00', fraction = '0', half, zone = ''] =
    clockParts.exec(clock) ?? []
  const hours = half === undefined ? Number(hour) : hoursOfHalf(Number(hour), half)
  const time = `${String(hours).padStart(2, '0')}:${minute}:${second}.${fraction}`
  return parseDatetime(`${isoDay(dayText)}T${time}${isoZone(zone.trim())}`)
}

/** 12 AM is midnight, 12 PM noon. A 13 PM is none: 25 is no hour. */
function hoursOfHalf(hour: number, half: string): number {
  if (hour < 1 || hour > 12) return 25
  return (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
}

function isoDay(text: string): string {
  const parts = /^\d{8}$/.test(text)
    ? [text.slice(0, 4), text.slice(4, 6), text.slice(6)]
    : text.split(/[-/.]/)
  const [first = '', month = '', last = ''] = parts
  const [year, dayOfMonth] = first.length === 4 ? [first, last] : [last, first]
  return `${year}-${month.padStart(2, '0')}-${dayOfMonth.padStart(2, '0')}`
}

function isoZone(zone: string): string {
  const [, sign, hours, minutes = '00'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? []
  return sign === undefined ? 'Z' : `${sign}${hours}:${minutes}`
}
