import type { RemovedOld } from '../contract.ts'
import { decodeRecord } from '../record-value.ts'
import type { Database } from './database.ts'
import { crowdKeys, keyAtPosition, positionInRecordKey, positionText, recordKeys } from './keys.ts'
import { crowdKeyAt } from './resend-check.ts'
import type { Resources } from './resources.ts'
import { lastEntry } from './scan.ts'

/** So few that a commit that waits for them waits for a few milliseconds. */
const removedAtOnce = 250
/** What so many records have left on the disk is worth the tables that are written anew without it. */
const compactedAtOnce = 100_000

/**
 * Removes what is too old. Not waited for on the disk: it goes there with the commits, and what a crash brings back is removed
 * again. LevelDB gives the space of removed keys back when it happens upon them, where few are written late or never, so it
 * is told to where there are many.
 */
export class OldRecords {
  readonly #database: Database
  readonly #resources: Resources
  readonly #inTurn: <T>(task: () => Promise<T>) => Promise<T>
  /** How many records of a resource were removed since it was compacted, by its number. */
  readonly #uncompacted = new Map<number, number>()

  /** @param inTurn runs a task when no other removal is under way: what one leaves as the newest record the other must not take */
  constructor(database: Database, resources: Resources, inTurn: <T>(task: () => Promise<T>) => Promise<T>) {
    this.#database = database
    this.#resources = resources
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
    const names = await this.#database.level.keys({ gte: start, lt, limit: removedAtOnce }).all()
    if (names.length === 0) return undefined
    const newest = await lastEntry(this.#database, recordKeys(resource))
    const old = names.filter(name => newest && !name.equals(newest[0]))
    const name = old.at(-1)
    if (!name) return undefined
    const crowd = await this.#crowdKeysOf(resource, old)
    const batch = this.#database.batch()
    for (const each of [...old, ...crowd]) batch.del(each)
    await this.#database.write(batch, { sync: false })
    return { count: old.length, name }
  }

  /** What these records have left in crowds. That of a record of the same measurement which stays is among it: it is too old, too. */
  async #crowdKeysOf(resource: number, names: readonly Buffer[]): Promise<Buffer[]> {
    const datetimes = names.map(name => positionInRecordKey(name).datetime)
    const crowds = crowdKeys(resource, datetimes[0], (datetimes.at(-1) ?? 0) + 1)
    if (!(await lastEntry(this.#database, crowds))) return []
    const values = await this.#database.level.getMany([...names])
    return values.flatMap((bytes, index) => {
      const datetime = datetimes[index] ?? 0
      return bytes ? [crowdKeyAt(resource, datetime, decodeRecord('', datetime, bytes))] : []
    })
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
