import type { RemovedOld } from '../../contract.ts'
import type { Unpacked } from '../compaction/unpacked.ts'
import type { Database } from '../database/database.ts'
import { firstEntries, lastEntry } from '../database/scan.ts'
import { duplicateKeys, keyAtPosition, positionText, recordKeys } from '../keys.ts'
import type { Resources } from '../resources.ts'
import { dropRollups } from '../rollups/day-rollup.ts'
import type { NamedRecord } from './chunk.ts'
import { newestName } from './record-chunk.ts'
import { takeOut } from './remove-records.ts'
import { duplicateKeyAt } from './resend-check.ts'

/** Entries, and bytes of them: so few that a commit that waits for them waits for a few milliseconds. */
const readAtOnce = { limit: 250, bytes: 16 * 1024 }
/** What so many records have left on the disk is worth the tables that are written anew without it. */
const compactedAtOnce = 100_000

interface OldRecordsParts {
  readonly database: Database
  readonly resources: Resources
  readonly unpacked: Unpacked
  /**
   * Runs a task when no other removal is under way, nor a commit: what one leaves as the newest record the other must not take.
   */
  readonly inTurn: <T>(task: () => Promise<T>) => Promise<T>
}

/**
 * Removes what is too old. Not waited for on the disk: it goes there with the commits, and what a crash brings back is removed
 * again. LevelDB gives the space of removed keys back when it happens upon them, where few are written late or never, so it
 * is asked to where there are many.
 */
export class OldRecords {
  readonly #database: Database
  readonly #resources: Resources
  readonly #unpacked: Unpacked
  readonly #inTurn: <T>(task: () => Promise<T>) => Promise<T>
  /** How many records of a resource were removed since it was compacted, by its number. */
  readonly #uncompacted = new Map<number, number>()

  constructor({ database, resources, unpacked, inTurn }: OldRecordsParts) {
    this.#database = database
    this.#resources = resources
    this.#unpacked = unpacked
    this.#inTurn = inTurn
  }

  /** As `RecordStore.removeOld`. @throws ThingwireError store_unavailable */
  async remove(thingId: string, key: string, before: number, from?: string): Promise<RemovedOld> {
    const resource = await this.#resources.find(thingId, key)
    if (resource === undefined) return { count: 0 }
    const last = await this.#inTurn(() => this.#removePiece(resource, before, from))
    if (!last) return { count: 0 }
    await this.#compact(resource, last)
    return { count: last.count, next: positionText(last.name) }
  }

  async #removePiece(resource: number, before: number, from: string | undefined) {
    const { gte, lt } = recordKeys(resource, undefined, before)
    // The record that it names is gone.
    const start = (from === undefined ? undefined : keyAtPosition(resource, from)) ?? gte
    if (Buffer.compare(start, lt) >= 0) return undefined
    const entries = await firstEntries(this.#database, { gte: start, lt }, readAtOnce)
    const newestEntry = await lastEntry(this.#database, recordKeys(resource))
    if (!newestEntry) return undefined
    const newest = newestName(newestEntry)
    const old: NamedRecord[] = []
    const batch = this.#database.batch()
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
    await dropRollups(this.#database, batch, resource, first, last)
    await this.#database.write(batch, { sync: false })
    this.#unpacked.changedAt(name)
    return { count: old.length, name }
  }

  /** What these records have left in the duplicate index. That of a record of the same measurement which stays is among it: it is too old, too. */
  async #duplicateKeysOf(resource: number, records: readonly NamedRecord[]): Promise<Buffer[]> {
    const [first, last] = [records[0]?.record.datetime, records.at(-1)?.record.datetime ?? 0]
    const index = duplicateKeys(resource, first, last + 1)
    if (!(await lastEntry(this.#database, index))) return []
    return records.map(({ record }) => duplicateKeyAt(resource, record.datetime, record))
  }

  /** Not in turn: it may take a second, and moves nothing. */
  async #compact(resource: number, { count, name }: { count: number; name: Buffer }): Promise<void> {
    const removed = (this.#uncompacted.get(resource) ?? 0) + count
    if (removed < compactedAtOnce) {
      this.#uncompacted.set(resource, removed)
      return
    }
    this.#uncompacted.delete(resource)
    await this.#database.use(() => this.#database.level.compactRange(recordKeys(resource).gte, name))
  }
}
