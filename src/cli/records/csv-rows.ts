import { CsvError, type Parser, parse } from 'csv-parse'
import { parse as parseAtOnce } from 'csv-parse/sync'
import { lenience, separatorOf, withoutSeparatorLine } from './csv-separator.ts'

/** A cell; undefined if it is empty and not quoted. */
type Cell = string | undefined

export interface CsvRow {
  /** On which it begins, from 1. */
  readonly line: number
  readonly cells: readonly Cell[]
  /** Bytes up to its end, as UTF-8. */
  readonly end: number
}

/** A row cannot be read, and so nothing behind it can. */
export class BrokenRow extends Error {
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.name = 'BrokenRow'
    this.line = line
  }
}

/** Characters of a row at most: a value has 64 KiB, and a quote that is never closed must not fill the memory. */
const maximumRow = 4 * 1024 * 1024

/**
 * Rows of CSV (RFC 4180), also with `;` or tabs between the cells, and every line end. Empty lines are skipped.
 *
 * @throws BrokenRow behind all rows before it
 */
export async function* csvRows(texts: AsyncIterable<string>): AsyncGenerator<CsvRow> {
  const source = texts[Symbol.asyncIterator]()
  const begin = await headAndRow(source)
  const { character, lines: linesBefore } = separatorOf(begin)
  const lines = new LineCount(linesBefore)
  const rows: CsvRow[] = []
  const parser = parserOf(character, (cells, info) => {
    rows.push({ line: lines.of(cells, info.lines), cells, end: info.bytes })
  })
  try {
    for await (const text of joined(linesBefore === 0 ? begin : withoutSeparatorLine(begin), source)) {
      await written(parser, text)
      yield* rows.splice(0)
    }
    await ended(parser)
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    yield* rows.splice(0)
    throw new BrokenRow(lines.next, brokenText(error))
  }
  yield* rows.splice(0)
}

type OnRow = (cells: readonly Cell[], info: { readonly lines: number; readonly bytes: number }) => void

/** Rows are taken as they are found: of a stream that fails, those that wait in it are lost. */
function parserOf(delimiter: string, onRow: OnRow): Parser {
  const parser = parse({
    ...lenience,
    delimiter,
    max_record_size: maximumRow,
    on_record: (found, info) => {
      // With `raw` it is no list of cells, whatever the types say.
      const { record, raw } = found as unknown as Found
      onRow(cellsOf(record, raw, delimiter), info)
      return null
    },
    raw: true,
    trim: true,
  })
  // The callbacks below are told.
  return parser.on('error', () => {}).resume()
}

interface Found {
  readonly record: readonly string[]
  /** The row as it stands in the file. */
  readonly raw: string
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

function written(parser: Parser, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    parser.write(text, error => (error ? reject(error) : resolve()))
  })
}

function ended(parser: Parser): Promise<void> {
  return new Promise((resolve, reject) => {
    parser.end((error?: Error | null) => (error ? reject(error) : resolve()))
  })
}

/** Enough of the text to hold two lines, if there are so many. */
async function headAndRow(source: AsyncIterator<string>): Promise<string> {
  let begin = ''
  // A line `sep=;` may stand before the two.
  while (begin.length < maximumRow && !/(?:[^\r\n]+[\r\n]+){3}/.test(begin)) {
    const { value, done } = await source.next()
    if (done) break
    begin += value
  }
  return begin
}

async function* joined(begin: string, rest: AsyncIterator<string>): AsyncGenerator<string> {
  yield begin
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}

/** Says on which line a row begins: the parser counts where it ends, and the two characters of CRLF in a cell as two lines. */
class LineCount {
  #tooMany: number
  /** The line behind the last row. */
  next = 1

  constructor(linesBefore: number) {
    this.#tooMany = -linesBefore
    this.next += linesBefore
  }

  of(record: readonly Cell[], endLine: number): number {
    const breaks = record.flatMap(cell => cell?.match(/[\r\n]/g) ?? []).length
    const pairs = record.flatMap(cell => cell?.match(/\r\n/g) ?? []).length
    const line = endLine - breaks - this.#tooMany
    this.#tooMany += pairs
    this.next = endLine - this.#tooMany + 1
    return line
  }
}

function brokenText({ code }: CsvError): string {
  if (code === 'CSV_QUOTE_NOT_CLOSED' || code === 'CSV_MAX_RECORD_SIZE') {
    return 'a quote is opened but never closed'
  }
  return 'a quote is closed, but its cell goes on'
}
