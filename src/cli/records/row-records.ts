import { isDeepStrictEqual } from 'node:util'
import { failure } from '../exit.ts'
import { type Column, type Columns, type FileOptions, shownName } from './columns.ts'
import { faultAt, type Sourced, type WrittenRecord } from './sourced.ts'
import { type RowTime, RowTimes } from './times.ts'
import { type Decimal, jsonOrText, plainNumber, type TextNotes } from './values.ts'

type Reading = Pick<WrittenRecord, 'key' | 'value'>

/** Maximum number of datetimes remembered for each key to find repetitions. All datetimes of a large file would fill the memory. */
const timesInMemory = 10_000

/** Makes records from the rows of one file, which must be read in their order. */
export class RowReader {
  readonly #times: RowTimes
  readonly #toValue: (cell: unknown) => unknown
  readonly #decimal: Decimal
  readonly #notes: TextNotes
  /** In a query result: the table of each key. A key in two tables is refused: each table may be of another sensor. */
  readonly #tables = new Map<string, unknown>()
  /** The values of each key, by time. */
  readonly #values = new Map<string, Map<string, unknown>>()

  /** @param isText whether cells are texts from which values still have to be parsed */
  constructor(options: FileOptions, notes: TextNotes, isText: boolean) {
    this.#times = new RowTimes(options)
    this.#decimal = options.decimal ?? '.'
    this.#toValue = cell => (isText && typeof cell === 'string' ? jsonOrText(cell, this.#decimal) : cell)
    this.#notes = notes
  }

  /**
   * The records of a row. If the columns are keys, the position of the row is also a separate record with the key `$geo`.
   *
   * @param line number of the line on which the row begins, from 1
   * @param cells texts of CSV or values of JSON; undefined for an empty cell
   * @throws CommandError failed, with a remedy, if the file as a whole cannot be read correctly
   */
  read(line: number, cells: readonly unknown[], columns: Columns): Sourced {
    const cellOf = (column: Column | undefined) => column && cells[column.at]
    // The time is also read if the row is empty, since the row may be the first one after a midnight.
    const found = this.#times.of(
      line,
      cellOf(columns.time),
      columns.date && (cellOf(columns.date) ?? ''),
      () => [...cells, ...(columns.time?.name.split(/[()[\]\s]+/) ?? [])],
    )
    const degrees = (columns.geo ?? []).map(column => this.#degrees(cellOf(column)))
    const [lat, long] = degrees
    const readings = this.#readings(cells, columns).filter(
      ({ value }) => value !== undefined || lat !== undefined,
    )
    if (readings.length === 0 && (lat ?? long) === undefined) return { line, records: [] }
    if (typeof found === 'string') {
      const where = columns.time ? ` (column ${shownName(columns.time.name)})` : ''
      return faultAt(line, 'datetime', found + where)
    }
    const bad = degrees.findIndex((each, at) => typeof each !== 'number' || Math.abs(each) > 90 * (at + 1))
    const signs = columns.geo?.map(({ at }) => cells[at + 1])
    if (/^[NS],[EW]$/.test(String(signs))) {
      return faultAt(line, 'geo', `${signs} is next to the degrees: write south and west with a minus sign`)
    }
    if (bad >= 0 && (lat ?? long) !== undefined) {
      const text = JSON.stringify(degrees[bad] ?? '')
      return faultAt(line, 'geo', `${text} is not a latitude or longitude in degrees`)
    }
    const table = cellOf(columns.series)
    for (const { key, value } of readings) {
      if (value instanceof Error) return faultAt(line, 'value', value.message)
      if (table !== (this.#tables.get(key) ?? table)) {
        return faultAt(line, '', `${key} comes from more than one table: filter the query to one of them`)
      }
      this.#tables.set(key, table)
      this.#notes.add(line, key, value)
    }
    const { datetime, isCoarse } = found
    this.#notes.hours = isCoarse ? columns.hours : ''
    const place = {
      ...(lat === undefined ? {} : { geo: { lat, long } }),
      ...(datetime === undefined ? {} : { datetime }),
    }
    const own = lat === undefined || columns.key !== undefined ? [] : [{ key: '$geo', value: null }]
    const records = [...own, ...readings].map(({ key, value = null }) => ({ key, value, ...place }))
    for (const record of records) this.#refuseTwice(line, record, found)
    return { line, records }
  }

  /**
   * Adds a note if two rows have the same key and time but different values.
   *
   * @throws CommandError failed if two rows have the same key and a coarse time: its finer part is in another column or missing
   */
  #refuseTwice(line: number, { key, value }: Reading, { datetime, at = datetime, isCoarse }: RowTime): void {
    if (at === undefined) return
    const known = this.#values.get(key) ?? new Map()
    this.#values.set(key, known)
    if (known.size >= timesInMemory) known.clear()
    if (!known.has(at)) return void known.set(at, value)
    if (!isDeepStrictEqual(known.get(at), value)) {
      const why = 'if the file has several series, write each as a key or a thing of its own'
      this.#notes.addOnce(key, `line ${line} has a second value at ${at}; ${why}`)
    }
    if (!isCoarse) return
    throw failure(
      `line ${line}: ${at} is the time of two rows of ${key}. If another column has the time of day, name it with --time-column, and if it is a number its unit with --time-unit (1h, 30m, 1m, or hhmm, where 09:30 is 930). If another one has the minutes, add it to the time; if it has a place or the like, split the file`,
    )
  }

  #readings(cells: readonly unknown[], { key, values }: Columns): Reading[] {
    const filled = key === undefined ? values.filter(({ at }) => cells[at] !== undefined) : values
    return filled.map(({ at, name }) => {
      const own = typeof key === 'object' ? cells[key.at] : (key ?? name)
      // A key that is not a string becomes an empty key, so that the server refuses the record.
      return { key: typeof own === 'string' ? own : '', value: this.#toValue(cells[at]) }
    })
  }

  #degrees(cell: unknown): unknown {
    if (typeof cell !== 'string') return cell ?? undefined
    return plainNumber(cell, this.#decimal) ?? plainNumber(cell) ?? cell
  }
}
