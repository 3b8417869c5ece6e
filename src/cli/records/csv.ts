import { type Columns, columnsOf } from './csv-columns.ts'
import { type Cell, type CsvRow, csvRows } from './csv-rows.ts'
import { faultAt, type Sourced, type WrittenRecord } from './sourced.ts'
import { Day, isTimeOfDay } from './time-of-day.ts'

export interface CsvOptions {
  /** Of every record, where the file has no keys. */
  readonly key: string | undefined
  /** `YYYY-MM-DD` of the first row, where the file has times of day alone. */
  readonly date: string | undefined
}

const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

/**
 * Records of CSV with a head, see `columnsOf`. Where the columns are keys, `lat` and `long` are also written as
 * the position, `$geo`.
 *
 * @throws CommandError usage: the head does not say where the values are
 */
export async function* csvRecords(
  texts: AsyncIterable<string>,
  options: CsvOptions,
): AsyncGenerator<Sourced> {
  const day = options.date === undefined ? undefined : new Day(options.date)
  let columns: Columns | undefined
  for await (const row of csvRows(texts)) {
    if (columns === undefined) columns = columnsOf(row.cells, options.key)
    else yield rowRecords(row, columns, day)
  }
}

function rowRecords({ line, cells, isBroken }: CsvRow, columns: Columns, day: Day | undefined): Sourced {
  if (isBroken) return faultAt(line, '', 'a quote is opened but never closed')
  if (cells.length !== columns.count) {
    return faultAt(line, '', `the row has ${cells.length} cells, the header has ${columns.count}`)
  }
  const time = cellAt(cells, columns.datetime)
  if (time !== undefined && isTimeOfDay(time) && !day) {
    return faultAt(
      line,
      'datetime',
      'the time has no day: give the day of the first row with --date YYYY-MM-DD',
    )
  }
  const datetime = time !== undefined && day && isTimeOfDay(time) ? day.datetime(time) : time
  const [lat, long] = [cellAt(cells, columns.lat), cellAt(cells, columns.long)]
  if ((lat === undefined) !== (long === undefined))
    return faultAt(line, 'geo', 'one of lat and long is empty')
  const place = {
    ...(lat === undefined ? {} : { geo: { lat, long } }),
    ...(datetime === undefined ? {} : { datetime }),
  }
  if (columns.values.kind === 'key') {
    const { key, value } = columns.values
    const name = typeof key === 'string' ? key : (cells[key] ?? '')
    return { line, records: [{ key: name, value: cellValue(cells[value]), ...place }] }
  }
  const readings = columns.values.keys.flatMap(([column, key]): WrittenRecord[] => {
    const cell = cells[column]
    return cell === undefined ? [] : [{ key, value: cellValue(cell), ...place }]
  })
  const position = lat === undefined ? [] : [{ key: '$geo', value: null, ...place }]
  return { line, records: [...position, ...readings] }
}

function cellAt(cells: readonly Cell[], column: number | undefined): Cell {
  return column === undefined ? undefined : cells[column]
}

/** Numbers, true, false, objects and arrays as JSON spells them; everything else is a string. */
function cellValue(cell: Cell): unknown {
  if (cell === undefined) return null
  if (number.test(cell)) return Number(cell)
  if (cell === 'true' || cell === 'false') return cell === 'true'
  if (!/^[[{]/.test(cell)) return cell
  try {
    return JSON.parse(cell)
  } catch {
    return cell
  }
}
