import { keptRefusals } from '../../core/refusals/refused-write.ts'
import type { RefusedWrite, RefusedWrites } from '../contract.ts'
import type { Database } from './database/database.ts'
import { firstEntries, lastEntry } from './database/scan.ts'
import { keysOf, ordinalInKey, ordinalKey, prefix } from './keys.ts'
import { RecentRefusals } from './recent-refusals.ts'

/** Refused writes: not waited for on the disk, since a refusal is no promise, and not put where it is short of room. */
export class LevelRefusedWrites implements RefusedWrites {
  readonly #database: Database
  readonly #isShort: () => boolean
  readonly #recent = new RecentRefusals()
  /** Ordinal of each thing's newest refused write, as far as it is known. */
  readonly #newest = new Map<string, number>()
  readonly #loading = new Map<string, Promise<void>>()

  /** @param isShort whether there is too little free disk for what nobody asked for */
  constructor(database: Database, isShort: () => boolean) {
    this.#database = database
    this.#isShort = isShort
  }

  add(thingId: string, refused: RefusedWrite): Promise<void> {
    return this.#database.use(() => this.#add(thingId, refused))
  }

  async #add(thingId: string, refused: RefusedWrite): Promise<void> {
    if (!this.#newest.has(thingId)) await this.#load(thingId)
    const newest = this.#newest.get(thingId) ?? 0
    if (this.#isShort()) {
      this.#recent.add(thingId, { behind: newest, refused })
      return
    }
    const ordinal = newest + 1
    this.#newest.set(thingId, ordinal)
    const batch = this.#database.batch()
    batch.put(ordinalKey(prefix.refused, thingId, ordinal), Buffer.from(JSON.stringify(refused)))
    if (ordinal > keptRefusals) batch.del(ordinalKey(prefix.refused, thingId, ordinal - keptRefusals))
    await this.#database.write(batch, { sync: false })
  }

  async list(thingId: string, limit: number): Promise<readonly RefusedWrite[]> {
    const most = Math.min(limit, keptRefusals)
    const options = { limit: most, reverse: true }
    const stored = await this.#database.read(() =>
      firstEntries(this.#database, keysOf(prefix.refused, thingId), options),
    )
    const recent = this.#recent.of(thingId).map(({ behind, refused }) => ({ ordinal: behind, refused }))
    const all = stored.map(([key, bytes]) => ({
      ordinal: ordinalInKey(key),
      refused: JSON.parse(bytes.toString()) as RefusedWrite,
    }))
    // Of one ordinal, those in memory came later; the sort leaves their order.
    return [...recent.reverse(), ...all]
      .sort((one, other) => other.ordinal - one.ordinal)
      .slice(0, most)
      .map(({ refused }) => refused)
  }

  forgetThing(thingId: string): void {
    this.#newest.delete(thingId)
    this.#recent.forgetThing(thingId)
  }

  /** Shared by all who wait for it, so that they go on in the order in which they came. */
  #load(thingId: string): Promise<void> {
    const underWay = this.#loading.get(thingId)
    if (underWay) return underWay
    const loading = lastEntry(this.#database, keysOf(prefix.refused, thingId))
      .then(newest => void this.#newest.set(thingId, newest ? ordinalInKey(newest[0]) : 0))
      .finally(() => this.#loading.delete(thingId))
    this.#loading.set(thingId, loading)
    return loading
  }
}
