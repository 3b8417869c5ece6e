import { createHash } from 'node:crypto'
import { type AcceptedRecord, measurement, type StoredRecord } from '../../core/record.ts'
import type { Append } from '../contract.ts'
import { decodeRecord } from '../record-value.ts'
import type { Database } from './database.ts'
import { crowdKey, positionInRecordKey, recordKey, recordKeys } from './keys.ts'
import type { Resource, Resources } from './resources.ts'

/**
 * The resend check (contract §4, resend (a)): is this record stored already?
 *
 * A record newer than everything in its resource cannot be, and costs no read. Any other has the records of its
 * datetime read and compared. Datetimes at which one resource has very many records (a device that stamps all of a
 * day alike) would make that slow: from the 257th on, each record also leaves a digest in an index of its own (a
 * crowd key), so that the check costs one read more, however large the crowd.
 */

/** How many records of one datetime are compared one by one. */
const comparedOneByOne = 256
const pageSize = 64

/** The records that are stored at one datetime of one resource. */
export interface Point {
  count: number
  readonly measurements: Set<string>
}

/** Points by resource number, then by datetime. */
export type Points = Map<number, Map<number, Point>>

/** Loads the points of all records of these writes that may be stored already. */
export async function loadPoints(
  database: Database,
  resources: Resources,
  writes: readonly Append[],
): Promise<Points> {
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
  const points: Points = new Map()
  const loading = [...suspects].map(async ([resource, byDatetime]) => {
    points.set(resource, await loadPointsOf(database, resource, byDatetime))
  })
  await Promise.all(loading)
  return points
}

/** Whether a read is needed to know that. */
export function mayBeStored(record: AcceptedRecord, resource: Resource): boolean {
  if (record.datetime !== resource.newest) return record.datetime < resource.newest
  return record.explicit || resource.atNewest === undefined
}

async function loadPointsOf(
  database: Database,
  resource: number,
  suspects: ReadonlyMap<number, readonly AcceptedRecord[]>,
): Promise<Map<number, Point>> {
  const datetimes = [...suspects.keys()].sort((a, b) => a - b)
  const points = await compareOneByOne(database, resource, datetimes)
  for (const [datetime, { count, measurements }] of points) {
    if (count < comparedOneByOne) continue
    const candidates = (suspects.get(datetime) ?? []).map(measurement)
    const keys = candidates.map(candidate => crowdKey(resource, datetime, digest(candidate)))
    const found = await database.level.getMany(keys)
    for (const [index, candidate] of candidates.entries()) {
      if (found[index]) measurements.add(candidate)
    }
  }
  return points
}

/** One pass over the time line, which leaps where the next datetime is far: late records may be dense or sparse. */
async function compareOneByOne(
  database: Database,
  resource: number,
  datetimes: readonly number[],
): Promise<Map<number, Point>> {
  const points = new Map(datetimes.map(datetime => [datetime, { count: 0, measurements: new Set<string>() }]))
  const iterator = database.level.iterator(recordKeys(resource, datetimes[0], (datetimes.at(-1) ?? 0) + 1))
  try {
    let wanted = 0
    for (let page = await iterator.nextv(pageSize); page.length > 0; page = await iterator.nextv(pageSize)) {
      let datetime = 0
      for (const [key, bytes] of page) {
        datetime = positionInRecordKey(key).datetime
        const point = points.get(datetime)
        if (!point || point.count === comparedOneByOne) continue
        point.count++
        point.measurements.add(measurement(decodeRecord('', datetime, bytes)))
      }
      const isCrowded = points.get(datetime)?.count === comparedOneByOne
      while (wanted < datetimes.length && (datetimes[wanted] ?? 0) < datetime + (isCrowded ? 1 : 0)) wanted++
      const next = datetimes[wanted]
      if (next === undefined) break
      if (next > datetime) iterator.seek(recordKey(resource, next, 0, 0))
    }
  } finally {
    await iterator.close()
  }
  return points
}

/** The crowd key that a record leaves if `count` records of its datetime are there before it. */
export function crowdKeyOf(record: AcceptedRecord, resource: number, count: number): Buffer | undefined {
  if (count < comparedOneByOne) return undefined
  return crowdKeyAt(resource, record.datetime, record)
}

/** The crowd key that a record of this datetime has left, if it has left one. */
export function crowdKeyAt(resource: number, datetime: number, record: StoredRecord): Buffer {
  return crowdKey(resource, datetime, digest(measurement(record)))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest().subarray(0, 16)
}
