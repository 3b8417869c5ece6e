const formats = new Map<string, Intl.DateTimeFormat>()

/** What a calendar and a clock in a zone show, such as `2026-03-29 03:00`; asked of Node alone. */
export function localTime(datetime: number, timeZone: string): string {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
  formats.set(timeZone, format)
  return format.format(datetime)
}

export function localDate(datetime: number, timeZone: string): string {
  return localTime(datetime, timeZone).slice(0, 10)
}
