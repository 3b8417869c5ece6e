import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { dayLength, dayOf } from '../chunks/day-rollup.ts'
import { type EntryGroup, type Grouping, putGroups, readGroups } from '../chunks/entry-groups.ts'
import { putWatermark, readWatermark } from '../chunks/watermark.ts'
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
import type { Span, Unpacked } from '../staging/unpacked.ts'
import { rollupsOf } from './roll-up.ts'

export interface PackedSizes extends Grouping {
  /** A day gets a rollup if it has at least this many records. Fewer records are aggregated as fast as a rollup is read. */
  readonly fewestOfDay: number
}

export interface ResourceCompactorParts {
  readonly database: Database
  /** Implements `GroupCommit.between`: runs a task while no group is being committed. */
  readonly between: <T>(task: () => Promise<T>) => Promise<T>
  readonly unpacked: Unpacked
}

/** Decides when the next step may run. */
export interface Turns {
  /** @param worked duration of the last step in milliseconds, without waiting */
  rest(worked: number): Promise<void>
  /** Whether no further step may run. */
  isOver(): Promise<boolean>
}

interface Removed {
  readonly from: Buffer
  /** Record key, exclusive. */
  readonly to: Buffer
  readonly entries: number
}

/** How many entries before a change may be joined with the entries after the change. */
const neighbours = 3
/** Number of removed entries after which a resource's tables are compacted: `amidWork` during packing, `behindIt` afterwards. */
const compactedAtOnce = { amidWork: 100_000, behindIt: 16_384 }
/** Maximum number of resources for which removed entries are counted. */
const mostUncompacted = 10_000

/**
 * Packs the older entries of resources. A step is one atomic batch that puts chunks and removes the entries packed into them. The
 * batch is not synced, since the records are the same with or without it. No group is committed while the batch is written. The
 * batch is dropped if the resource has changed since its entries were read. Appends after all records do not count as changes.
 */
export class ResourceCompactor {
  readonly #parts: ResourceCompactorParts
  readonly #sizes: PackedSizes
  readonly #turns: Turns
  /** Duration of the current step in milliseconds, without waiting. */
  #worked = 0
  /** The entries removed from each resource since it was last compacted, by resource number. */
  readonly #uncompacted = new Map<number, Removed>()

  constructor(parts: ResourceCompactorParts, sizes: PackedSizes, turns: Turns) {
    this.#parts = parts
    this.#sizes = sizes
    this.#turns = turns
  }

  /** Packs a resource as far as that is worthwhile. Rejects if an entry is damaged or the database fails. */
  async packResource(resource: number): Promise<void> {
    const { database, unpacked } = this.#parts
    const watermark = await readWatermark(database, resource)
    const newest = await lastEntry(database, recordKeys(resource))
    if (!newest) return
    const before = unpacked.markBefore(resource) ?? watermark ?? recordKey(resource, 0, 0, 0)
    // After a removal, the last entry may be before the watermark.
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

  /** Packs entries around a change. @param packed record key up to which the resource is packed @returns false if interrupted */
  async #packSpan(resource: number, { from, to }: Span, packed: Buffer): Promise<boolean> {
    const range = { gte: await this.#inFrontOf(recordKey(resource, from, 0, 0)), lt: packed }
    if (Buffer.compare(range.gte, range.lt) >= 0) return true
    const grouping = { ...this.#sizes, newest: 0, least: 2 }
    return await this.#packRange(resource, range, grouping, recordKeys(resource, undefined, to).lt)
  }

  /** Goes back `neighbours` entries from a record key, since these entries may be joined with the entries after them. */
  async #inFrontOf(name: Buffer): Promise<Buffer> {
    const range = { gte: recordKeys(resourceInRecordKey(name)).gte, lt: name }
    if (Buffer.compare(range.gte, range.lt) >= 0) return name
    const entries = await firstEntries(this.#parts.database, range, { limit: neighbours, reverse: true })
    return entries.at(-1)?.[0] ?? name
  }

  /**
   * @param until record key after which to stop; if undefined, packs the rest of the resource and puts its watermark
   * @param watermark the stored watermark
   * @returns whether packing finished: false if it was interrupted
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
      // The resource may have been removed meanwhile.
      if (!next) return true
      const rollups =
        until === undefined
          ? await this.#rollups(resource, datetimeInRecordKey(from), datetimeInRecordKey(next))
          : []
      this.#worked = performance.now() - begin
      const isBehind = until !== undefined && Buffer.compare(next, until) > 0
      const isLast = isAtEnd || isBehind || next.equals(from)
      const reached = until === undefined ? next : undefined
      // A resource that one read covers needs no watermark.
      const isMarkToPut = isLast && reached && (watermark ? !watermark.equals(reached) : from !== gte)
      const isToPut = groups.length > 0 || rollups.length > 0 || isMarkToPut
      if (isToPut && !(await this.#put(resource, groups, rollups, reached))) {
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

  /** Recreates the rollups of the changed days. @param packed as in `#packSpan` @returns false if interrupted */
  async #rollUpSpan(resource: number, { from, to }: Span, packed: Buffer): Promise<boolean> {
    const { unpacked } = this.#parts
    unpacked.watch(resource)
    const end = Math.min(dayOf(to) + dayLength, datetimeInRecordKey(packed))
    const rollups = await this.#rollups(resource, from, end)
    if (rollups.length === 0 || (await this.#put(resource, [], rollups))) return true
    unpacked.putBack(resource)
    return false
  }

  /** The missing rollups of all days from the day that contains `from` to the last day that ends by `to` (both milliseconds). */
  async #rollups(resource: number, from: number, to: number): Promise<Entry[]> {
    const rollups: Entry[] = []
    const { fewestOfDay } = this.#sizes
    const missing = rollupsOf(this.#parts.database, resource, dayOf(from), to, fewestOfDay)
    for await (const each of missing) rollups.push(each)
    return rollups
  }

  /** Writes a step. @param reached new watermark @returns false if nothing was written, for example because the resource changed */
  async #put(
    resource: number,
    groups: readonly EntryGroup[],
    rollups: readonly Entry[],
    reached?: Buffer,
  ): Promise<boolean> {
    const { database, between, unpacked } = this.#parts
    const batch = database.batch()
    try {
      for (const rollup of rollups) batch.put(...rollup)
      let begin = performance.now()
      for (const _ of putGroups(batch, groups)) {
        this.#worked += performance.now() - begin
        await nextTurn()
        begin = performance.now()
      }
      return await between(async () => {
        // On a full disk this write would use up the reserve.
        if ((await this.#turns.isOver()) || unpacked.isChanged) return false
        begin = performance.now()
        if (reached && unpacked.pack(resource, reached)) putWatermark(batch, reached)
        if (batch.length > 0) await database.write(batch, { sync: false })
        this.#worked += performance.now() - begin
        return true
      })
    } finally {
      await batch.close()
    }
  }

  /**
   * Compacts the tables of one resource. Called when nothing is left to pack. LevelDB frees the space of removed entries only
   * when it compacts their tables, which it seldom does if little is written.
   *
   * @returns whether a resource was compacted
   */
  async compactNext(): Promise<boolean> {
    for (const [resource, { entries }] of this.#uncompacted) {
      if (entries < compactedAtOnce.behindIt) continue
      // Compaction needs space: new tables are written before the old ones are removed.
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
    // With this many resources there are enough writes for LevelDB to compact by itself.
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
