import type { Addressed } from '../../../src/cli/load/batches.ts'
import type { Columns, FileOptions } from '../../../src/cli/records/columns.ts'
import { csvRecords } from '../../../src/cli/records/csv.ts'
import { ndjsonRecords } from '../../../src/cli/records/ndjson.ts'
import type { Sourced, WrittenRecord } from '../../../src/cli/records/sourced.ts'
import { decoded } from '../../../src/cli/records/text.ts'
import { timeUnitOf } from '../../../src/cli/records/times.ts'
import { TextNotes } from '../../../src/cli/records/values.ts'
import { utc } from '../../../src/core/time/time-zone.ts'

export interface ReadFile {
  readonly lines: readonly Sourced[]
  readonly records: readonly WrittenRecord[]
  /** Line, field and message of each. */
  readonly faults: readonly string[]
  readonly columns: readonly Columns[]
  readonly notes: readonly string[]
}

/** In pieces of some bytes, so that many boundaries are met. */
export async function* inPieces(content: string | Uint8Array, size = 7): AsyncGenerator<Uint8Array> {
  const all = Buffer.from(content)
  for (let at = 0; at < all.length; at += size) yield all.subarray(at, at + size)
}

/** Options with the unit as the command line spells it. The zone is UTC by default. */
export type ReadOptions = Omit<FileOptions, 'timeUnit'> & { readonly timeUnit?: string }

export async function readCsv(content: string | Uint8Array, options: ReadOptions = {}): Promise<ReadFile> {
  return await read(csvRecords, content, options)
}

export async function readNdjson(content: string, options: ReadOptions = {}): Promise<ReadFile> {
  return await read(ndjsonRecords, content, options)
}

async function read(
  format: typeof csvRecords,
  content: string | Uint8Array,
  { timeUnit, ...others }: ReadOptions,
): Promise<ReadFile> {
  const zone = { name: 'UTC', clocks: utc }
  const options = { zone, ...others, timeUnit: timeUnit === undefined ? undefined : timeUnitOf(timeUnit) }
  const notes = new TextNotes()
  const columns: Columns[] = []
  const lines: Sourced[] = []
  const listener = { notes, onColumns: (found: Columns) => void columns.push(found) }
  for await (const { end: _, ...line } of format(decoded(inPieces(content)), options, listener))
    lines.push(line)
  return {
    lines,
    records: lines.flatMap(({ records }) => records),
    faults: lines.flatMap(({ line, fault }) => (fault ? [`${line} ${fault.field}: ${fault.message}`] : [])),
    columns,
    notes: notes.lines(),
  }
}

/** The lines of a file as a load gets them. */
export async function* readEnds(format: 'csv' | 'ndjson', content: string): AsyncGenerator<Addressed> {
  const records = format === 'csv' ? csvRecords : ndjsonRecords
  const listener = { notes: new TextNotes(), onColumns: () => {} }
  for await (const line of records(decoded(inPieces(content, 65_536)), {}, listener)) {
    yield { ...line, thingId: 'abcdefgh234567ab' }
  }
}
