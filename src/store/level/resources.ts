import type { Append } from '../contract.ts'
import type { Database } from './database.ts'
import { nameInResourceKey, positionInRecordKey, recordKeys, resourceKey, resourceKeys } from './keys.ts'

/** What appending needs to know of a resource. */
export interface Resource {
  /** Stands for thing and key in record keys; never reused. */
  readonly number: number
  /** Datetime of the newest record, milliseconds; -1 if there is none. May be higher after a removal. */
  newest: number
  /** How many records have that datetime; undefined: not known. */
  atNewest: number | undefined
}

const maximumCached = 200_000

/** The resources of all things: a number for each, and the newest datetime of those lately written. */
export class Resources {
  readonly #database: Database
  /** By thing, least recently written first, then by key. */
  readonly #cache = new Map<string, Map<string, Resource>>()
  #cached = 0

  constructor(database: Database) {
    this.#database = database
  }

  /** The resource if it is cached; makes no read. */
  cached(thingId: string, key: string): Resource | undefined {
    return this.#cache.get(thingId)?.get(key)
  }

  /** Caches the resources of these writes; those that do not exist yet are left out. */
  async load(writes: readonly Append[]): Promise<void> {
    const missing = new Map<string, [thingId: string, key: string]>()
    for (const { thingId, records } of writes) {
      for (const { key } of records) {
        if (!this.cached(thingId, key)) missing.set(`${thingId} ${key}`, [thingId, key])
      }
    }
    if (missing.size === 0) return
    const wanted = [...missing.values()]
    const numbers = await this.#database.level.getMany(
      wanted.map(([thingId, key]) => resourceKey(thingId, key)),
    )
    const loading = wanted.map(async ([thingId, key], index) => {
      const number = numbers[index]?.readUInt32BE(0)
      if (number === undefined) return
      this.remember(thingId, key, { number, newest: await this.#newest(number), atNewest: undefined })
    })
    await Promise.all(loading)
  }

  remember(thingId: string, key: string, resource: Resource): void {
    const ofThing = this.#cache.get(thingId) ?? new Map<string, Resource>()
    this.#cache.delete(thingId)
    this.#cache.set(thingId, ofThing)
    if (!ofThing.has(key)) this.#cached++
    ofThing.set(key, resource)
  }

  /** Keeps the cache in its bounds. Not while a group is staged: what it has loaded must stay. */
  evict(): void {
    for (const oldest of this.#cache.keys()) {
      if (this.#cached <= maximumCached) return
      this.forgetThing(oldest)
    }
  }

  forget(thingId: string, key: string): void {
    if (this.#cache.get(thingId)?.delete(key)) this.#cached--
  }

  forgetThing(thingId: string): void {
    this.#cached -= this.#cache.get(thingId)?.size ?? 0
    this.#cache.delete(thingId)
  }

  /** The number of a resource, or undefined if nothing is stored under the key. */
  async find(thingId: string, key: string): Promise<number | undefined> {
    const cached = this.cached(thingId, key)
    if (cached) return cached.number
    return (await this.#database.level.get(resourceKey(thingId, key)))?.readUInt32BE(0)
  }

  async names(thingId: string): Promise<string[]> {
    const keys = await this.#database.level.keys(resourceKeys(thingId)).all()
    return keys.map(key => nameInResourceKey(key, thingId))
  }

  async #newest(resource: number): Promise<number> {
    const [key] = await this.#database.level.keys({ ...recordKeys(resource), reverse: true, limit: 1 }).all()
    return key ? positionInRecordKey(key).datetime : -1
  }
}
