import type { AbstractIterator, AbstractSnapshot } from 'abstract-level'
import type { ClassicLevel } from 'classic-level'
import type { KeyRange } from '../keys.ts'

/**
 * Everything that reads more than known keys. LevelDB's binding makes room for as many entries as it is asked for before it
 * looks, and keeps the room and what it read into it until the iterator is collected, long after it is closed. So it is asked
 * for few.
 */

export type Level = ClassicLevel<Buffer, Buffer>

/** One key of LevelDB, and its value. */
export type Entry = readonly [name: Buffer, bytes: Buffer]

/** Anything that has a LevelDB. */
export interface Readable {
  readonly level: Level
}

interface ReadOptions {
  readonly reverse?: boolean
  readonly snapshot?: AbstractSnapshot | undefined
  /** Entries that are longer than that together are not given at once, but one is. Default 16 KiB. */
  readonly bytesAtOnce?: number | undefined
}

export interface ScanOptions extends ReadOptions {
  /** Most entries that are given at once. Default 128. */
  readonly atOnce?: number
  /** Most entries in all. Default: all of the range. */
  readonly limit?: number
}

/** Most entries that the binding is asked for at once, 8 KB of room. */
const mostAtOnce = 128
/** Asked for where it is not known how many there are: most ranges are short. */
const fewAtOnce = 16
const usualBytesAtOnce = 16 * 1024

/**
 * Reads entries of a range from anywhere in it, as the database is when the cursor is made, or as the snapshot is. To be
 * closed.
 */
export class Cursor {
  readonly #iterator: AbstractIterator<Level, Buffer, Buffer>
  #size: number

  /** @param expected how many entries will be taken, if that is known */
  constructor(
    { level }: Readable,
    { gte, lt }: KeyRange,
    { reverse = false, snapshot, bytesAtOnce = usualBytesAtOnce }: ReadOptions = {},
    expected = fewAtOnce,
  ) {
    this.#iterator = level.iterator({ gte, lt, reverse, snapshot, highWaterMarkBytes: bytesAtOnce })
    this.#size = expected
  }

  /** To the first entry from the key on, or, in reverse, the last up to it. There is none if the key is out of the range. */
  seek(key: Buffer): void {
    this.#iterator.seek(key)
    this.#size = fewAtOnce
  }

  /** The next entry. */
  async next(): Promise<Entry | undefined> {
    const [entry] = await this.#iterator.nextv(1)
    return entry
  }

  /** Some of the next entries, at most so many; none if the range is at its end. */
  nextOf(most: number): Promise<Entry[]> {
    const size = Math.min(this.#size, mostAtOnce)
    this.#size = size * 4
    return this.#iterator.nextv(Math.min(size, most))
  }

  close(): Promise<void> {
    return this.#iterator.close()
  }
}

/** The entries of a range, some at a time, as the database is when the scan begins. */
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
      // Who takes so many takes more: LevelDB reads them while these are looked at.
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

/** The first entries of a range: `limit` of them, or as many as have `bytes` together and one more. */
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

/** The first keys of a range, at most `limit`: LevelDB's binding copies no values. */
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

/** The last entry of a range. */
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
