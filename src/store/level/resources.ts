import type { Append } from '../contract.ts'
import { newestRecord } from './chunks/time-line.ts'
import type { Database } from './database/database.ts'
import { Cursor, scan } from './database/scan.ts'
import { keysOf, prefix, resourceKey, secondName, thingInKey } from './keys.ts'

/** The properties of a resource that an append needs. */
export interface Resource {
  /** Stands for the thing and the key in record keys; never reused. */
  readonly number: number
  /** Datetime of the newest record, milliseconds; -1 if there is none. May be too high after a removal. */
  newest: number
  /** How many records have the datetime `newest`; undefined if not known. */
  atNewest: number | undefined
}

interface ResourcesOfThing {
  readonly byKey: Map<string, Resource>
  /** How many resources the thing has; undefined if they were not counted. */
  count: number | undefined
}

/** Maximum number of cached things and resources, counted together. */
const maximumCached = 200_000

/** The resources of all things: finds their numbers, and caches recently written resources. */
export class Resources {
  readonly #database: Database
  /** Cached resources by thing, least recently written thing first. */
  readonly #cache = new Map<string, ResourcesOfThing>()
  #cached = 0

  constructor(database: Database) {
    this.#database = database
  }

  cached(thingId: string, key: string): Resource | undefined {
    return this.#cache.get(thingId)?.byKey.get(key)
  }

  /**
   * Caches the resources of these writes.
   *
   * @returns how many resources each thing with new resources had before; things with no limit and no cached count are left out
   */
  async load(writes: readonly Append[]): Promise<Map<string, number>> {
    const missing = new Map<string, [thingId: string, key: string]>()
    const limited = new Set<string>()
    for (const { thingId, records, maximumResources } of writes) {
      for (const { key } of records) {
        if (this.cached(thingId, key)) continue
        missing.set(`${thingId} ${key}`, [thingId, key])
        if (maximumResources !== undefined) limited.add(thingId)
      }
    }
    const growing = new Map<string, number>()
    if (missing.size === 0) return growing
    const wanted = [...missing.values()]
    const numbers = await this.#database.level.getMany(
      wanted.map(([thingId, key]) => resourceKey(thingId, key)),
    )
    const loading = wanted.map(async ([thingId, key], index) => {
      const number = numbers[index]?.readUInt32BE(0)
      if (number === undefined) {
        growing.set(thingId, 0)
        return
      }
      const newest = (await newestRecord(this.#database, '', number))?.datetime ?? -1
      this.remember(thingId, key, { number, newest, atNewest: undefined })
    })
    await Promise.all(loading)
    const counting = [...growing.keys()].map(async thingId => {
      const known = this.#cache.get(thingId)?.count
      const count = known ?? (limited.has(thingId) ? await this.#count(thingId) : undefined)
      if (count === undefined) {
        growing.delete(thingId)
        return
      }
      growing.set(thingId, count)
      this.rememberCount(thingId, count)
    })
    await Promise.all(counting)
    return growing
  }

  remember(thingId: string, key: string, resource: Resource): void {
    const { byKey } = this.#ofThing(thingId)
    if (!byKey.has(key)) this.#cached++
    byKey.set(key, resource)
  }

  rememberCount(thingId: string, count: number): void {
    this.#ofThing(thingId).count = count
  }

  /** The cache entry of a thing, moved to the end as the most recently written. */
  #ofThing(thingId: string): ResourcesOfThing {
    const known = this.#cache.get(thingId)
    if (known) this.#cache.delete(thingId)
    else this.#cached++
    const ofThing = known ?? { byKey: new Map(), count: undefined }
    this.#cache.set(thingId, ofThing)
    return ofThing
  }

  /** Shrinks the cache to its limit. Must not be called while a group is loaded, since its resources must stay cached. */
  evict(): void {
    for (const oldest of this.#cache.keys()) {
      if (this.#cached <= maximumCached) return
      this.forgetThing(oldest)
    }
  }

  forget(thingId: string, key: string): void {
    const ofThing = this.#cache.get(thingId)
    if (!ofThing) return
    if (ofThing.byKey.delete(key)) this.#cached--
    if (ofThing.count !== undefined) ofThing.count--
  }

  forgetThing(thingId: string): void {
    const ofThing = this.#cache.get(thingId)
    if (ofThing && this.#cache.delete(thingId)) this.#cached -= ofThing.byKey.size + 1
  }

  /** The number of a resource; undefined if it has no records. */
  async find(thingId: string, key: string): Promise<number | undefined> {
    const cached = this.cached(thingId, key)
    if (cached) return cached.number
    return (await this.#database.level.get(resourceKey(thingId, key)))?.readUInt32BE(0)
  }

  /** Sorted ids of things that have resources: at most `limit` ids that sort after `after`. */
  async things({ after, limit }: { after?: string; limit: number }): Promise<string[]> {
    const { gte, lt } = keysOf(prefix.resource)
    const found: string[] = []
    const start = after === undefined ? gte : keysOf(prefix.resource, after).lt
    const cursor = new Cursor(this.#database, { gte: start, lt })
    try {
      for (let entry = await cursor.next(); entry; entry = await cursor.next()) {
        const thingId = thingInKey(entry[0])
        found.push(thingId)
        if (found.length === limit) break
        cursor.seek(keysOf(prefix.resource, thingId).lt)
      }
    } finally {
      await cursor.close()
    }
    return found
  }

  async names(thingId: string): Promise<string[]> {
    const names: string[] = []
    for await (const entries of scan(this.#database, keysOf(prefix.resource, thingId))) {
      for (const [key] of entries) names.push(secondName(key))
    }
    return names
  }

  async #count(thingId: string): Promise<number> {
    let count = 0
    for await (const entries of scan(this.#database, keysOf(prefix.resource, thingId))) {
      count += entries.length
    }
    return count
  }
}
