import { type Columns, columnsOf, type FileListener, type FileOptions } from './columns.ts'
import { type CsvRow, csvRows } from './csv-rows.ts'
import { RowReader } from './row-records.ts'
import { faultAt, type Sourced } from './sourced.ts'

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
  listener: FileListener,
): AsyncGenerator<Sourced> {
  const reader = new RowReader(options, listener.notes, true)
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
      columns ??= columnsOf(header, row.cells, options, listener)
      yield { ...rowRecords(row, columns, reader), end: row.end }
    }
  }
  if (header && !columns) columnsOf(header, [], options, listener)
  if (broken) yield broken
}

function isHeader({ cells }: CsvRow, header: readonly string[]): boolean {
  return cells.length === header.length && header.every((name, column) => name === (cells[column] ?? ''))
}

function rowRecords({ line, cells }: CsvRow, columns: Columns, reader: RowReader): Sourced {
  const count = columns.all.length
  // Some programs end rows with a separator, but not the header.
  const isSurplus = cells.slice(count).some(cell => cell !== undefined)
  if (cells.length < count || isSurplus) {
    const hint = isSurplus ? '; is a cell with a separator in it, such as a decimal comma, not quoted?' : ''
    return faultAt(line, '', `the row has ${cells.length} cells, the header has ${count}${hint}`)
  }
  return reader.read(line, cells, columns)
}
