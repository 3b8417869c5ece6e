import { isMagicKey } from '../../core/record/key.ts'
import type { StoredRecord } from '../../core/record/record.ts'
import type { Commit, TimeRange } from '../contract.ts'
import { dropRollups } from './chunks/day-rollup.ts'
import { entryOf, recordBefore, recordsIn } from './chunks/time-line.ts'
import { lowerWatermark } from './chunks/watermark.ts'
import type { GroupParts } from './commit-group.ts'
import { removeKeys } from './database/remove-keys.ts'
import type { Entry } from './database/scan.ts'
import {
  datetimeInRecordKey,
  duplicateKeys,
  emptiedKey,
  lastRecordKey,
  numberBytes,
  packedKey,
  positionBytes,
  positionInRecordKey,
  recordKeys,
  resourceByKeyKey,
  resourceKey,
} from './keys.ts'
import { removeRecords, takeOut } from './staging/remove-records.ts'

interface RemovalParts extends Pick<GroupParts, 'database' | 'head' | 'resources' | 'log' | 'unpacked'> {
  readonly announce: (commit: Commit) => void
  /** Implements `GroupCommit.alone`. */
  readonly alone: <T>(task: () => Promise<T>) => Promise<T>
  /** Whether the disk is short of space. If so, a removal also compacts the tables, which frees the space of removed records. */
  readonly isShort: () => boolean
}

interface Removal {
  readonly thingId: string
  readonly key: string
  readonly range: TimeRange
  /** Write number up to which (inclusive) records are removed. */
  readonly lastWrite: number
  /** Whether the new latest record is delivered to listeners. */
  readonly isDelivered: boolean
}

const nothing = Buffer.alloc(0)
const readAtOnce = 64

/**
 * Removes records of resources, a piece at a time, so that appends continue in between. If a crash interrupts a removal, the same
 * call finishes it later. The last step removes the newest of these records and adds the log entry with the new latest record.
 */
export class Removals {
  readonly #parts: RemovalParts
  #newest: Promise<unknown> = Promise.resolve()

  constructor(parts: RemovalParts) {
    this.#parts = parts
  }

  /** @returns how many records were removed */
  remove(
    thingId: string,
    key: string,
    range: TimeRange,
    { isDelivered }: { isDelivered: boolean },
  ): Promise<number> {
    const { database, head, alone } = this.#parts
    const lastWrite = alone(async () => head.counters.writeNumber)
    return this.inTurn(() =>
      database.use(async () =>
        this.#remove({ thingId, key, range, lastWrite: await lastWrite, isDelivered }),
      ),
    )
  }

  /** Runs removals one after another. Otherwise two could count the same record, or one could remove a record kept by the other. */
  inTurn<T>(task: () => Promise<T>): Promise<T> {
    const removal = this.#newest.then(task)
    this.#newest = removal.catch(() => {})
    return removal
  }

  async #remove(removal: Removal): Promise<number> {
    const { database, resources, unpacked, alone, isShort } = this.#parts
    const { thingId, key, range, lastWrite } = removal
    const resource = await resources.find(thingId, key)
    if (resource === undefined) return 0
    const last = await this.#lastMeant(resource, removal)
    const records = recordKeys(resource, range.from, range.to)
    // Removes the index entries first: otherwise a record that is sent again after its removal could count as already stored.
    const index = duplicateKeys(resource, range.from, range.to)
    await removeKeys(database, index, (_, bytes) => bytes.readUIntBE(0, 6) <= lastWrite)
    const inFront = last && { gte: records.gte, lt: last }
    const removed = inFront ? await removeRecords({ database, alone, unpacked }, inFront, lastWrite) : 0
    await alone(() => this.#finish(removal, resource, last))
    if (isShort()) await database.level.compactRange(records.gte, records.lt)
    return removed + (last ? 1 : 0)
  }

  /** The name (`NamedRecord`) of the last record to be removed; undefined if there is none. */
  async #lastMeant(resource: number, { range, lastWrite }: Removal): Promise<Buffer | undefined> {
    const { database } = this.#parts
    const meant = recordKeys(resource, range.from, range.to)
    if (Buffer.compare(meant.gte, meant.lt) >= 0) return undefined
    for await (const found of recordsIn(database, '', meant, { atOnce: readAtOnce, reverse: true })) {
      for (const { name } of found) if (positionInRecordKey(name).writeNumber <= lastWrite) return name
    }
    return undefined
  }

  /** Removes the last record, and also the resource if it is then empty, and delivers the new latest record. */
  async #finish(removal: Removal, resource: number, last: Buffer | undefined): Promise<void> {
    const { database, head, resources, log, unpacked, announce } = this.#parts
    const { thingId, key, isDelivered } = removal
    const newest = await recordBefore(database, key, lastRecordKey(resource))
    const isNewest = last !== undefined && newest?.name.equals(last) === true
    const left = isNewest ? await recordBefore(database, key, last) : newest
    if (!last && left) return

    const batch = database.batch()
    const holder = last && (await entryOf(database, last))
    const parts = holder && takeOut(batch, holder, ({ name }) => name.equals(last))
    const ofResource = left ? [] : entriesOfResource(thingId, key, resource)
    for (const [name] of ofResource) batch.del(name)
    if (!left) batch.put(emptiedKey(thingId, key), nothing).del(packedKey(resource))
    const watermark = left && holder && (await lowerWatermark(database, batch, holder[0]))
    const lastAt = last && datetimeInRecordKey(last)
    // If the newest record is removed, the day of the record before it is no longer finished: rollups from that day on are dropped.
    const [staleFrom, staleTo] = isNewest ? [left?.record.datetime, undefined] : [lastAt, lastAt]
    await dropRollups(database, batch, resource, staleFrom, staleTo)
    const commit =
      isDelivered && isNewest && !isMagicKey(key) ? this.#commitOf(removal, left?.record) : undefined
    const entry = commit && log.entryOf(commit)
    if (entry) batch.put(...entry)
    const counters = { ...head.counters, writeNumber: commit?.writeNumber ?? head.counters.writeNumber }
    if (commit) head.put(batch, counters)

    const undo = {
      added: [...(parts?.added ?? []), ...(entry ? [entry[0]] : [])],
      before: [
        ...(holder ? [holder] : []),
        ...ofResource,
        ...(watermark ? ([[packedKey(resource), positionBytes(watermark)]] as const) : []),
      ],
    }
    // An undelivered removal needs no sync: it is part of a thing's removal, which ends with a sync and is repeated after a crash.
    await database.write(batch, { sync: isDelivered }, undo)
    head.counters = counters
    if (commit && entry) log.added(commit, entry[1])
    if (left && holder) unpacked.changedAt(holder[0], watermark)
    if (!left) {
      resources.forget(thingId, key)
      unpacked.forget(resource)
    }
    if (commit) announce(commit)
  }

  #commitOf({ thingId, key }: Removal, record: StoredRecord | undefined): Commit {
    const { writeNumber, newestReceipt } = this.#parts.head.counters
    return {
      thingId,
      writeNumber: writeNumber + 1,
      receivedAt: newestReceipt,
      records: [],
      latest: [{ key, record }],
      stored: true,
      broadcast: true,
    }
  }
}

/** The entries that map the names of a resource to its number. */
function entriesOfResource(thingId: string, key: string, resource: number): Entry[] {
  const names = [resourceKey(thingId, key)]
  if (!isMagicKey(key)) names.push(resourceByKeyKey(key, thingId))
  return names.map(name => [name, numberBytes(resource)])
}
