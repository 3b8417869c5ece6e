import type { Sourced, WrittenRecord } from '../records/sourced.ts'

/** About so many records go into one write, and so many characters of JSON: both well within the limits. */
const recordsPerBatch = 500
const charactersPerBatch = 256 * 1024

/** A line, and the thing that it is for. */
export interface Addressed extends Sourced {
  readonly thingId: string
}

export interface Batch {
  readonly thingId: string
  readonly records: readonly WrittenRecord[]
  /** The records as JSON texts, each with the line it came from. */
  readonly texts: readonly string[]
  readonly lines: readonly number[]
  /** Lines of which no records could be made. */
  readonly faults: readonly Addressed[]
  /** Bytes of the file up to its end, where they are known. */
  readonly end: number
}

/**
 * Cuts lines into writes of one thing. Where it cuts depends on the lines alone, so that a second run cuts in the same
 * places; what one line holds stays together.
 */
export async function* batchesOf(source: AsyncIterable<Addressed>): AsyncGenerator<Batch> {
  let open = emptyBatch('')
  let characters = 0
  for await (const line of source) {
    const texts = line.records.map(record => JSON.stringify(record))
    const added = texts.reduce((sum, text) => sum + text.length + 1, 0)
    const isFull =
      open.texts.length + texts.length > recordsPerBatch || characters + added > charactersPerBatch
    if (!isEmpty(open) && (isFull || open.thingId !== line.thingId)) {
      yield open
      open = emptyBatch(line.thingId)
      characters = 0
    }
    open = isEmpty(open) ? emptyBatch(line.thingId) : open
    open.records.push(...line.records)
    open.texts.push(...texts)
    open.lines.push(...texts.map(() => line.line))
    if (line.fault) open.faults.push(line)
    open.end = line.end ?? 0
    characters += added
  }
  if (!isEmpty(open)) yield open
}

interface OpenBatch extends Batch {
  readonly records: WrittenRecord[]
  readonly texts: string[]
  readonly lines: number[]
  readonly faults: Addressed[]
  end: number
}

function emptyBatch(thingId: string): OpenBatch {
  return { thingId, records: [], texts: [], lines: [], faults: [], end: 0 }
}

function isEmpty({ texts, faults }: Batch): boolean {
  return texts.length === 0 && faults.length === 0
}
