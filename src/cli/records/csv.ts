import { CommandError, usageError } from '../exit.ts'
import { type ColumnOptions, type Columns, columnsOf } from './columns.ts'
import { BrokenRow, type CsvRow, csvRows } from './csv-rows.ts'
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
 * Records of a CSV file with a header (`columnsOf`).
 *
 * @throws CommandError usage: the header does not say what the columns are; or failed, as `RowReader`
 */
export async function* csvRecords(
  texts: AsyncIterable<string>,
  options: FileOptions,
  { onColumns, notes }: FileListener,
): AsyncGenerator<Sourced> {
  const reader = new RowReader(options, notes, true)
  let columns: Columns | undefined
  try {
    for await (const row of csvRows(texts)) {
      // Behind it comes a header, also in the middle of a file.
      if (annotation.test(row.cells[0] ?? '')) columns = undefined
      else if (columns) {
        if (!isHeader(row, columns)) yield { ...rowRecords(row, columns, reader), end: row.end }
      } else {
        columns = headerColumns(row, options)
        onColumns(columns)
      }
    }
  } catch (error) {
    if (!(error instanceof BrokenRow)) throw error
    yield faultAt(error.line, '', error.message)
  }
}

function headerColumns({ cells }: CsvRow, options: FileOptions): Columns {
  try {
    return columnsOf(
      cells.map(name => name ?? ''),
      options,
    )
  } catch (error) {
    if (error instanceof CommandError)
      throw usageError(`the header, the first line of the CSV file: ${error.message}`)
    throw error
  }
}

/** Files that were joined have their header again. */
function isHeader({ cells }: CsvRow, { names }: Columns): boolean {
  return cells.length === names.length && names.every((name, column) => name === (cells[column] ?? ''))
}

function rowRecords(row: CsvRow, columns: Columns, reader: RowReader): Sourced {
  const { line, cells } = row
  const count = columns.names.length
  // Some programs end rows with a separator, but not the header.
  const isSurplus = cells.slice(count).some(cell => cell !== undefined)
  if (cells.length < count || isSurplus) {
    const hint = isSurplus ? '; is a cell with a separator in it, such as a decimal comma, not quoted?' : ''
    return faultAt(line, '', `the row has ${cells.length} cells, the header has ${count}${hint}`)
  }
  return reader.read(row, columns)
}
