import { partitionPoint } from '../../../core/algorithms/partition-point.ts'
import { type AcceptedRecord, measurement } from '../../../core/record/record.ts'
import { type Chunk, firstDatetime, lastDatetime, partedAt } from '../chunks/chunk.ts'
import { dayLength, dayOf } from '../chunks/day-rollup.ts'
import type { ChunkDraft } from '../chunks/record-chunk.ts'
import { positionInRecordKey, recordKey } from '../keys.ts'
import type { Resource } from '../resources.ts'
import { mayBeStored, type Point, type Surroundings } from './resend-check.ts'
import type { Span } from './unpacked.ts'

/** A resource as it will be after the commit of the group that is being staged. */
export class StagedResource implements Resource {
  readonly number: number
  newest: number
  atNewest: number | undefined
  readonly #committed: Resource
  readonly #loaded: ReadonlyMap<number, Point> | undefined
  /** Points by datetime; created on demand, since records in time order need none. */
  #points: Map<number, Point> | undefined
  readonly #staged: AcceptedRecord[] = []

  added = 0
  /** Range of the datetimes of the late records that the group adds; undefined if there are none. */
  late: Span | undefined
  /** Starts of the days with a rollup that late records may make stale. */
  readonly staleDays = new Set<number>()
  /** The watermark before this group; undefined if there is none, or if no record of the group can be late. */
  readonly #watermark: Buffer | undefined

  /** A chunk with the newest records of the write that is being staged. More records may be added to it. */
  draft: ChunkDraft | undefined
  /** Chunks that a late record may split, in order. */
  readonly #chunks: Chunk[]
  /** The datetimes at which chunks are split. */
  readonly #cuts = new Map<Chunk, number[]>()

  /** @param surroundings stored content that was read for this group */
  constructor(committed: Resource, surroundings: Surroundings | undefined) {
    this.number = committed.number
    this.newest = committed.newest
    this.atNewest = committed.atNewest
    this.#committed = { ...committed }
    this.#loaded = surroundings?.points
    this.#watermark = surroundings?.watermark
    this.#chunks = surroundings?.chunks.map(({ chunk }) => chunk) ?? []
  }

  /** Whether the record may have been stored before this group. If so, the point of its datetime must be read. */
  mayBeStored(record: AcceptedRecord): boolean {
    return mayBeStored(record, this.#committed)
  }

  /** @returns how many records of the same datetime precede the record, and whether it is a resend of one of them (resend (a)) */
  look(record: AcceptedRecord): { count: number; isStored: boolean } {
    if (record.datetime > this.newest) return { count: 0, isStored: false }
    if (!record.explicit && record.datetime === this.newest && this.atNewest !== undefined) {
      return { count: this.atNewest, isStored: false }
    }
    const { count, measurements } = this.#point(record.datetime)
    return { count, isStored: record.explicit && measurements.has(measurement(record)) }
  }

  /** @param count result of `look` */
  add(record: AcceptedRecord, count: number): void {
    this.added++
    if (record.datetime >= this.newest) {
      this.newest = record.datetime
      this.atNewest = count + 1
    }
    if (this.#points) this.#addToPoint(record)
    else this.#staged.push(record)
  }

  /** Called when the group puts this chunk after all other chunks of the resource. */
  hold(chunk: Chunk): void {
    // A chunk with only one datetime cannot be split: a late record of that datetime sorts after the chunk's records.
    if (firstDatetime(chunk) < lastDatetime(chunk)) this.#chunks.push(chunk)
  }

  /** Called when the group puts a late record of this datetime, which may split a chunk. */
  part(datetime: number): void {
    const { from = datetime, to = datetime } = this.late ?? {}
    this.late = { from: Math.min(from, datetime), to: Math.max(to, datetime) }
    const day = dayOf(datetime)
    // Only finished days of resources with a watermark have a rollup.
    if (this.#watermark && day + dayLength <= this.newest) this.staleDays.add(day)
    const chunksUpTo = partitionPoint(this.#chunks, chunk => firstDatetime(chunk) <= datetime)
    const chunk = this.#chunks[chunksUpTo - 1]
    if (!chunk || lastDatetime(chunk) <= datetime) return
    const cuts = this.#cuts.get(chunk)
    if (cuts) cuts.push(datetime)
    else this.#cuts.set(chunk, [datetime])
  }

  /** The old and the new watermark; undefined unless a late record sorts before the old watermark. */
  get loweredWatermark(): { readonly from: Buffer; readonly to: Buffer } | undefined {
    if (!this.#watermark || !this.late) return undefined
    const { from } = this.late
    if (from >= positionInRecordKey(this.#watermark).datetime) return undefined
    return { from: this.#watermark, to: recordKey(this.number, from, 0, 0) }
  }

  /** Takes the parts of the chunks that were split since the last call. */
  takeParts(): Chunk[] {
    const parts = [...this.#cuts].flatMap(([chunk, datetimes]) => partedAt(chunk, datetimes))
    this.#cuts.clear()
    return parts
  }

  #point(datetime: number): Point {
    if (!this.#points) {
      this.#points = new Map()
      for (const record of this.#staged) this.#addToPoint(record)
    }
    const known = this.#points.get(datetime)
    if (known) return known
    const { newest, atNewest = 0 } = this.#committed
    const count = datetime === newest ? atNewest : 0
    const point = this.#loaded?.get(datetime) ?? { count, measurements: new Set() }
    this.#points.set(datetime, point)
    return point
  }

  #addToPoint(record: AcceptedRecord): void {
    const point = this.#point(record.datetime)
    point.count++
    point.measurements.add(measurement(record))
  }
}
