import { type AcceptedRecord, measurement, type StoredRecord } from '../../../core/record/record.ts'
import type { Append } from '../../contract.ts'
import { comparedOneByOne, digestOf } from '../../resend.ts'
import { type Chunk, firstDatetime, lastDatetime } from '../chunks/chunk.ts'
import { decodeChunk, newestIn } from '../chunks/record-chunk.ts'
import { readWatermark } from '../chunks/watermark.ts'
import type { Database } from '../database/database.ts'
import { Cursor, type Entry } from '../database/scan.ts'
import { duplicateKey, positionInRecordKey, recordKey, recordKeys } from '../keys.ts'
import type { Resource, Resources } from '../resources.ts'

/**
 * The resend check (contract §4, resend (a)): whether a record is already stored.
 *
 * A record that is newer than all records of its resource is certainly new, so no read is needed. Any other record is compared
 * with the stored records of its datetime. That would be slow for very many records of one datetime, for example from a device
 * that sends all records of a day with one datetime. So for each record of a datetime from the 257th on, a digest is put into an
 * index, as a duplicate key. The check then needs only one more read, however many records have the datetime.
 */

const pageSize = 64

/** The stored records of a resource at one datetime. */
export interface Point {
  count: number
  readonly measurements: Set<string>
}

interface StoredChunk {
  readonly entry: Entry
  readonly chunk: Chunk
}

/** The stored content of a resource around the records of a group. */
export interface Surroundings {
  /** Points by datetime. */
  readonly points: Map<number, Point>
  /** Chunks that a record may split, in order. */
  readonly chunks: readonly StoredChunk[]
  /** Watermark of the resource (../compaction/watermark.ts). */
  readonly watermark: Buffer | undefined
}

/** The surroundings of records that may already be stored, by resource number. */
export async function loadSurroundings(
  database: Database,
  resources: Resources,
  writes: readonly Append[],
): Promise<Map<number, Surroundings>> {
  const suspects = new Map<number, Map<number, AcceptedRecord[]>>()
  for (const { thingId, records } of writes) {
    for (const record of records) {
      const resource = resources.cached(thingId, record.key)
      if (!resource || !mayBeStored(record, resource)) continue
      const ofResource = suspects.get(resource.number) ?? new Map<number, AcceptedRecord[]>()
      const ofPoint = ofResource.get(record.datetime) ?? []
      ofPoint.push(record)
      suspects.set(resource.number, ofResource.set(record.datetime, ofPoint))
    }
  }
  const surroundings = new Map<number, Surroundings>()
  const loading = [...suspects].map(async ([resource, byDatetime]) => {
    surroundings.set(resource, await loadSurroundingsOf(database, resource, byDatetime))
  })
  await Promise.all(loading)
  return surroundings
}

/** Whether a read is needed to find out if the record is already stored. */
export function mayBeStored(record: AcceptedRecord, resource: Resource): boolean {
  if (record.datetime !== resource.newest) return record.datetime < resource.newest
  return record.explicit || resource.atNewest === undefined
}

async function loadSurroundingsOf(
  database: Database,
  resource: number,
  suspects: ReadonlyMap<number, readonly AcceptedRecord[]>,
): Promise<Surroundings> {
  const datetimes = [...suspects.keys()].sort((a, b) => a - b)
  const [{ points, chunks }, watermark] = await Promise.all([
    compareOneByOne(database, resource, datetimes),
    readWatermark(database, resource),
  ])
  for (const [datetime, { count, measurements }] of points) {
    if (count < comparedOneByOne) continue
    const candidates = (suspects.get(datetime) ?? []).map(measurement)
    const keys = candidates.map(candidate => duplicateKey(resource, datetime, digestOf(candidate)))
    const found = await database.level.getMany(keys)
    for (const [index, candidate] of candidates.entries()) {
      if (found[index]) measurements.add(candidate)
    }
  }
  return { points, chunks, watermark }
}

/** Makes one pass over the time line. Skips ahead if the next wanted datetime is far away, since late records may be sparse. */
async function compareOneByOne(
  database: Database,
  resource: number,
  datetimes: readonly number[],
): Promise<Omit<Surroundings, 'watermark'>> {
  const points = new Map(datetimes.map(datetime => [datetime, { count: 0, measurements: new Set<string>() }]))
  const parted = new PartedChunks(datetimes)
  const line = new TimeLine(database, resource, (datetimes.at(-1) ?? 0) + 1)
  try {
    let wanted = 0
    await line.goTo(recordKey(resource, datetimes[0] ?? 0, 0, 0))
    for (let page = await line.next(); page.length > 0; page = await line.next()) {
      let datetime = 0
      for (const entry of page) {
        const chunk = decodeChunk('', entry)
        parted.look({ entry, chunk })
        for (const record of chunk.records) {
          datetime = record.datetime
          const point = points.get(datetime)
          if (!point || point.count === comparedOneByOne) continue
          point.count++
          point.measurements.add(measurement(record))
        }
      }
      const hasIndex = points.get(datetime)?.count === comparedOneByOne
      while (wanted < datetimes.length && (datetimes[wanted] ?? 0) < datetime + (hasIndex ? 1 : 0)) wanted++
      // The rest of an indexed datetime is skipped, but not its last chunk: that chunk may contain later records, and so be split.
      const last = hasIndex ? await line.before(recordKey(resource, datetime + 1, 0, 0)) : undefined
      if (last) parted.look({ entry: last, chunk: decodeChunk('', last) })
      const next = datetimes[wanted]
      if (next === undefined) break
      if (next > datetime) await line.goTo(recordKey(resource, next, 0, 0))
    }
  } finally {
    await line.close()
  }
  return { points, chunks: parted.found }
}

/** A cursor over the entries of a resource. */
class TimeLine {
  readonly #forward: Cursor
  readonly #backward: Cursor

  /** @param end datetime, exclusive */
  constructor(database: Database, resource: number, end: number) {
    this.#forward = new Cursor(database, recordKeys(resource, 0, end))
    // Covers the whole resource, since a cursor finds nothing when it seeks a key outside its range.
    this.#backward = new Cursor(database, recordKeys(resource), { reverse: true })
  }

  /** Moves to the first entry that has a record at or after the datetime of this record key. */
  async goTo(key: Buffer): Promise<void> {
    const before = await this.before(key)
    const isInside =
      before !== undefined && newestIn('', before).datetime >= positionInRecordKey(key).datetime
    this.#forward.seek(isInside ? before[0] : key)
  }

  next(): Promise<readonly Entry[]> {
    return this.#forward.nextOf(pageSize)
  }

  /** The last entry with a key lower than `key`. */
  before(key: Buffer): Promise<Entry | undefined> {
    this.#backward.seek(key)
    return this.#backward.next()
  }

  async close(): Promise<void> {
    await Promise.all([this.#forward.close(), this.#backward.close()])
  }
}

/** Collects the chunks that a record of one of these datetimes would split. */
class PartedChunks {
  readonly found: StoredChunk[] = []
  readonly #datetimes: readonly number[]
  /** Index of the first datetime that the next chunk may contain. */
  #next = 0

  /** @param datetimes ascending */
  constructor(datetimes: readonly number[]) {
    this.#datetimes = datetimes
  }

  /** @param stored the chunks of successive calls are in ascending order */
  look(stored: StoredChunk): void {
    const [first, last] = [firstDatetime(stored.chunk), lastDatetime(stored.chunk)]
    while ((this.#datetimes[this.#next] ?? first) < first) this.#next++
    const isParted = (this.#datetimes[this.#next] ?? last) < last
    if (isParted && !this.found.at(-1)?.entry[0].equals(stored.entry[0])) this.found.push(stored)
  }
}

/** The duplicate key of a record. The store may or may not have this key. */
export function duplicateKeyOf(resource: number, record: StoredRecord): Buffer {
  return duplicateKey(resource, record.datetime, digestOf(measurement(record)))
}
