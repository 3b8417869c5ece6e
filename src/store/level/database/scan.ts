import type { AbstractIterator, AbstractSnapshot } from 'abstract-level'
import type { ClassicLevel } from 'classic-level'
import type { KeyRange } from '../keys.ts'

/**
 * Reads of ranges. LevelDB's binding allocates memory for as many entries as a call requests, and keeps the memory and the
 * entries until the iterator is garbage-collected, long after it is closed. So these functions request few entries per call.
 */

export type Level = ClassicLevel<Buffer, Buffer>

/** A key in LevelDB and its value. */
export type Entry = readonly [name: Buffer, bytes: Buffer]

export interface Readable {
  readonly level: Level
}

interface ReadOptions {
  readonly reverse?: boolean
  readonly snapshot?: AbstractSnapshot | undefined
  /** A read of LevelDB ends once it has this many bytes, and at least one entry. Default 16 KiB. */
  readonly bytesAtOnce?: number | undefined
}

export interface ScanOptions extends ReadOptions {
  /** Maximum number of entries that are yielded together. Default 128. */
  readonly atOnce?: number
  /** Maximum number of entries in total. Default: all entries of the range. */
  readonly limit?: number
}

/** Maximum number of entries of one read, for which the binding allocates 8 KB. */
const mostAtOnce = 128
/** Maximum number of entries of the first read if the length of the range is unknown. Most ranges are short. */
const fewAtOnce = 16
const usualBytesAtOnce = 16 * 1024

/** Reads entries from any place in a range, as of the creation of the cursor or snapshot. The caller must close the cursor. */
export class Cursor {
  readonly #iterator: AbstractIterator<Level, Buffer, Buffer>
  #size: number

  /** @param expected how many entries will be read, if the caller knows */
  constructor(
    { level }: Readable,
    { gte, lt }: KeyRange,
    { reverse = false, snapshot, bytesAtOnce = usualBytesAtOnce }: ReadOptions = {},
    expected = fewAtOnce,
  ) {
    this.#iterator = level.iterator({ gte, lt, reverse, snapshot, highWaterMarkBytes: bytesAtOnce })
    this.#size = expected
  }

  /** Moves to the first entry at or after the key (in reverse: the last at or before). A key outside the range finds no entry. */
  seek(key: Buffer): void {
    this.#iterator.seek(key)
    this.#size = fewAtOnce
  }

  async next(): Promise<Entry | undefined> {
    const [entry] = await this.#iterator.nextv(1)
    return entry
  }

  /** Some of the next entries, at least one and at most `most`; none at the end of the range. */
  nextOf(most: number): Promise<Entry[]> {
    const size = Math.min(this.#size, mostAtOnce)
    this.#size = size * 4
    return this.#iterator.nextv(Math.min(size, most))
  }

  close(): Promise<void> {
    return this.#iterator.close()
  }
}

/** Yields the entries of a range in batches, as they were when the scan started. */
export async function* scan(
  database: Readable,
  range: KeyRange,
  { atOnce = mostAtOnce, limit, ...options }: ScanOptions = {},
): AsyncGenerator<Entry[], void, undefined> {
  const cursor = new Cursor(database, range, options, limit)
  try {
    let next: Promise<Entry[]> | undefined
    for (let left = limit ?? Infinity, chunks = 0; left > 0; chunks++) {
      const entries = await (next ?? cursor.nextOf(Math.min(atOnce, left)))
      next = undefined
      if (entries.length === 0) return
      left -= entries.length
      // A caller that has read this much will probably read more, so LevelDB reads ahead while the caller works.
      if ((chunks >= 2 || entries.length === mostAtOnce) && left > 0) {
        next = cursor.nextOf(Math.min(atOnce, left))
        next.catch(() => {})
      }
      yield entries
    }
  } finally {
    await cursor.close()
  }
}

/** Reads at most `limit` entries from the start of a range. Stops once their total size exceeds `bytes`. */
export async function firstEntries(
  database: Readable,
  range: KeyRange,
  { limit, bytes = Infinity, ...options }: ReadOptions & { readonly limit: number; readonly bytes?: number },
): Promise<Entry[]> {
  const found: Entry[] = []
  let size = 0
  for await (const entries of scan(database, range, { limit, ...options })) {
    found.push(...entries)
    for (const [name, value] of entries) size += name.length + value.length
    if (size > bytes) break
  }
  return found
}

/** The first keys of a range, at most `limit`. Unlike `firstEntries`, this copies no values out of LevelDB. */
export async function firstKeys({ level }: Readable, range: KeyRange, limit: number): Promise<Buffer[]> {
  const iterator = level.keys({ ...range, highWaterMarkBytes: usualBytesAtOnce })
  const found: Buffer[] = []
  try {
    while (found.length < limit) {
      const keys = await iterator.nextv(Math.min(mostAtOnce, limit - found.length))
      if (keys.length === 0) break
      found.push(...keys)
    }
    return found
  } finally {
    await iterator.close()
  }
}

export async function lastEntry(
  database: Readable,
  range: KeyRange,
  snapshot?: AbstractSnapshot,
): Promise<Entry | undefined> {
  const cursor = new Cursor(database, range, { reverse: true, snapshot })
  try {
    return await cursor.next()
  } finally {
    await cursor.close()
  }
}
