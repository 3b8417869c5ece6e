import type { AbstractSnapshot } from 'abstract-level'
import type { StoredRecord } from '../../../core/record/record.ts'
import type { Database } from '../database/database.ts'
import { Cursor } from '../database/scan.ts'
import { keysOf, lastRecordKey, prefix, resourceInRecordKey } from '../keys.ts'
import { newestIn } from './record-chunk.ts'

/** One cursor per thread of the pool in which LevelDB reads. With more cursors, appends would wait longer for a thread. */
const cursorCount = 4

/**
 * Reads the newest record of each of many resources in a snapshot. A few cursors move from resource to resource: with one
 * iterator per resource, the garbage collector would pause the process for tens of milliseconds.
 */
export class NewestRecords {
  readonly #database: Database
  readonly #snapshot: AbstractSnapshot
  readonly #cursors: Cursor[] = []

  constructor(database: Database, snapshot: AbstractSnapshot) {
    this.#database = database
    this.#snapshot = snapshot
  }

  /** @returns the newest record of each resource, in order; undefined for a resource without records */
  async read(
    resources: readonly { readonly key: string; readonly number: number }[],
  ): Promise<readonly (StoredRecord | undefined)[]> {
    const found: (StoredRecord | undefined)[] = []
    let begun = 0
    const readOn = async (cursor: Cursor) => {
      for (let index = begun++; index < resources.length; index = begun++) {
        const { key, number } = resources[index] as (typeof resources)[number]
        cursor.seek(lastRecordKey(number))
        const entry = await cursor.next()
        const isOfResource = entry && resourceInRecordKey(entry[0]) === number
        found[index] = isOfResource ? newestIn(key, entry) : undefined
      }
    }
    const snapshot = this.#snapshot
    while (this.#cursors.length < Math.min(cursorCount, resources.length)) {
      this.#cursors.push(new Cursor(this.#database, keysOf(prefix.record), { reverse: true, snapshot }))
    }
    await Promise.all(this.#cursors.map(readOn))
    return found
  }

  async close(): Promise<void> {
    await Promise.all(this.#cursors.map(cursor => cursor.close()))
  }
}
