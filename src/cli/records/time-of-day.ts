const day = 86_400_000
const form = /^([01]\d|2[0-3]):?([0-5]\d):?([0-5]\d)(\.\d+)?$/

/** Whether this is `HHMMSS` or `HH:MM:SS`: a time without its day. */
export function isTimeOfDay(text: string): boolean {
  return form.test(text)
}

/** Gives times of day, in UTC, their day. A step back by more than half a day is midnight. */
export class Day {
  #midnight: number
  #last = 0

  /** @param date `YYYY-MM-DD` of the first time */
  constructor(date: string) {
    this.#midnight = Date.parse(`${date}T00:00:00Z`)
  }

  /** @returns RFC 3339 */
  datetime(timeOfDay: string): string {
    const [, hours, minutes, seconds, fraction = ''] = form.exec(timeOfDay) ?? []
    const milliseconds =
      ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 +
      Math.floor(Number(`0${fraction}`) * 1000)
    if (milliseconds < this.#last - day / 2) this.#midnight += day
    this.#last = milliseconds
    return new Date(this.#midnight + milliseconds).toISOString()
  }
}

/** Whether this is a real `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}
