import type { RefusedWrite, RefusedWrites } from '../contract.ts'
import type { Database } from './database.ts'
import { ordinalInKey, refusedKey, refusedKeys } from './keys.ts'
import { firstEntries, lastEntry } from './scan.ts'

/** How many refused writes of a thing are kept (contract §6). */
const kept = 100

/** Refused writes: not waited for on the disk, since a refusal is no promise. */
export class LevelRefusedWrites implements RefusedWrites {
  readonly #database: Database
  /** Ordinal of each thing's newest refused write, as far as it is known. */
  readonly #newest = new Map<string, number>()
  readonly #loading = new Map<string, Promise<void>>()

  constructor(database: Database) {
    this.#database = database
  }

  add(thingId: string, refused: RefusedWrite): Promise<void> {
    return this.#database.use(() => this.#add(thingId, refused))
  }

  async #add(thingId: string, refused: RefusedWrite): Promise<void> {
    if (!this.#newest.has(thingId)) await this.#load(thingId)
    const ordinal = (this.#newest.get(thingId) ?? 0) + 1
    this.#newest.set(thingId, ordinal)
    const batch = this.#database.batch()
    batch.put(refusedKey(thingId, ordinal), Buffer.from(JSON.stringify(refused)))
    if (ordinal > kept) batch.del(refusedKey(thingId, ordinal - kept))
    await this.#database.write(batch, { sync: false })
  }

  async list(thingId: string, limit: number): Promise<readonly RefusedWrite[]> {
    const options = { limit: Math.min(limit, kept), reverse: true }
    const newest = await this.#database.use(() => firstEntries(this.#database, refusedKeys(thingId), options))
    return newest.map(([, bytes]) => JSON.parse(bytes.toString()) as RefusedWrite)
  }

  forgetThing(thingId: string): void {
    this.#newest.delete(thingId)
  }

  /** Shared by all who wait for it, so that they go on in the order in which they came. */
  #load(thingId: string): Promise<void> {
    const underWay = this.#loading.get(thingId)
    if (underWay) return underWay
    const loading = this.#newestStored(thingId)
      .then(newest => void this.#newest.set(thingId, newest))
      .finally(() => this.#loading.delete(thingId))
    this.#loading.set(thingId, loading)
    return loading
  }

  async #newestStored(thingId: string): Promise<number> {
    const newest = await lastEntry(this.#database, refusedKeys(thingId))
    return newest ? ordinalInKey(newest[0]) : 0
  }
}
