import type { Sourced, WrittenRecord } from '../records/sourced.ts'

/** Maximum numbers of records and of JSON characters in a batch, well within the server's limits. One line may exceed them. */
const recordsPerBatch = 500
const charactersPerBatch = 256 * 1024

/** A line, and the id of the thing that its records belong to. */
export interface Addressed extends Sourced {
  readonly thingId: string
}

export interface Batch {
  readonly thingId: string
  readonly records: readonly WrittenRecord[]
  /** The records as JSON texts. `lines` has the line number of each record. */
  readonly texts: readonly string[]
  readonly lines: readonly number[]
  /** Lines from which no records could be read. */
  readonly faults: readonly Addressed[]
  /** Number of bytes of the file up to the end of the batch; 0 if unknown. */
  readonly end: number
}

/**
 * Divides lines into batches, each for one thing. The division depends only on the lines, so that a second run makes the same
 * batches. The records of one line stay together.
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
