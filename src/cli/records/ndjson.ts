import { CommandError, failure } from '../exit.ts'
import { type Columns, columnsOf, type FileListener, type FileOptions, recordShape } from './columns.ts'
import { RowReader } from './row-records.ts'
import { type Fault, faultAt, type Sourced, sourced } from './sourced.ts'
import { linesOf } from './text.ts'

const wholeWrite = `a line is one record, ${recordShape}: this one is a whole write; put each record of "values" on a line of its own`

/** A line of NDJSON: an object, or why it is none. */
export type JsonLine = { readonly line: number; readonly end: number } & (
  | { readonly fields: Readonly<Record<string, unknown>> }
  | { readonly fault: Fault }
)

/** Objects, one a line. Empty lines are skipped. */
export async function* jsonLines(texts: AsyncIterable<string>): AsyncGenerator<JsonLine> {
  let [line, end] = [0, 0]
  for await (const text of linesOf(texts)) {
    line++
    if (line === 1 && /^\s*\[(?!.*\])/.test(text)) {
      throw failure(
        'the file is one JSON array: put each of its records on a line of its own, as jq -c ".[]" does',
      )
    }
    end += Buffer.byteLength(text) + 1
    if (text.trim() !== '') yield { line, end, ...parseLine(text) }
  }
}

function parseLine(text: string): { fields: Record<string, unknown> } | { fault: Fault } {
  let fields: unknown
  try {
    fields = JSON.parse(text)
  } catch {
    return { fault: { field: '', message: 'the line is not JSON (for CSV: --format csv)' } }
  }
  if (typeof fields === 'object' && fields !== null && !Array.isArray(fields)) {
    return { fields: fields as Record<string, unknown> }
  }
  const found = Array.isArray(fields) ? 'is a list: put each of its records on a line of its own' : 'is none'
  return { fault: { field: '', message: `a line is one record, ${recordShape}: this one ${found}` } }
}

/**
 * Records of NDJSON: one a line, with a key, a value, a time and maybe a position (`geo`, or latitude and longitude). Its
 * fields are found by their names as the columns of CSV are (`columnsOf`).
 *
 * @throws CommandError failed, as `RowReader`
 */
export async function* ndjsonRecords(
  texts: AsyncIterable<string>,
  options: FileOptions,
  listener: FileListener,
): AsyncGenerator<Sourced> {
  const reader = new RowReader(options, listener.notes, false)
  const known = new Map<string, Columns | string>()
  const columnsIn = (names: readonly string[], cells: readonly unknown[]): Columns | string => {
    if (names.includes('values')) return wholeWrite
    try {
      return columnsOf(names, cells, options, listener, true)
    } catch (error) {
      if (error instanceof CommandError) return error.message
      throw error
    }
  }
  for await (const read of jsonLines(texts)) {
    if ('fault' in read) {
      yield { ...read, records: [] }
      continue
    }
    const { line, end, fields } = read
    const { geo, ...others } = fields
    const [names, cells] = [Object.keys(others), Object.values(others)]
    const form = JSON.stringify(names)
    const columns = known.get(form) ?? columnsIn(names, cells)
    known.set(form, columns)
    const found =
      typeof columns === 'string'
        ? faultAt(line, '', columns)
        : withGeo(reader.read(line, cells, columns), geo)
    yield { ...found, end }
  }
}

/** As the server takes it, so that it goes before a latitude and longitude. */
function withGeo(read: Sourced, geo: unknown): Sourced {
  if (geo === undefined || geo === null || read.fault) return read
  const placed = read.records.map(record => ({ ...record, geo: geo as { lat: unknown; long: unknown } }))
  return sourced(read.line, placed)
}
