import { createReadStream } from 'node:fs'
import { formatDatetime } from '../../core/record/datetime.ts'
import { fixedZoneOf } from '../../core/time/time-zone.ts'
import { type Column, type Columns, type FileOptions, namesText, shownName } from '../records/columns.ts'
import { csvRecords } from '../records/csv.ts'
import { ndjsonRecords } from '../records/ndjson.ts'
import type { Sourced, WrittenRecord } from '../records/sourced.ts'
import { decoded } from '../records/text.ts'
import type { TimeOptions } from '../records/times.ts'
import { TextNotes } from '../records/values.ts'
import type { Format } from './file-options.ts'

/** Number of records that are shown as they will be stored. */
const shownRecords = 3
/** Maximum number of characters shown of each record: a value can be 64 KiB long. */
const shownCharacters = 300

interface Source {
  readonly file: string
  readonly format: Format
  readonly options: FileOptions
}

/** Reads the records of a file or of stdin (`-`). Before the first record, reports what each column is taken for. */
export class FileReader {
  readonly #source: Source
  readonly #say: (line: string) => void
  /** Summaries that were reported already. They can recur: a file is read twice, and lines of JSON may alternate between forms. */
  readonly #said = new Set<string>()
  /** The columns of the file; if its lines of JSON differ in their fields, the columns of each form of line. */
  readonly columns: Columns[] = []
  readonly first: WrittenRecord[] = []
  /** Whether the first records were shown already. A file is read twice: before the first write, and to write it. */
  #isShown = false
  notes: TextNotes

  /** @param say called with each line of the report */
  constructor(source: Source, say: (line: string) => void) {
    this.#source = source
    this.#say = say
    this.notes = new TextNotes()
  }

  /** Yields all lines from the first one on. @throws CommandError usage or failed, as `csvRecords` and `ndjsonRecords` */
  async *read(): AsyncGenerator<Sourced> {
    const { file, format, options } = this.#source
    this.notes = new TextNotes()
    const texts = decoded(file === '-' ? process.stdin : createReadStream(file))
    const listener = { notes: this.notes, onColumns: (columns: Columns) => this.#summarise(columns) }
    const records = format === 'csv' ? csvRecords : ndjsonRecords
    for await (const line of records(texts, options, listener)) {
      for (const record of line.records) if (!this.#isShown) this.#show(record)
      yield line
    }
    this.#isShown = true
  }

  #summarise(columns: Columns): void {
    const lines = summaryLines(columns, this.#source.options)
    if (this.#said.has(lines.join('\n'))) return
    this.#said.add(lines.join('\n'))
    this.columns.push(columns)
    for (const line of lines) this.#say(line)
  }

  #show(record: WrittenRecord): void {
    if (this.first.length === 0) this.#showZone(record)
    this.#isShown = this.first.push(record) === shownRecords
    const text = JSON.stringify(record)
    const shown = text.length > shownCharacters ? `${text.slice(0, shownCharacters - 1)}…` : text
    this.#say(`${this.first.length === 1 ? 'first' : '     '}     ${shown}`)
  }

  /** Reports the offset of the zone, since the name of a zone may mislead: `CET`, for example, has summer time. */
  #showZone({ datetime }: WrittenRecord): void {
    const { zone } = this.#source.options
    if (!zone || datetime === undefined || fixedZoneOf(zone.name)) return
    const { offset } = zone.clocks.spanAt(Date.parse(String(datetime)))
    this.#say(`zone      ${zone.name}, ${offsetText(offset)} at the first record`)
  }
}

/** An offset as text, such as `+02:00`. @param offset milliseconds ahead of UTC */
function offsetText(offset: number): string {
  return `${offset < 0 ? '-' : '+'}${formatDatetime(Math.abs(offset)).slice(11, 16)}`
}

/** The names of a file's columns, grouped by what the columns contain. */
export function summaryOf({ time, date, geo, key, values, leftOut }: Columns) {
  const nameOf = ({ at, name }: Column) => name || `column ${at + 1} without a name`
  const [value] = values
  return {
    /** Columns of the time; empty if records get their time of receipt. */
    time: [date, time].filter(column => column !== undefined).map(nameOf),
    /** Columns of latitude and longitude; empty if there are none. */
    position: (geo ?? []).map(nameOf),
    keys: key === undefined ? values.map(nameOf) : typeof key === 'string' ? [key] : [],
    /** Column of the value, if a row is one record; `keyColumn` is then the column of its key. */
    valueColumn: key !== undefined && value ? nameOf(value) : undefined,
    keyColumn: typeof key === 'object' ? nameOf(key) : undefined,
    leftOut: leftOut.map(nameOf),
  }
}

/** The same as `summaryOf`, as lines of text. */
function summaryLines(columns: Columns, { timeUnit, zone }: TimeOptions): string[] {
  const { time, position, keys, keyColumn, valueColumn, leftOut } = summaryOf(columns)
  const how = timeUnit?.isOfDay === false ? `Unix time in ${timeUnit.name}` : zone?.name
  const which = keyColumn === undefined ? namesText(keys) : `from ${shownName(keyColumn)}`
  return [
    `time      ${namesText(time, 'that of receipt')}${how === undefined ? '' : ` (${how})`}`,
    `position  ${namesText(position)}`,
    `keys      ${which}${valueColumn === undefined ? '' : `, value from ${shownName(valueColumn)}`}`,
    `left out  ${namesText(leftOut)}`,
  ]
}
