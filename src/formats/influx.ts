import { readText } from '../core/json/read-json.ts'
import { maximumRecords } from '../core/parse.ts'
import { formatDatetime, latestDatetime } from '../core/record/datetime.ts'
import { ThingwireError } from '../errors.ts'
import type {
  Outcome,
  OwnFormat,
  Post,
  Reading,
  SentRecord,
  SourceFormat,
  SourceReader,
  Unread,
} from './format.ts'
import { nothing } from './payload.ts'
import { isNoReading, keyOf } from './reading.ts'
import { mistakeAt } from './webhook.ts'

/**
 * Line protocol of InfluxDB, such as `weather,location=cellar temperature=21.5,wet=false 1465839830100400200`:
 * https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/.
 */

/** The unit of timestamps. */
export type Precision = keyof typeof units

export interface Line {
  readonly measurement: string
  /** Names and values, in the order of the line. */
  readonly tags: readonly (readonly [name: string, value: string])[]
  /** Without fields that hold no reading, such as NaN. */
  readonly fields: readonly (readonly [name: string, value: FieldValue])[]
  readonly datetime?: string
}

type FieldValue = number | boolean | string

/** `cut`: digits below the milliseconds. */
const units = {
  ns: { name: 'nanoseconds', cut: 6, milliseconds: 1 },
  us: { name: 'microseconds', cut: 3, milliseconds: 1 },
  ms: { name: 'milliseconds', cut: 0, milliseconds: 1 },
  s: { name: 'seconds', cut: 0, milliseconds: 1_000 },
  m: { name: 'minutes', cut: 0, milliseconds: 60_000 },
  h: { name: 'hours', cut: 0, milliseconds: 3_600_000 },
} as const

/** By the names that clients of InfluxDB 1 and 2 have for them. */
const precisions: ReadonlyMap<unknown, Precision> = new Map([
  ...(Object.keys(units) as Precision[]).map(name => [name, name] as const),
  ...(['n', ''] as const).map(name => [name, 'ns'] as const),
  ...(['u', 'µ'] as const).map(name => [name, 'us'] as const),
])

/** Timestamps before are those of another precision: seconds that are read as nanoseconds are all in the first two seconds of 1970. */
const firstTimestamp = Date.UTC(1971, 0, 1)

const booleans: ReadonlyMap<string, boolean> = new Map([
  ...['t', 'T', 'true', 'True', 'TRUE'].map(text => [text, true] as const),
  ...['f', 'F', 'false', 'False', 'FALSE'].map(text => [text, false] as const),
])
const number = /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[+-]?\d+i|\d+u)$/
const timestamp = /^-?\d{1,20}$/

const tab = 0x09
const newline = 0x0a
const carriageReturn = 0x0d
const space = 0x20
const quote = 0x22
const comma = 0x2c
const equals = 0x3d
const backslash = 0x5c

/** Maximum number of characters in the name of a device; the rest is left out. */
const longestName = 200

/** How many bad lines are named. */
const maximumUnread = 20

/** Reads each line for itself: a bad one is unread, with line and column as its place. */
export function parseLines(text: string, precision: Precision = 'ns'): { lines: Line[]; unread: Unread[] } {
  const lines: Line[] = []
  const unread: Unread[] = []
  const scan = new Scan(text, precision)
  while (scan.beginLine()) {
    const line = scan.readLine()
    if (line) lines.push(line)
    else if (unread.length < maximumUnread) unread.push(scan.mistake())
    scan.skipLine()
  }
  return { lines, unread }
}

/** The records of a line: their keys are made of its measurement, the values of its tags and the names of its fields. */
export function influxRecords(line: Line, withoutTags: readonly string[] = []): SentRecord[] {
  const { measurement, tags, fields, datetime } = line
  let series = measurement
  for (const [name, value] of tags) if (!withoutTags.includes(name)) series += `.${value}`
  series = keyOf(series)
  return fields.map(([name, value]) => {
    const key = keyOf(`${series}.${name}`)
    return datetime === undefined ? { key, value } : { key, value, datetime }
  })
}

export const influxFormat: OwnFormat = {
  name: 'influx',
  read(levels, body) {
    if (levels.some(level => level !== '')) {
      const message =
        'no key must follow the format, …/write/influx: the lines name measurements, tags and fields'
      throw new ThingwireError('invalid_key', message)
    }
    const records: SentRecord[] = []
    const scan = new Scan(readText(body), 'ns')
    for (; scan.beginLine(); scan.skipLine()) {
      const line = scan.readLine()
      if (!line) {
        const { place, reason } = scan.mistake()
        throw new ThingwireError('invalid_lines', `${place}: ${reason}`)
      }
      for (const record of influxRecords(line)) records.push(record)
    }
    return records
  },
}

/** The lines of a server's agent, such as Telegraf, or of a program, which post many devices to InfluxDB. */
export const influx: SourceFormat = { name: 'influx', begin: () => new InfluxReader() }

class InfluxReader implements SourceReader {
  knows(): undefined {}

  read(): Outcome {
    return nothing
  }

  readPost({ body, query }: Post): Outcome | undefined {
    if (typeof body !== 'string') return undefined
    const precision = precisions.get(query.precision ?? 'ns')
    if (!precision) return mistakeAt('precision', 'must be ns, us, ms, s, m or h, but it is another one')
    const { lines, unread } = parseLines(body, precision)
    return { readings: readingsOf(lines), unread }
  }

  learn(): void {}

  describe(): undefined {}
}

/** The readings of each host; of each measurement, if the lines do not name a host. */
function readingsOf(lines: readonly Line[]): readonly Reading[] {
  const readings: Reading[] = []
  /** By device: the records of its last reading, which a write can hold more of. */
  const open = new Map<string, SentRecord[]>()
  for (const line of lines) {
    const [, host = line.measurement] = line.tags.find(([name]) => name === 'host') ?? []
    const device = host.slice(0, longestName)
    const added = influxRecords(line, ['host'])
    const present = open.get(device)
    const hasRoom = present && present.length + added.length <= maximumRecords
    const records = hasRoom ? present : []
    if (!hasRoom) readings.push({ device, records })
    open.set(device, records)
    for (const record of added) records.push(record)
  }
  return readings
}

/** Goes through the characters once. A regular expression would need a stack as high as there are escapes in a text. */
class Scan {
  readonly #text: string
  readonly #precision: Precision
  #at = 0
  #reason = ''
  /** Up to where lines were counted, and the line and its begin there. */
  #counted = 0
  #line = 1
  #lineStart = 0

  constructor(text: string, precision: Precision) {
    this.#text = text
    this.#precision = precision
  }

  /** Goes to the next line that is neither empty nor a comment. @returns false at the end of the text */
  beginLine(): boolean {
    for (;;) {
      while (this.#text.charCodeAt(this.#at) <= space) this.#at++
      if (this.#text[this.#at] !== '#') return this.#at < this.#text.length
      this.skipLine()
    }
  }

  /** @returns undefined for a bad line; `mistake` names its fault */
  readLine(): Line | undefined {
    const measurement = this.#name(true)
    if (measurement === '') return this.#refuse('a line must begin with a measurement')
    const tags: [string, string][] = []
    while (this.#take(comma)) {
      const name = this.#name()
      const value = name !== '' && this.#take(equals) ? this.#name() : ''
      if (value === '')
        return this.#refuse('a tag must have the form name=value, with a backslash before spaces')
      tags.push([name, value])
    }
    if (!this.#takeBlanks())
      return this.#refuse('a space and the fields must follow the measurement and its tags')
    const fields: [string, FieldValue][] = []
    do {
      const name = this.#name()
      if (name === '' || !this.#take(equals)) return this.#refuse('a field must have the form name=value')
      const value = this.#value()
      if (value === undefined) return undefined
      if (!isNoReading(value)) fields.push([name, value])
    } while (this.#take(comma))
    const line: Line = { measurement, tags, fields }
    if (this.#isAtEnd()) return line
    if (!this.#takeBlanks())
      return this.#refuse('a comma, a space or the end of the line must follow a field')
    if (this.#isAtEnd()) return line
    const datetime = this.#datetime()
    if (datetime === undefined) return undefined
    this.#takeBlanks()
    if (!this.#isAtEnd()) return this.#refuse('the end of the line must follow the timestamp')
    return { ...line, datetime }
  }

  /** The fault of the line that was read. */
  mistake(): Unread {
    for (;;) {
      const end = this.#text.indexOf('\n', this.#counted)
      if (end < 0 || end >= this.#at) break
      this.#line++
      this.#counted = this.#lineStart = end + 1
    }
    const place = `line ${this.#line}, column ${this.#at - this.#lineStart + 1}`
    return { place, reason: this.#reason }
  }

  /** Goes to the end of the line. */
  skipLine(): void {
    const end = this.#text.indexOf('\n', this.#at)
    this.#at = end < 0 ? this.#text.length : end
  }

  /** A measurement, or the name of a tag or field or the value of a tag, in which an equals sign must be escaped, too. */
  #name(isMeasurement = false): string {
    const text = this.#text
    const special = isMeasurement ? comma : equals
    let name = ''
    let begin = this.#at
    let at = begin
    for (; ; at++) {
      let code = text.charCodeAt(at)
      if (code === backslash) {
        code = text.charCodeAt(at + 1)
        if (code !== space && code !== comma && code !== special) continue
        name += text.slice(begin, at)
        begin = ++at
      } else if (!(code > space) || code === comma || code === special) break
    }
    this.#at = at
    return name + text.slice(begin, at)
  }

  #value(): FieldValue | undefined {
    if (this.#text.charCodeAt(this.#at) === quote) return this.#quoted()
    const begin = this.#at
    const token = this.#token()
    const value = booleans.get(token) ?? (number.test(token) ? Number.parseFloat(token) : Number.NaN)
    if (Number.isFinite(Number(value)) || (token !== '' && isNoReading(token))) return value
    this.#at = begin
    return this.#refuse(
      'the value of a field must be a number such as 21.5, 42i or 42u that fits a 64-bit float, a boolean such as true, or a text in double quotes',
    )
  }

  #quoted(): string | undefined {
    const text = this.#text
    let at = this.#at + 1
    let isEscaped = false
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === quote) break
      if (code !== backslash) continue
      isEscaped = true
      at++
    }
    if (at >= text.length) return this.#refuse('a double quote must end the text')
    const value = text.slice(this.#at + 1, at)
    this.#at = at + 1
    return isEscaped ? value.replace(/\\(["\\])/g, '$1') : value
  }

  #datetime(): string | undefined {
    const begin = this.#at
    const token = this.#token()
    const { name, cut, milliseconds } = units[this.#precision]
    const at = Number(token.slice(0, token.length - cut)) * milliseconds
    if (timestamp.test(token) && at >= firstTimestamp && at <= latestDatetime) return formatDatetime(at)
    this.#at = begin
    if (!timestamp.test(token)) return this.#refuse(`the timestamp must be a whole number of ${name}`)
    const year = at < firstTimestamp || Number.isNaN(at) ? '1970 or before' : '10000 or later'
    return this.#refuse(
      `the timestamp must be in ${name}, but as such it is in ${year}: its precision is another one`,
    )
  }

  /** The characters up to a comma or blank. */
  #token(): string {
    const begin = this.#at
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (!(code > space) || code === comma) return this.#text.slice(begin, this.#at)
      this.#at++
    }
  }

  #take(code: number): boolean {
    if (this.#text.charCodeAt(this.#at) !== code) return false
    this.#at++
    return true
  }

  /** Spaces and tabs. @returns whether there were any */
  #takeBlanks(): boolean {
    const begin = this.#at
    while (this.#take(space) || this.#take(tab));
    return this.#at > begin
  }

  #isAtEnd(): boolean {
    const code = this.#text.charCodeAt(this.#at)
    return Number.isNaN(code) || code === newline || code === carriageReturn
  }

  #refuse(reason: string): undefined {
    this.#reason = reason
    return undefined
  }
}
