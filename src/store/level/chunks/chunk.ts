import { partitionPoint } from '../../../core/algorithms/partition-point.ts'
import type { StoredRecord } from '../../../core/record/record.ts'
import { type KeyRange, recordKey } from '../keys.ts'

/**
 * Consecutive records of a resource that are stored as one entry, under the key of the first record. Most chunks have one
 * record. LevelDB's cost is per entry, so one entry for many records is far cheaper than an entry for each record.
 */
export interface Chunk {
  readonly resource: number
  readonly records: readonly StoredRecord[]
  readonly writeNumbers: readonly number[]
  readonly places: readonly number[]
}

/** The names (`NamedRecord`) of the records of a chunk, in order. */
export interface Names {
  readonly length: number
  readonly at: (index: number) => Buffer
}

/** Chooses the records of a chunk by index, from `start` (inclusive) to `end` (exclusive). */
export type Choose = (names: Names) => { readonly start: number; readonly end: number }

export const all: Choose = ({ length }) => ({ start: 0, end: length })
export const newest: Choose = ({ length }) => ({ start: length - 1, end: length })

/** A record of a chunk; `name` is the key that the record would have as a separate entry. */
export interface NamedRecord {
  readonly name: Buffer
  readonly record: StoredRecord
}

export function firstDatetime({ records }: Chunk): number {
  return records[0]?.datetime ?? 0
}

export function lastDatetime({ records }: Chunk): number {
  return records.at(-1)?.datetime ?? 0
}

export function chunkKey(chunk: Chunk): Buffer {
  return nameIn(chunk, 0)
}

export function nameIn({ resource, records, writeNumbers, places }: Chunk, index: number): Buffer {
  return recordKey(resource, records[index]?.datetime ?? 0, writeNumbers[index] ?? 0, places[index] ?? 0)
}

export function named(chunk: Chunk): NamedRecord[] {
  return chunk.records.map((record, index) => ({ name: nameIn(chunk, index), record }))
}

/** Chooses the records in a range of record keys, possibly none. */
export function within({ gte, lt }: KeyRange): Choose {
  return names => ({ start: countBefore(names, gte), end: countBefore(names, lt) })
}

export function chosen(chunk: Chunk, choose: Choose): Chunk {
  const { length } = chunk.records
  const { start, end } = choose({ length, at: index => nameIn(chunk, index) })
  return start === 0 && end === length ? chunk : slice(chunk, start, end)
}

function countBefore(names: Names, key: Buffer): number {
  const isBefore = (name: Buffer) => Buffer.compare(name, key) < 0
  // A shortcut: most chunks lie completely inside or outside a range.
  if (!isBefore(names.at(0))) return 0
  if (isBefore(names.at(names.length - 1))) return names.length
  return partitionPoint(names, isBefore)
}

/** Removes records from a chunk. @param isLeft whether a record is kept @returns a chunk for each run of kept records */
export function partsOf(chunk: Chunk, isLeft: (name: Buffer, record: StoredRecord) => boolean): Chunk[] {
  const parts: Chunk[] = []
  let start = 0
  for (const [index, record] of chunk.records.entries()) {
    if (isLeft(nameIn(chunk, index), record)) continue
    if (start < index) parts.push(slice(chunk, start, index))
    start = index + 1
  }
  if (start < chunk.records.length) parts.push(slice(chunk, start))
  return parts
}

/** Splits a chunk so that late records of these datetimes fit between the parts. */
export function partedAt(chunk: Chunk, datetimes: readonly number[]): Chunk[] {
  const { records } = chunk
  const sorted = [...datetimes].sort((a, b) => a - b)
  const starts = [0]
  let next = 0
  for (let index = 1; index < records.length; index++) {
    const [before, behind] = [records[index - 1]?.datetime ?? 0, records[index]?.datetime ?? 0]
    while ((sorted[next] ?? before) < before) next++
    if ((sorted[next] ?? behind) < behind) starts.push(index)
  }
  return starts.map((start, index) => slice(chunk, start, starts[index + 1]))
}

/** Joins consecutive chunks of one resource. */
export function joined([first, ...others]: readonly [Chunk, ...Chunk[]]): Chunk {
  const [records, writeNumbers, places] = [[...first.records], [...first.writeNumbers], [...first.places]]
  for (const chunk of others) {
    records.push(...chunk.records)
    writeNumbers.push(...chunk.writeNumbers)
    places.push(...chunk.places)
  }
  return { resource: first.resource, records, writeNumbers, places }
}

function slice({ resource, records, writeNumbers, places }: Chunk, start: number, end?: number): Chunk {
  return {
    resource,
    records: records.slice(start, end),
    writeNumbers: writeNumbers.slice(start, end),
    places: places.slice(start, end),
  }
}
