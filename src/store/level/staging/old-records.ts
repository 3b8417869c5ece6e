import type { RemovedOld } from '../../contract.ts'
import type { NamedRecord } from '../chunks/chunk.ts'
import { dropRollups } from '../chunks/day-rollup.ts'
import { newestName } from '../chunks/record-chunk.ts'
import { firstEntries, lastEntry } from '../database/scan.ts'
import { duplicateKeys, keyAtPosition, positionText, recordKeys } from '../keys.ts'
import { takeOut } from './remove-records.ts'
import { duplicateKeyOf } from './resend-check.ts'
import type { StagedRecordsParts } from './staged-records.ts'

/** Maximum size of a piece, in entries and bytes. Commits wait a few milliseconds while a piece is removed. */
const readAtOnce = { limit: 250, bytes: 16 * 1024 }
/** Number of removed records after which the tables of a resource are compacted. Fewer would free too little space. */
const compactedAtOnce = 100_000

interface OldRecordsParts extends StagedRecordsParts {
  /** Runs a task while no commit and no other removal runs: another removal could remove the record that the task keeps. */
  readonly inTurn: <T>(task: () => Promise<T>) => Promise<T>
}

/**
 * Removes records that are too old, in pieces. A piece is not synced: a later commit syncs it, and if a crash undoes it, the
 * records are removed again. LevelDB frees the space of removed keys only when it compacts their tables, which it seldom does if
 * little is written. So the tables of a resource are compacted after many removals.
 */
export class OldRecords {
  readonly #parts: OldRecordsParts
  /** How many records of each resource were removed since it was last compacted, by resource number. */
  readonly #uncompacted = new Map<number, number>()

  constructor(parts: OldRecordsParts) {
    this.#parts = parts
  }

  /** Implements `RecordStore.removeOld`. @throws ThingwireError store_unavailable */
  async remove(thingId: string, key: string, before: number, from?: string): Promise<RemovedOld> {
    const { resources, inTurn } = this.#parts
    const resource = await resources.find(thingId, key)
    if (resource === undefined) return { count: 0 }
    const last = await inTurn(() => this.#removePiece(resource, before, from))
    if (!last) return { count: 0 }
    await this.#compact(resource, last)
    return { count: last.count, next: positionText(last.name) }
  }

  async #removePiece(resource: number, before: number, from: string | undefined) {
    const { database, unpacked } = this.#parts
    const { gte, lt } = recordKeys(resource, undefined, before)
    // `from` is the position of the last record that the previous piece removed.
    const start = (from === undefined ? undefined : keyAtPosition(resource, from)) ?? gte
    if (Buffer.compare(start, lt) >= 0) return undefined
    const entries = await firstEntries(database, { gte: start, lt }, readAtOnce)
    const newestEntry = await lastEntry(database, recordKeys(resource))
    if (!newestEntry) return undefined
    const newest = newestName(newestEntry)
    const old: NamedRecord[] = []
    const batch = database.batch()
    for (const entry of entries) {
      takeOut(batch, entry, record => {
        const isOld = Buffer.compare(record.name, lt) < 0 && !record.name.equals(newest)
        if (isOld) old.push(record)
        return isOld
      })
    }
    const name = old.at(-1)?.name
    if (!name) {
      await batch.close()
      return undefined
    }
    for (const duplicate of await this.#duplicateKeysOf(resource, old)) batch.del(duplicate)
    const [first, last] = [old[0]?.record.datetime, old.at(-1)?.record.datetime]
    await dropRollups(database, batch, resource, first, last)
    await database.write(batch, { sync: false })
    unpacked.changedAt(name)
    return { count: old.length, name }
  }

  /** The duplicate keys of these records. An equal record outside the piece loses its key too: no harm, as it is also too old. */
  async #duplicateKeysOf(resource: number, records: readonly NamedRecord[]): Promise<Buffer[]> {
    const [first, last] = [records[0]?.record.datetime, records.at(-1)?.record.datetime ?? 0]
    const index = duplicateKeys(resource, first, last + 1)
    if (!(await lastEntry(this.#parts.database, index))) return []
    return records.map(({ record }) => duplicateKeyOf(resource, record))
  }

  /** Runs concurrently with commits and removals, since it may take a second and changes no content. */
  async #compact(resource: number, { count, name }: { count: number; name: Buffer }): Promise<void> {
    const removed = (this.#uncompacted.get(resource) ?? 0) + count
    if (removed < compactedAtOnce) {
      this.#uncompacted.set(resource, removed)
      return
    }
    this.#uncompacted.delete(resource)
    const { database } = this.#parts
    await database.use(() => database.level.compactRange(recordKeys(resource).gte, name))
  }
}
