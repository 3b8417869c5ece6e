import { LossyJson, parseExactly } from '../../core/json/exact-json.ts'
import { CommandError, failure } from '../exit.ts'
import { type Columns, columnsOf, type FileListener, type FileOptions, recordShape } from './columns.ts'
import { RowReader } from './row-records.ts'
import { faultAt, type Sourced } from './sourced.ts'
import { linesOf } from './text.ts'

/** A line of NDJSON: the fields of its object, or why it is not an object. */
export type JsonLine = Sourced & { readonly end: number; readonly fields?: Record<string, unknown> }

/** Parses texts with one object per line. Empty lines are skipped. */
export async function* jsonLines(texts: AsyncIterable<string>): AsyncGenerator<JsonLine> {
  let [line, end] = [0, 0]
  for await (const text of linesOf(texts)) {
    line++
    if (line === 1 && /^\s*\[/.test(text)) {
      throw failure('the file is a JSON array: put each record on a line of its own, as jq -c ".[]" does')
    }
    end += Buffer.byteLength(text) + 1
    if (text.trim() !== '') yield { ...parseLine(line, text), end }
  }
}

function parseLine(line: number, text: string): Omit<JsonLine, 'end'> {
  try {
    const fields = parseExactly(text)
    const isObject = typeof fields === 'object' && fields !== null && !Array.isArray(fields)
    if (isObject) return { line, records: [], fields: fields as Record<string, unknown> }
  } catch (error) {
    if (error instanceof LossyJson) return faultAt(line, '', error.message)
  }
  return faultAt(line, '', `the line is not a JSON object, ${recordShape} (for CSV: --format csv)`)
}

/**
 * Yields the records of NDJSON. Each line is a record with a key, a value, a time and perhaps a position (`geo`, or latitude and
 * longitude). The fields are found by their names, like the columns of CSV (`columnsOf`).
 *
 * @throws CommandError failed, as `RowReader`
 */
export async function* ndjsonRecords(
  texts: AsyncIterable<string>,
  options: FileOptions,
  listener: FileListener,
): AsyncGenerator<Sourced> {
  const reader = new RowReader(options, listener.notes, false)
  const known = new Map<string, Columns>()
  for await (const read of jsonLines(texts)) {
    if (!read.fields) {
      yield read
      continue
    }
    const { line, end, fields } = read
    const { geo, ...others } = fields
    const [names, cells] = [Object.keys(others), Object.values(others)]
    const form = JSON.stringify(names)
    let columns = known.get(form)
    try {
      columns ??= columnsOf(names, cells, options, listener, true)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      yield { ...faultAt(line, '', error.message), end }
      continue
    }
    known.set(form, columns)
    yield { ...withGeo(reader.read(line, cells, columns), geo), end }
  }
}

/** Adds the field `geo` as it is, since the server checks it. It takes precedence over fields of latitude and longitude. */
function withGeo(read: Sourced, geo: unknown): Sourced {
  if (geo === undefined || geo === null || read.fault) return read
  const records = read.records.map(record => ({ ...record, geo: geo as { lat: unknown; long: unknown } }))
  return { ...read, records }
}
