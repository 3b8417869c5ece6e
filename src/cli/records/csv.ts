import { promisify } from 'node:util'
import { CsvError, type Parser, parse } from 'csv-parse'
import { parse as parseAtOnce } from 'csv-parse/sync'
import { type Columns, columnsOf, type FileListener, type FileOptions } from './columns.ts'
import { RowReader } from './row-records.ts'
import { faultAt, type Sourced } from './sourced.ts'

/** A cell; undefined if it is empty and not quoted. */
type Cell = string | undefined

interface CsvRow {
  /** Number of the line on which the row begins, from 1. */
  readonly line: number
  readonly cells: readonly Cell[]
  /** Number of bytes of the file up to the end of the row, as UTF-8. */
  readonly end: number
}

/** Matches the first cell of an annotation row. Some databases write such rows before the header of each result in a file. */
const annotation = /^#(?:group|datatype|default)$/

/**
 * Yields the records of a CSV file with a header. The header and the first row determine what the columns contain (`columnsOf`).
 *
 * @throws CommandError usage, as `columnsOf`, or failed, as `RowReader`
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
    // An annotation is followed by a new header, even in the middle of a file.
    else if (annotation.test(row.cells[0] ?? '')) header = columns = undefined
    else if (!header) header = row.cells.map(name => name ?? '')
    // A file that was joined from several files repeats the header. Skips the repetitions.
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
  // Some programs end each row, but not the header, with a separator, so an extra cell is accepted if it is empty.
  const isSurplus = cells.slice(count).some(cell => cell !== undefined)
  if (cells.length < count || isSurplus) {
    const hint = isSurplus ? '; is a cell with a separator in it, such as a decimal comma, not quoted?' : ''
    return faultAt(line, '', `the row has ${cells.length} cells, the header has ${count}${hint}`)
  }
  return reader.read(line, cells, columns)
}

/** Maximum length of a row, characters. A value has at most 64 KiB, and a quote that is never closed must not fill the memory. */
const maximumRow = 4 * 1024 * 1024

/** Accepts what RFC 4180 does not allow: quotes in the middle of a cell, empty lines, any line end, rows of different lengths. */
const lenience = {
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true,
  relax_quotes: true,
  skip_empty_lines: true,
}

/** A first line that only names the separator, as spreadsheets write it. */
const separatorLine = /^"?sep=(.)"?\r?\n?/i

/** Possible separators. If several fit equally well, the first is used; the comma is last, since it also occurs within cells. */
const separators = ['\t', ';', '|', ',']

/**
 * Yields the rows of CSV (RFC 4180) with any of `separators` and any line end. Skips empty lines. If a row cannot be read, its
 * fault is the last item, since nothing after it can be read either.
 */
async function* csvRows(texts: AsyncIterable<string>): AsyncGenerator<CsvRow | Sourced> {
  const parts = longBegun(texts)
  const begin = (await parts.next()).value ?? ''
  const [first = '', separator = separatorOf(begin)] = separatorLine.exec(begin) ?? []
  let line = first === '' ? 1 : 2
  const rows: CsvRow[] = []
  const parser = parserOf(separator, (cells, raw, end) => {
    // In `raw`, each empty line before the row is one character, so the index of the row's text is the number of empty lines.
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

/** Yields the texts. The first texts are joined until they have three lines (`sep=;`, header, first row) or the file ends. */
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

/** Of the separators that divide the header and the first row into equally many cells, the one that makes the most cells. */
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

/** A parser that calls `onRow` with each row, since rows that wait in a stream to be read are lost if the stream fails. */
function parserOf(delimiter: string, onRow: OnRow): Parser {
  const parser = parse({
    ...lenience,
    delimiter,
    max_record_size: maximumRow,
    on_record: (found, { bytes }) => {
      // With the option `raw`, `found` is not a list of cells, although its type says so.
      const { record, raw } = found as unknown as { record: readonly string[]; raw: string }
      onRow(cellsOf(record, raw, delimiter), raw, bytes)
      return null
    },
    raw: true,
    trim: true,
  })
  // The error is ignored here, since the callbacks of `write` and `end` get it.
  return parser.on('error', () => {}).resume()
}

/**
 * The cells of a row. An empty cell is an empty text if it is quoted, else undefined. The parser sees the difference only with
 * `cast`, which takes seven times as long, so `cast` is only used for rows that may have a quoted empty cell.
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
  return isOpen ? 'a quote is opened but never closed' : 'a quote is closed, but its cell continues'
}
