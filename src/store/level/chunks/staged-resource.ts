import { partitionPoint } from '../../../core/algorithms/partition-point.ts'
import { type AcceptedRecord, measurement } from '../../../core/record/record.ts'
import type { Span } from '../compaction/unpacked.ts'
import { positionInRecordKey, recordKey } from '../keys.ts'
import type { Resource } from '../resources.ts'
import { dayLength, dayOf } from '../rollups/days.ts'
import { type Chunk, firstDatetime, lastDatetime, partedAt } from './chunk.ts'
import type { ChunkDraft } from './record-chunk.ts'
import { mayBeStored, type Point, type Surroundings } from './resend-check.ts'

/** A resource as it will be once the group that is being put together is committed. */
export class StagedResource implements Resource {
  readonly number: number
  newest: number
  atNewest: number | undefined
  readonly #committed: Resource
  readonly #loaded: ReadonlyMap<number, Point> | undefined
  /** By datetime; made when a record needs it, since records in time order do not. */
  #points: Map<number, Point> | undefined
  readonly #staged: AcceptedRecord[] = []

  /** How many records the group adds. */
  added = 0
  /** Datetimes of those among them that do not stand behind all others. */
  late: Span | undefined
  /** Begins of the days of which they may take a rollup. */
  readonly staleDays = new Set<number>()
  /** How far the resource was packed before; known if a record may be late. */
  readonly #watermark: Buffer | undefined

  /** Of the write that is being staged: its newest records, while more may come. */
  draft: ChunkDraft | undefined
  /** Between whose records one may come to stand, in order. */
  readonly #chunks: Chunk[]
  /** The datetimes at which chunks are parted. */
  readonly #cuts = new Map<Chunk, number[]>()

  /** @param surroundings what was read of the resource for this group */
  constructor(committed: Resource, surroundings: Surroundings | undefined) {
    this.number = committed.number
    this.newest = committed.newest
    this.atNewest = committed.atNewest
    this.#committed = { ...committed }
    this.#loaded = surroundings?.points
    this.#watermark = surroundings?.watermark
    this.#chunks = surroundings?.chunks.map(({ chunk }) => chunk) ?? []
  }

  /** Whether the record may have been stored before this group, so that points have to be read. */
  mayBeStored(record: AcceptedRecord): boolean {
    return mayBeStored(record, this.#committed)
  }

  /**
   * How many records of its datetime come before this one, and whether it is one of them (resend (a)): those of its own
   * write count, too.
   */
  look(record: AcceptedRecord): { count: number; isStored: boolean } {
    if (record.datetime > this.newest) return { count: 0, isStored: false }
    if (!record.explicit && record.datetime === this.newest && this.atNewest !== undefined) {
      return { count: this.atNewest, isStored: false }
    }
    const { count, measurements } = this.#point(record.datetime)
    return { count, isStored: record.explicit && measurements.has(measurement(record)) }
  }

  /** Adds a record; `count` is what `look` said. */
  add(record: AcceptedRecord, count: number): void {
    this.added++
    if (record.datetime >= this.newest) {
      this.newest = record.datetime
      this.atNewest = count + 1
    }
    if (this.#points) this.#addToPoint(record)
    else this.#staged.push(record)
  }

  /** That the group puts this chunk, behind all others. */
  hold(chunk: Chunk): void {
    // Between records of one datetime none can come to stand.
    if (firstDatetime(chunk) < lastDatetime(chunk)) this.#chunks.push(chunk)
  }

  /** That a record of this datetime is put, which may stand between those of a chunk. */
  part(datetime: number): void {
    const { from = datetime, to = datetime } = this.late ?? {}
    this.late = { from: Math.min(from, datetime), to: Math.max(to, datetime) }
    const day = dayOf(datetime)
    // Only days that are over have one, and only resources that have a watermark.
    if (this.#watermark && day + dayLength <= this.newest) this.staleDays.add(day)
    const chunk = this.#chunks[this.#indexBehind(datetime) - 1]
    if (!chunk || lastDatetime(chunk) <= datetime) return
    const cuts = this.#cuts.get(chunk)
    if (cuts) cuts.push(datetime)
    else this.#cuts.set(chunk, [datetime])
  }

  /** The watermark as it was and as it is to be, if late records change something in front of it. */
  get loweredWatermark(): { readonly from: Buffer; readonly to: Buffer } | undefined {
    if (!this.#watermark || !this.late) return undefined
    const { from } = this.late
    if (from >= positionInRecordKey(this.#watermark).datetime) return undefined
    return { from: this.#watermark, to: recordKey(this.number, from, 0, 0) }
  }

  /** What is to be put in place of the chunks that were parted since the last call: once, however many records have parted one. */
  takeParts(): Chunk[] {
    const parts = [...this.#cuts].flatMap(([chunk, datetimes]) => partedAt(chunk, datetimes))
    this.#cuts.clear()
    return parts
  }

  /** How many of the chunks begin at this datetime or before. */
  #indexBehind(datetime: number): number {
    return partitionPoint(this.#chunks, chunk => firstDatetime(chunk) <= datetime)
  }

  #point(datetime: number): Point {
    if (!this.#points) {
      this.#points = new Map()
      for (const record of this.#staged) this.#addToPoint(record)
    }
    const known = this.#points.get(datetime)
    if (known) return known
    const point = this.#loaded?.get(datetime) ?? {
      count: this.#committedCount(datetime),
      measurements: new Set(),
    }
    this.#points.set(datetime, point)
    return point
  }

  #committedCount(datetime: number): number {
    return datetime === this.#committed.newest ? (this.#committed.atNewest ?? 0) : 0
  }

  #addToPoint(record: AcceptedRecord): void {
    const point = this.#point(record.datetime)
    point.count++
    point.measurements.add(measurement(record))
  }
}
