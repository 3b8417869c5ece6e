import { CommandError, usageError } from '../exit.ts'
import { type ColumnOptions, type Columns, columnsOf } from './columns.ts'
import { type CsvRow, csvRows } from './csv-rows.ts'
import { type RowOptions, RowReader } from './row-records.ts'
import { faultAt, type Sourced } from './sourced.ts'
import type { TextNotes } from './values.ts'

export interface FileOptions extends ColumnOptions, RowOptions {}

export interface FileListener {
  /** What columns are, before the first record of them. */
  readonly onColumns: (columns: Columns) => void
  readonly notes: TextNotes
}

/** What databases write about a result in front of its header, and of each further one in the same file. */
const annotation = /^#(?:group|datatype|default)$/

/**
 * Records of a CSV file with a header. Header and first row say what the columns are (`columnsOf`).
 *
 * @throws CommandError usage: they do not say it; or failed, as `RowReader`
 */
export async function* csvRecords(
  texts: AsyncIterable<string>,
  options: FileOptions,
  { onColumns, notes }: FileListener,
): AsyncGenerator<Sourced> {
  const reader = new RowReader(options, notes, true)
  let header: readonly string[] | undefined
  let columns: Columns | undefined
  let broken: Sourced | undefined
  for await (const row of csvRows(texts)) {
    if (!('cells' in row)) broken = row
    // Behind it comes a header, also in the middle of a file.
    else if (annotation.test(row.cells[0] ?? '')) header = columns = undefined
    else if (!header) header = row.cells.map(name => name ?? '')
    // Files that were joined have their header again.
    else if (!isHeader(row, header)) {
      columns ??= headerColumns(header, row.cells, options, onColumns)
      yield { ...rowRecords(row, columns, reader), end: row.end }
    }
  }
  if (header && !columns) headerColumns(header, [], options, onColumns)
  if (broken) yield broken
}

function headerColumns(
  header: readonly string[],
  cells: CsvRow['cells'],
  options: FileOptions,
  onColumns: FileListener['onColumns'],
): Columns {
  try {
    const columns = columnsOf(header, cells, options)
    onColumns(columns)
    return columns
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    throw usageError(`the header, the first line of the CSV file: ${error.message}`)
  }
}

function isHeader({ cells }: CsvRow, header: readonly string[]): boolean {
  return cells.length === header.length && header.every((name, column) => name === (cells[column] ?? ''))
}

function rowRecords(row: CsvRow, columns: Columns, reader: RowReader): Sourced {
  const { line, cells } = row
  const count = columns.all.length
  // Some programs end rows with a separator, but not the header.
  const isSurplus = cells.slice(count).some(cell => cell !== undefined)
  if (cells.length < count || isSurplus) {
    const hint = isSurplus ? '; is a cell with a separator in it, such as a decimal comma, not quoted?' : ''
    return faultAt(line, '', `the row has ${cells.length} cells, the header has ${count}${hint}`)
  }
  return reader.read(row, columns)
}
