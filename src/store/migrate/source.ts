import { createHash } from 'node:crypto'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { entryStart, singles } from '../level/chunks/time-line.ts'
import { Database } from '../level/database/database.ts'
import { type Counters, Head } from '../level/database/head.ts'
import { misplaced } from '../level/database/identity.ts'
import { type Entry, scan } from '../level/database/scan.ts'
import {
  behind,
  isWithin,
  type KeyRange,
  keysOf,
  namesInThingKey,
  positionInRecordKey,
  prefix,
  recordKey,
  recordKeyLength,
  resourceInRecordKey,
} from '../level/keys.ts'
import type { ResourceName } from '../redis/latest.ts'

const mostAtOnce = 1_000

/** The embedded store of a migration. No other process has it open, and its content does not change. */
export class Source {
  readonly database: Database
  readonly counters: Counters
  /** Names of the resources by resource number. */
  readonly resources: ReadonlyMap<number, ResourceName>
  /** A digest that changes when a server runs on the store, since every server changes documents. */
  readonly fingerprint: string

  private constructor(
    database: Database,
    counters: Counters,
    resources: ReadonlyMap<number, ResourceName>,
    fingerprint: string,
  ) {
    this.database = database
    this.counters = counters
    this.resources = resources
    this.fingerprint = fingerprint
  }

  /** @throws Error for the operator: there is no store, another process has it open, or it cannot be read */
  static async open(location: string): Promise<Source> {
    try {
      await access(join(location, 'CURRENT'))
    } catch (cause) {
      const why = await misplaced(location)
      throw new Error(`there is no embedded store in ${location}${why ? `: ${why}` : ''}`, { cause })
    }
    const database = new Database(location)
    await database.open()
    try {
      const head = new Head()
      await head.load(database)
      const [resources, fingerprint] = [
        await resourcesIn(database),
        await fingerprintOf(database, head.counters),
      ]
      return new Source(database, head.counters, resources, fingerprint)
    } catch (error) {
      await database.close()
      throw error
    }
  }

  /** Reads the entries of a range that has no records, in batches. @param after skips entries up to this key, inclusive */
  entries({ gte, lt }: KeyRange, after?: Buffer): AsyncIterable<readonly Entry[]> {
    return scan(this.database, { gte: after ? behind(after) : gte, lt })
  }

  /** Reads the records of a range, in batches. A chunk gives one entry for each record. @param after as in `entries` */
  async *records({ gte, lt }: KeyRange, after?: Buffer): AsyncIterable<readonly Entry[]> {
    const start = after ? behind(after) : gte
    const from = start.length < recordKeyLength ? start : await entryStart(this.database, start)
    for await (const entries of scan(this.database, { gte: from, lt })) {
      const records = entries.flatMap(singles).filter(([key]) => isWithin(key, { gte: start, lt }))
      for (let from = 0; from < records.length; from += mostAtOnce) {
        yield records.slice(from, from + mostAtOnce)
      }
    }
  }

  /** @param after counts only records after this key, exclusive */
  async countRecords(after?: Buffer): Promise<number> {
    let count = 0
    for await (const entries of this.records(keysOf(prefix.record), after)) {
      // A crash may have left records of a removed resource. They are not counted.
      for (const [key] of entries) if (this.resources.has(resourceInRecordKey(key))) count++
    }
    return count
  }

  /** Number of records with the same resource and datetime before this record; `most` if there are more. */
  async countBefore(key: Buffer, most: number): Promise<number> {
    const first = recordKey(resourceInRecordKey(key), positionInRecordKey(key).datetime, 0, 0)
    let count = 0
    for await (const entries of this.records({ gte: first, lt: key })) {
      count += entries.length
      if (count >= most) return most
    }
    return count
  }

  close(): Promise<void> {
    return this.database.close()
  }
}

async function resourcesIn(database: Database): Promise<Map<number, ResourceName>> {
  const resources = new Map<number, ResourceName>()
  for await (const entries of scan(database, keysOf(prefix.resource))) {
    for (const [key, bytes] of entries) resources.set(bytes.readUInt32BE(0), namesInThingKey(key))
  }
  return resources
}

async function fingerprintOf(database: Database, counters: Counters): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(counters))
  for await (const entries of scan(database, keysOf(prefix.document))) {
    for (const [key, bytes] of entries)
      hash.update(`${key.length} ${bytes.length} `).update(key).update(bytes)
  }
  return hash.digest('hex')
}
