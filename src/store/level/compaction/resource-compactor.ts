import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type EntryGroup, type Grouping, putGroups, readGroups } from '../chunks/entry-groups.ts'
import type { Database } from '../database/database.ts'
import { type Entry, firstEntries, lastEntry } from '../database/scan.ts'
import {
  datetimeInRecordKey,
  type KeyRange,
  lastRecordKey,
  recordKey,
  recordKeys,
  resourceInRecordKey,
} from '../keys.ts'
import { dayLength, dayOf } from '../rollups/days.ts'
import { rollupsOf } from '../rollups/roll-up.ts'
import type { Span, Unpacked } from './unpacked.ts'
import { putWatermark, readWatermark } from './watermark.ts'

/** What is packed. */
export interface PackedSizes extends Grouping {
  /** So many records make a day worth a rollup: those of fewer are folded as quickly as it is read. */
  readonly fewestOfDay: number
}

export interface ResourceCompactorParts {
  readonly database: Database
  /** Runs a task while nothing is committed, as `GroupCommit.between`. */
  readonly between: <T>(task: () => Promise<T>) => Promise<T>
  readonly unpacked: Unpacked
}

/** Who says when the next step may be taken. */
export interface Turns {
  /** @param worked milliseconds of the step before in which it did not only wait for its turn */
  rest(worked: number): Promise<void>
  /** Whether no step may follow. */
  isOver(): Promise<boolean>
}

/** What is written in one batch. */
interface Step {
  readonly groups: readonly EntryGroup[]
  readonly rollups: readonly Entry[]
  /** Record key up to which the resource is packed then. */
  readonly reached: Buffer | undefined
}

interface Removed {
  readonly from: Buffer
  /** Exclusive. */
  readonly to: Buffer
  readonly entries: number
}

/** Entries in front of a change that may be joined with what it left. */
const neighbours = 3
/**
 * What so many removed entries have left on the disk is worth the tables that are written anew without it: while there is more
 * to pack, and when there is not. Who reads the newest records passes over it.
 */
const compactedAtOnce = { amidWork: 100_000, behindIt: 16_384 }
/** Resources of which that is counted. */
const mostUncompacted = 10_000

/**
 * Makes packed chunks of entries that are not the newest of their resource. A step is one batch: a chunk is put and the entries
 * that it is made of are removed, or nothing is. It is not waited for on the disk: either is right. What it read still holds
 * when it is written, since then nothing is committed, and nothing but additions behind it was since.
 */
export class ResourceCompactor {
  readonly #parts: ResourceCompactorParts
  readonly #sizes: PackedSizes
  readonly #turns: Turns
  /** As of `Turns.rest`, of the step under way. */
  #worked = 0
  /** By resource: what was removed since it was compacted. */
  readonly #uncompacted = new Map<number, Removed>()

  constructor(parts: ResourceCompactorParts, sizes: PackedSizes, turns: Turns) {
    this.#parts = parts
    this.#sizes = sizes
    this.#turns = turns
  }

  /**
   * Packs what has become worth it since the resource was looked at. Rejects if an entry is damaged, or the database fails.
   */
  async packResource(resource: number): Promise<void> {
    const { database, unpacked } = this.#parts
    const watermark = await readWatermark(database, resource)
    const newest = await lastEntry(database, recordKeys(resource))
    if (!newest) return
    const before = unpacked.markBefore(resource) ?? watermark ?? recordKey(resource, 0, 0, 0)
    // What was removed may have been the last in front of it.
    const packed = Buffer.compare(newest[0], before) < 0 ? newest[0] : before
    const spans = [...unpacked.takeSpans(resource)]
    try {
      for (let span = spans[0]; span; span = spans[0]) {
        if (!(await this.#packSpan(resource, span, packed))) return
        if (!(await this.#rollUpSpan(resource, span, packed))) return
        spans.shift()
      }
    } finally {
      if (spans.length > 0) unpacked.putSpansBack(resource, spans)
    }
    const range = { gte: await this.#inFrontOf(packed), lt: lastRecordKey(resource) }
    await this.#packRange(resource, range, this.#sizes, undefined, watermark)
  }

  /** Joins what a change has left. @param packed how far the resource was packed before @returns whether it was looked at */
  async #packSpan(resource: number, { from, to }: Span, packed: Buffer): Promise<boolean> {
    const range = { gte: await this.#inFrontOf(recordKey(resource, from, 0, 0)), lt: packed }
    if (Buffer.compare(range.gte, range.lt) >= 0) return true
    const grouping = { ...this.#sizes, newest: 0, least: 2 }
    return await this.#packRange(resource, range, grouping, recordKeys(resource, undefined, to).lt)
  }

  /** Some entries in front of a record key: what stands there may be joined with what comes. */
  async #inFrontOf(name: Buffer): Promise<Buffer> {
    const range = { gte: recordKeys(resourceInRecordKey(name)).gte, lt: name }
    if (Buffer.compare(range.gte, range.lt) >= 0) return name
    const entries = await firstEntries(this.#parts.database, range, { limit: neighbours, reverse: true })
    return entries.at(-1)?.[0] ?? name
  }

  /**
   * @param until record key behind which there is nothing more to do; undefined: the resource is packed up to where this ends
   * @param watermark of the resource as it is stored
   * @returns whether it came to the end
   */
  async #packRange(
    resource: number,
    { gte, lt }: KeyRange,
    grouping: Grouping,
    until?: Buffer,
    watermark?: Buffer,
  ): Promise<boolean> {
    const { database, unpacked } = this.#parts
    for (let from = gte; ; ) {
      const begin = performance.now()
      unpacked.watch(resource)
      const { groups, next, isAtEnd } = await readGroups(database, { gte: from, lt }, grouping)
      // The resource may have gone since it was found.
      if (!next) return true
      const rollups =
        until === undefined
          ? await this.#rollups(resource, datetimeInRecordKey(from), datetimeInRecordKey(next))
          : []
      this.#worked = performance.now() - begin
      const isBehind = until !== undefined && Buffer.compare(next, until) > 0
      const isLast = isAtEnd || isBehind || next.equals(from)
      const reached = until === undefined ? next : undefined
      // A resource with few records needs no watermark.
      const isMarkToPut = isLast && reached && (watermark ? !watermark.equals(reached) : from !== gte)
      const isToPut = groups.length > 0 || rollups.length > 0 || isMarkToPut
      if (isToPut && !(await this.#put(resource, { groups, rollups, reached }))) {
        unpacked.putBack(resource)
        return false
      }
      await this.#noteRemoved(resource, groups, next)
      await this.#turns.rest(this.#worked)
      if (isLast) return true
      if (await this.#turns.isOver()) {
        unpacked.putBack(resource)
        return false
      }
      from = next
    }
  }

  /** Rolls up again the days that a change has touched. @param packed as of `packSpan` @returns whether that was done */
  async #rollUpSpan(resource: number, { from, to }: Span, packed: Buffer): Promise<boolean> {
    const { unpacked } = this.#parts
    unpacked.watch(resource)
    const end = Math.min(dayOf(to) + dayLength, datetimeInRecordKey(packed))
    const rollups = await this.#rollups(resource, from, end)
    if (rollups.length === 0 || (await this.#put(resource, { groups: [], rollups, reached: undefined })))
      return true
    unpacked.putBack(resource)
    return false
  }

  /** Those that are missing, of days that are over in front of `to`. @param from, to milliseconds */
  async #rollups(resource: number, from: number, to: number): Promise<Entry[]> {
    const rollups: Entry[] = []
    const { fewestOfDay } = this.#sizes
    const missing = rollupsOf(this.#parts.database, resource, dayOf(from), to, fewestOfDay)
    for await (const each of missing) rollups.push(each)
    return rollups
  }

  /** @returns whether what was read still held; otherwise nothing is put */
  async #put(resource: number, { groups, rollups, reached }: Step): Promise<boolean> {
    const { database, between, unpacked } = this.#parts
    const batch = database.batch()
    try {
      for (const rollup of rollups) batch.put(...rollup)
      for (const _ of this.#timed(putGroups(batch, groups))) await nextTurn()
      return await between(async () => {
        // A full disk: this would be written with the reserve.
        if ((await this.#turns.isOver()) || unpacked.isChanged) return false
        const begin = performance.now()
        if (reached && unpacked.pack(resource, reached)) putWatermark(batch, reached)
        if (batch.length > 0) await database.write(batch, { sync: false })
        this.#worked += performance.now() - begin
        return true
      })
    } finally {
      await batch.close()
    }
  }

  *#timed(work: Iterable<void>): Generator<void> {
    let begin = performance.now()
    for (const _ of work) {
      this.#worked += performance.now() - begin
      yield
      begin = performance.now()
    }
  }

  /**
   * LevelDB gives the space of what was removed back when it happens upon it, where few are written late or never. When nothing
   * is left to pack, this asks it to, for one resource.
   *
   * @returns whether there was something, so that there may be more
   */
  async compactNext(): Promise<boolean> {
    for (const [resource, { entries }] of this.#uncompacted) {
      if (entries < compactedAtOnce.behindIt) continue
      // New tables take room before old ones give it back.
      if (await this.#turns.isOver()) return false
      const begin = performance.now()
      await this.#compact(resource)
      await this.#turns.rest(performance.now() - begin)
      return true
    }
    return false
  }

  async #noteRemoved(resource: number, groups: readonly EntryGroup[], to: Buffer): Promise<void> {
    const [first] = groups
    if (!first) return
    const { from, entries } = this.#uncompacted.get(resource) ?? { from: first[0][0], entries: 0 }
    // Of very many resources LevelDB happens upon what was removed all the sooner.
    if (this.#uncompacted.size >= mostUncompacted) this.#uncompacted.clear()
    const removed = groups.reduce((sum, { length }) => sum + length - 1, entries)
    this.#uncompacted.set(resource, { from, to, entries: removed })
    if (removed >= compactedAtOnce.amidWork) await this.#compact(resource)
  }

  async #compact(resource: number): Promise<void> {
    const removed = this.#uncompacted.get(resource)
    this.#uncompacted.delete(resource)
    if (removed) await this.#parts.database.level.compactRange(removed.from, removed.to)
  }
}
