import { promisify } from 'node:util'
import { CsvError, type Parser, parse } from 'csv-parse'
import { parse as parseAtOnce } from 'csv-parse/sync'
import { type Columns, columnsOf, type FileListener, type FileOptions } from './columns.ts'
import { RowReader } from './row-records.ts'
import { faultAt, type Sourced } from './sourced.ts'

/** A cell; undefined if it is empty and not quoted. */
type Cell = string | undefined

interface CsvRow {
  /** On which it begins, from 1. */
  readonly line: number
  readonly cells: readonly Cell[]
  /** Bytes up to its end, as UTF-8. */
  readonly end: number
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

/** Characters of a row at most: a value has 64 KiB, and a quote that is never closed must not fill the memory. */
const maximumRow = 4 * 1024 * 1024

/** What is taken that RFC 4180 does not have: quotes in the middle of a cell, empty lines, every line end. */
const lenience = {
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true,
  relax_quotes: true,
  skip_empty_lines: true,
}

/** A first line that says the separator alone, as spreadsheets write it. */
const separatorLine = /^"?sep=(.)"?\r?\n?/i

/** Of those that would do equally well, the first: a comma stands in names and numbers, too. */
const separators = ['\t', ';', '|', ',']

/**
 * Rows of CSV (RFC 4180), also with `;` or tabs between the cells, and every line end. Empty lines are skipped. Behind a row
 * that cannot be read nothing can: a fault is the last.
 */
async function* csvRows(texts: AsyncIterable<string>): AsyncGenerator<CsvRow | Sourced> {
  const parts = longBegun(texts)
  const begin = (await parts.next()).value ?? ''
  const [first = '', separator = separatorOf(begin)] = separatorLine.exec(begin) ?? []
  let line = first === '' ? 1 : 2
  const rows: CsvRow[] = []
  const parser = parserOf(separator, (cells, raw, end) => {
    // Of the line ends in `raw`, only those in a cell can be of two characters.
    const emptyLines = raw.search(/[^\r\n]/)
    line += emptyLines
    rows.push({ line, cells, end })
    line += raw.slice(emptyLines).match(/\r\n?|\n/g)?.length ?? 0
  })
  const write = promisify((text: string, done: (error?: Error | null) => void) => parser.write(text, done))
  const end = promisify((done: (error?: Error | null) => void) => parser.end(done))
  let broken: CsvError | undefined
  try {
    await write(begin.slice(first.length))
    for await (const text of parts) {
      yield* rows.splice(0)
      await write(text)
    }
    await end()
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    broken = error
  }
  yield* rows
  if (broken) yield faultAt(line, '', brokenText(broken))
}

/** The same texts, put together until the first holds three lines, if there are so many: `sep=;`, header and first row. */
async function* longBegun(texts: AsyncIterable<string>): AsyncGenerator<string, undefined> {
  let [begin, isLong] = ['', false]
  for await (const text of texts) {
    begin += text
    isLong ||= begin.length >= maximumRow || /(?:[^\r\n]+[\r\n]+){3}/.test(begin)
    if (!isLong) continue
    yield begin
    begin = ''
  }
  if (begin !== '') yield begin
}

/** What cuts header and first row into equally many cells, and most. */
function separatorOf(begin: string): string {
  const counts = separators.map(delimiter => {
    const options = { ...lenience, delimiter, skip_records_with_error: true, to: 2 }
    const [head = [], row = head] = parseAtOnce(begin, options)
    return row.length === head.length ? head.length : 0
  })
  const most = Math.max(...counts)
  return (most > 1 && separators[counts.indexOf(most)]) || ','
}

type OnRow = (cells: readonly Cell[], raw: string, end: number) => void

/** Rows are taken as they are found: of a stream that fails, those that wait in it are lost. */
function parserOf(delimiter: string, onRow: OnRow): Parser {
  const parser = parse({
    ...lenience,
    delimiter,
    max_record_size: maximumRow,
    on_record: (found, { bytes }) => {
      // With `raw` it is no list of cells, whatever the types say.
      const { record, raw } = found as unknown as { record: readonly string[]; raw: string }
      onRow(cellsOf(record, raw, delimiter), raw, bytes)
      return null
    },
    raw: true,
    trim: true,
  })
  // The callbacks of `write` and `end` get the error.
  return parser.on('error', () => {}).resume()
}

/**
 * An empty text in quotes is a text, and nothing at all is no cell. The parser tells them apart only through `cast`, which takes
 * seven times as long as all the rest: only a row that may have such a text is read so.
 */
function cellsOf(record: readonly string[], raw: string, delimiter: string): readonly Cell[] {
  if (!record.includes('')) return record
  if (!raw.includes('""')) return record.map(text => (text === '' ? undefined : text))
  const cast = (text: string, { quoting }: { readonly quoting: boolean }) =>
    text === '' && !quoting ? undefined : text
  const [cells = []] = parseAtOnce(raw, { ...lenience, cast, delimiter, trim: true }) as unknown as Cell[][]
  return cells
}

function brokenText({ code }: CsvError): string {
  const isOpen = code === 'CSV_QUOTE_NOT_CLOSED' || code === 'CSV_MAX_RECORD_SIZE'
  return isOpen ? 'a quote is opened but never closed' : 'a quote is closed, but its cell goes on'
}
