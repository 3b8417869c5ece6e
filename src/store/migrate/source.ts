import { createHash } from 'node:crypto'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { Database } from '../level/database.ts'
import { type Counters, Head } from '../level/head.ts'
import {
  allRecordKeys,
  allResourceKeys,
  documentKeys,
  type KeyRange,
  namesInThingKey,
  positionInRecordKey,
  recordKey,
  resourceInRecordKey,
} from '../level/keys.ts'
import { type ScanOptions, scan } from '../level/scan.ts'
import type { ResourceName } from '../redis/latest.ts'

export type Entry = readonly [key: Buffer, bytes: Buffer]

const atOnce: ScanOptions = { atOnce: 1_000, highWaterMarkBytes: 256 * 1024 }
const keysAtOnce = 10_000

/** An embedded store that is moved away. Held alone, and nothing in it changes. */
export class Source {
  readonly database: Database
  readonly counters: Counters
  /** By the number that stands for the resource in its record keys. */
  readonly resources: ReadonlyMap<number, ResourceName>
  /** Tells whether a server has run on the store since: it leaves a trace in the documents. */
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

  /** @throws Error for the operator: there is none, another process holds it, it cannot be read */
  static async open(location: string): Promise<Source> {
    try {
      await access(join(location, 'CURRENT'))
    } catch (cause) {
      throw new Error(`there is no embedded store in ${location}`, { cause })
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

  /** The entries of a range by key, some at a time. @param after key behind which to begin */
  entries({ gte, lt }: KeyRange, after?: Buffer): AsyncIterable<readonly Entry[]> {
    return scan(this.database, { gte: after ? behind(after) : gte, lt }, atOnce)
  }

  /** How many records there are. @param after key of the record behind which to begin */
  async countRecords(after?: Buffer): Promise<number> {
    const { gte, lt } = allRecordKeys
    const range = { gte: after ? behind(after) : gte, lt, highWaterMarkBytes: 1024 * 1024 }
    const iterator = this.database.level.keys(range)
    let count = 0
    try {
      for (
        let keys = await iterator.nextv(keysAtOnce);
        keys.length > 0;
        keys = await iterator.nextv(keysAtOnce)
      ) {
        // What a crash has left of a removed resource is no record.
        for (const key of keys) if (this.resources.has(resourceInRecordKey(key))) count++
      }
    } finally {
      await iterator.close()
    }
    return count
  }

  /** How many records of its resource and datetime stand before a record, `most` at most. */
  async countBefore(key: Buffer, most: number): Promise<number> {
    const gte = recordKey(resourceInRecordKey(key), positionInRecordKey(key).datetime, 0, 0)
    return (await this.database.level.keys({ gte, lt: key, limit: most }).all()).length
  }

  close(): Promise<void> {
    return this.database.close()
  }
}

function behind(key: Buffer): Buffer {
  return Buffer.concat([key, Buffer.of(0)])
}

async function resourcesIn(database: Database): Promise<Map<number, ResourceName>> {
  const resources = new Map<number, ResourceName>()
  for await (const entries of scan(database, allResourceKeys, atOnce)) {
    for (const [key, bytes] of entries) resources.set(bytes.readUInt32BE(0), namesInThingKey(key))
  }
  return resources
}

async function fingerprintOf(database: Database, counters: Counters): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(counters))
  for await (const entries of scan(database, documentKeys(''), atOnce)) {
    for (const [key, bytes] of entries)
      hash.update(`${key.length} ${bytes.length} `).update(key).update(bytes)
  }
  return hash.digest('hex')
}
