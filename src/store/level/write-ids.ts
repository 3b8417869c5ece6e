import type { WriteAnswer } from '../contract.ts'
import { digestOf, rememberedFor, rememberedIds } from '../resend.ts'
import type { Database } from './database/database.ts'
import { lastEntry, scan } from './database/scan.ts'
import { keysOf, ordinalInKey, ordinalKey, prefix, writeIdKey } from './keys.ts'

/** Number of new ids of a thing after which its expired ids are removed from disk. */
const trimEvery = 256

/** A write with an id. */
export interface KnownWrite {
  /** Place of the id in the order of the thing's ids, from 1. */
  readonly ordinal: number
  readonly receivedAt: number
  readonly answer: WriteAnswer
}

/** Write ids of all things. Each id has two keys: one to find the id, one for the order of the ids. */
export class WriteIds {
  readonly #database: Database
  /** Ordinal of each thing's newest id. */
  readonly #newest = new Map<string, number>()

  constructor(database: Database) {
    this.#database = database
  }

  /** The write with the id, if it is still remembered at `now` (milliseconds). Must be called before `stage`. */
  async find(thingId: string, id: string, now: number): Promise<KnownWrite | undefined> {
    const [bytes, newest] = await Promise.all([
      this.#database.level.get(writeIdKey(thingId, digestOf(id))),
      this.#newestOrdinal(thingId),
    ])
    if (!bytes) return undefined
    const known = JSON.parse(bytes.toString()) as KnownWrite
    const isForgotten = known.ordinal <= newest - rememberedIds || known.receivedAt < now - rememberedFor
    return isForgotten ? undefined : known
  }

  /** @returns `put`: the entries to put for a new id; `known`: the write with this id; `isTrimDue`: whether to call `trim` */
  stage(thingId: string, id: string, receivedAt: number, answer: WriteAnswer) {
    const ordinal = (this.#newest.get(thingId) ?? 0) + 1
    this.#newest.set(thingId, ordinal)
    const known: KnownWrite = { ordinal, receivedAt, answer }
    const put: [Buffer, Buffer][] = [
      [writeIdKey(thingId, digestOf(id)), Buffer.from(JSON.stringify(known))],
      [ordinalKey(prefix.writeIdOrder, thingId, ordinal), digestOf(id)],
    ]
    return { put, known, isTrimDue: ordinal > rememberedIds && ordinal % trimEvery === 0 }
  }

  /** Removes the ids of a thing that are no longer remembered. */
  async trim(thingId: string): Promise<void> {
    const last = (await this.#newestOrdinal(thingId)) - rememberedIds
    const { gte } = keysOf(prefix.writeIdOrder, thingId)
    const range = { gte, lt: ordinalKey(prefix.writeIdOrder, thingId, last + 1) }
    const batch = this.#database.batch()
    for await (const order of scan(this.#database, range)) {
      const idKeys = order.map(([, digestOfId]) => writeIdKey(thingId, digestOfId))
      const known = await this.#database.level.getMany(idKeys)
      for (const [index, [orderKey]] of order.entries()) {
        batch.del(orderKey)
        const [idKey, bytes] = [idKeys[index], known[index]]
        // Keeps an id that was used again after this entry was written: its ordinal is newer.
        if (idKey && bytes && (JSON.parse(bytes.toString()) as KnownWrite).ordinal === ordinalInKey(orderKey))
          batch.del(idKey)
      }
    }
    await this.#database.write(batch, { sync: false })
  }

  forgetThing(thingId: string): void {
    this.#newest.delete(thingId)
  }

  async #newestOrdinal(thingId: string): Promise<number> {
    const cached = this.#newest.get(thingId)
    if (cached !== undefined) return cached
    const stored = await lastEntry(this.#database, keysOf(prefix.writeIdOrder, thingId))
    const newest = Math.max(stored ? ordinalInKey(stored[0]) : 0, this.#newest.get(thingId) ?? 0)
    this.#newest.set(thingId, newest)
    return newest
  }
}
