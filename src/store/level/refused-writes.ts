import { keptRefusals } from '../../core/refusals/refused-write.ts'
import type { RefusedWrite, RefusedWrites } from '../contract.ts'
import type { Database } from './database/database.ts'
import { firstEntries, lastEntry } from './database/scan.ts'
import { keysOf, ordinalInKey, ordinalKey, prefix } from './keys.ts'

/** Refused writes are not synced, since they need not survive a crash. Those that cannot be put on disk are kept in memory. */
export class LevelRefusedWrites implements RefusedWrites {
  readonly #database: Database
  readonly #isShort: () => boolean
  readonly #recent = new RecentRefusals()
  /** Ordinal of each thing's newest refused write, for things whose ordinal was loaded. */
  readonly #newest = new Map<string, number>()
  readonly #loading = new Map<string, Promise<void>>()

  /** @param isShort whether there is too little free disk space for refused writes */
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
    try {
      const key = ordinalKey(prefix.refused, thingId, ordinal)
      const batch = this.#database.batch()
      batch.put(key, Buffer.from(JSON.stringify(refused)))
      if (ordinal > keptRefusals) batch.del(ordinalKey(prefix.refused, thingId, ordinal - keptRefusals))
      await this.#database.write(batch, { sync: false }, { added: [key], before: [] })
    } catch {
      // Another program may have filled the disk since `isShort` was last updated.
      this.#recent.add(thingId, { behind: ordinal, refused })
    }
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
    // Puts `recent` first: at equal ordinals, a refusal in memory is the newer one, and the stable sort keeps it first.
    return [...recent.reverse(), ...all]
      .sort((one, other) => other.ordinal - one.ordinal)
      .slice(0, most)
      .map(({ refused }) => refused)
  }

  forgetThing(thingId: string): void {
    this.#newest.delete(thingId)
    this.#recent.forgetThing(thingId)
  }

  /** Loads the thing's newest ordinal. Concurrent calls share one read, and so continue in the order of the calls. */
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

/** A refused write that is kept only in memory. */
interface RecentRefusal {
  /** The thing's last used ordinal when this refused write was added. */
  readonly behind: number
  readonly refused: RefusedWrite
}

/** Maximum number of refused writes in memory, of all things together; each takes a few hundred bytes. */
const mostOfAll = 2_000

/** Refused writes that are not on disk. They are lost when the process ends, and the oldest may be dropped earlier. */
class RecentRefusals {
  readonly #ofThings = new Map<string, RecentRefusal[]>()
  #count = 0

  add(thingId: string, refusal: RecentRefusal): void {
    const ofThing = this.#ofThings.get(thingId) ?? []
    // Moves the thing to the end. Over the limit, the first thing, the longest without a new refusal, loses its oldest.
    this.#ofThings.delete(thingId)
    this.#ofThings.set(thingId, ofThing)
    ofThing.push(refusal)
    this.#count++
    if (ofThing.length > keptRefusals) this.#dropOldest(thingId, ofThing)
    while (this.#count > mostOfAll) {
      for (const [oldest, refusals] of this.#ofThings) {
        this.#dropOldest(oldest, refusals)
        break
      }
    }
  }

  /** The refused writes of a thing, oldest first. */
  of(thingId: string): readonly RecentRefusal[] {
    return this.#ofThings.get(thingId) ?? []
  }

  forgetThing(thingId: string): void {
    this.#count -= this.of(thingId).length
    this.#ofThings.delete(thingId)
  }

  #dropOldest(thingId: string, refusals: RecentRefusal[]): void {
    refusals.shift()
    this.#count--
    if (refusals.length === 0) this.#ofThings.delete(thingId)
  }
}
