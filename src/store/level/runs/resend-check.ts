import { type AcceptedRecord, measurement, type StoredRecord } from '../../../core/record/record.ts'
import type { Append } from '../../contract.ts'
import { comparedOneByOne, digestOf } from '../../resend.ts'
import type { Database } from '../database/database.ts'
import { Cursor, type Entry } from '../database/scan.ts'
import { crowdKey, positionInRecordKey, recordKey, recordKeys } from '../keys.ts'
import { readMark } from '../packing/packed-mark.ts'
import type { Resource, Resources } from '../resources.ts'
import { decodeRun, newestIn } from './record-run.ts'
import { firstDatetime, lastDatetime, type Run } from './run.ts'

/**
 * The resend check (contract §4, resend (a)): is this record stored already?
 *
 * A record newer than everything in its resource cannot be, and costs no read. Any other has the records of its
 * datetime read and compared. Datetimes at which one resource has very many records (a device that stamps all of a
 * day alike) would make that slow: from the 257th on, each record also leaves a digest in an index of its own (a
 * crowd key), so that the check costs one read more, however large the crowd.
 */

const pageSize = 64

/** The records that are stored at one datetime of one resource. */
export interface Point {
  count: number
  readonly measurements: Set<string>
}

/** A run, and the entry that it is. */
interface StoredRun {
  readonly entry: Entry
  readonly run: Run
}

/** What is stored of a resource around the records of a group. */
export interface Surroundings {
  /** By datetime. */
  readonly points: Map<number, Point>
  /** Runs of records between which one may come to stand. */
  readonly runs: readonly StoredRun[]
  /** Of the resource (../packing/packed-mark.ts). */
  readonly mark: Buffer | undefined
}

/** What is stored around all records of these writes that may be stored already, by resource number. */
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

/** Whether a read is needed to know that. */
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
  const [{ points, runs }, mark] = await Promise.all([
    compareOneByOne(database, resource, datetimes),
    readMark(database, resource),
  ])
  for (const [datetime, { count, measurements }] of points) {
    if (count < comparedOneByOne) continue
    const candidates = (suspects.get(datetime) ?? []).map(measurement)
    const keys = candidates.map(candidate => crowdKey(resource, datetime, digestOf(candidate)))
    const found = await database.level.getMany(keys)
    for (const [index, candidate] of candidates.entries()) {
      if (found[index]) measurements.add(candidate)
    }
  }
  return { points, runs, mark }
}

/** One pass over the time line, which leaps where the next datetime is far: late records may be dense or sparse. */
async function compareOneByOne(
  database: Database,
  resource: number,
  datetimes: readonly number[],
): Promise<Omit<Surroundings, 'mark'>> {
  const points = new Map(datetimes.map(datetime => [datetime, { count: 0, measurements: new Set<string>() }]))
  const parted = new PartedRuns(datetimes)
  const line = new TimeLine(database, resource, (datetimes.at(-1) ?? 0) + 1)
  try {
    let wanted = 0
    await line.goTo(recordKey(resource, datetimes[0] ?? 0, 0, 0))
    for (let page = await line.next(); page.length > 0; page = await line.next()) {
      let datetime = 0
      for (const entry of page) {
        const run = decodeRun('', entry)
        parted.look({ entry, run })
        for (const record of run.records) {
          datetime = record.datetime
          const point = points.get(datetime)
          if (!point || point.count === comparedOneByOne) continue
          point.count++
          point.measurements.add(measurement(record))
        }
      }
      const isCrowded = points.get(datetime)?.count === comparedOneByOne
      while (wanted < datetimes.length && (datetimes[wanted] ?? 0) < datetime + (isCrowded ? 1 : 0)) wanted++
      // The rest of a crowd is leapt over, and its last record may be in a run that goes on behind it.
      const last = isCrowded ? await line.before(recordKey(resource, datetime + 1, 0, 0)) : undefined
      if (last) parted.look({ entry: last, run: decodeRun('', last) })
      const next = datetimes[wanted]
      if (next === undefined) break
      if (next > datetime) await line.goTo(recordKey(resource, next, 0, 0))
    }
  } finally {
    await line.close()
  }
  return { points, runs: parted.found }
}

/** The entries of a resource, read on from anywhere. */
class TimeLine {
  readonly #forward: Cursor
  readonly #backward: Cursor

  /** @param end datetime behind all that is read */
  constructor(database: Database, resource: number, end: number) {
    this.#forward = new Cursor(database, recordKeys(resource, 0, end))
    // A cursor finds nothing from a key that is out of its range.
    this.#backward = new Cursor(database, recordKeys(resource), { reverse: true })
  }

  /** To the entry in which a record with this key would be. */
  async goTo(key: Buffer): Promise<void> {
    const before = await this.before(key)
    const isInside =
      before !== undefined && newestIn('', before).datetime >= positionInRecordKey(key).datetime
    this.#forward.seek(isInside ? before[0] : key)
  }

  next(): Promise<readonly Entry[]> {
    return this.#forward.nextOf(pageSize)
  }

  /** The last entry whose key is lower. */
  before(key: Buffer): Promise<Entry | undefined> {
    this.#backward.seek(key)
    return this.#backward.next()
  }

  async close(): Promise<void> {
    await Promise.all([this.#forward.close(), this.#backward.close()])
  }
}

/** Gathers the runs that a record of one of some datetimes would part. */
class PartedRuns {
  readonly found: StoredRun[] = []
  readonly #datetimes: readonly number[]
  /** Those in front of this one are in front of every run to come. */
  #next = 0

  /** @param datetimes ascending */
  constructor(datetimes: readonly number[]) {
    this.#datetimes = datetimes
  }

  /** @param stored not in front of those that were looked at before */
  look(stored: StoredRun): void {
    const [first, last] = [firstDatetime(stored.run), lastDatetime(stored.run)]
    while ((this.#datetimes[this.#next] ?? first) < first) this.#next++
    const isParted = (this.#datetimes[this.#next] ?? last) < last
    if (isParted && !this.found.at(-1)?.entry[0].equals(stored.entry[0])) this.found.push(stored)
  }
}

/** The crowd key that a record leaves if `count` records of its datetime are there before it. */
export function crowdKeyOf(record: AcceptedRecord, resource: number, count: number): Buffer | undefined {
  if (count < comparedOneByOne) return undefined
  return crowdKeyAt(resource, record.datetime, record)
}

/** The crowd key that a record of this datetime has left, if it has left one. */
export function crowdKeyAt(resource: number, datetime: number, record: StoredRecord): Buffer {
  return crowdKey(resource, datetime, digestOf(measurement(record)))
}
