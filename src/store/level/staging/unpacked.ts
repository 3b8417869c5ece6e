import { positionInRecordKey, resourceInRecordKey } from '../keys.ts'

/** A range of datetimes in milliseconds, both bounds inclusive. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** Changes before the watermark of a resource. */
interface Changes {
  /** Record key before which the resource is packed, except for `spans`. */
  watermark: Buffer
  spans: Span[]
}

/** Maximum number of spans of a resource. If there are more, all are merged into one. */
const mostSpans = 16
/** Maximum number of resources for which growth is counted. If there are more, the compactor checks all resources again. */
const mostResources = 100_000

/** Tracks in memory which resources may be worth packing. Every change of a resource must be reported here. */
export class Unpacked {
  /** Called when a resource becomes due. */
  onDue: () => void = () => {}
  readonly #growth: number
  /** Number of records added to each resource since it was last due. */
  readonly #grown = new Map<number, number>()
  readonly #due = new Set<number>()
  readonly #changes = new Map<number, Changes>()
  #isForgetful = false
  #watched: number | undefined
  /** Whether the watched resource was changed in any other way than by an append after all its records. */
  isChanged = false

  /** @param growth number of new records after which a resource is due */
  constructor(growth: number) {
    this.#growth = growth
  }

  /** Called when records were added to a resource. */
  grew(resource: number, records: number): void {
    const grown = (this.#grown.get(resource) ?? 0) + records
    this.#grown.set(resource, grown)
    if (grown >= this.#growth) this.#makeDue(resource)
    if (this.#grown.size <= mostResources) return
    this.#grown.clear()
    this.#isForgetful = true
    this.onDue()
  }

  /** Called when late records or a removal changed a resource. @param watermark the old watermark, if the change has lowered it */
  changed(resource: number, span: Span, watermark?: Buffer): void {
    if (this.#watched === resource) this.isChanged = true
    const known = this.#changes.get(resource)
    const changes = known ?? (watermark && { watermark, spans: [] })
    if (!changes || span.from > positionInRecordKey(changes.watermark).datetime) return
    if (!known) this.#changes.set(resource, changes)
    changes.spans.push(span)
    if (changes.spans.length > mostSpans) changes.spans = [around(changes.spans)]
    this.#makeDue(resource)
  }

  /** Called when entries from this record key on were changed. @param watermark as in `changed` */
  changedAt(name: Buffer, watermark?: Buffer): void {
    const { datetime } = positionInRecordKey(name)
    this.changed(resourceInRecordKey(name), { from: datetime, to: datetime }, watermark)
  }

  forget(resource: number): void {
    if (this.#watched === resource) this.isChanged = true
    for (const each of [this.#grown, this.#due, this.#changes]) each.delete(resource)
  }

  get isAnyDue(): boolean {
    return this.#due.size > 0 || this.#isForgetful
  }

  /** Takes one of the resources that are due; undefined if there is none. */
  takeDue(): number | undefined {
    const [resource] = this.#due
    if (resource === undefined) return undefined
    this.#due.delete(resource)
    this.#grown.delete(resource)
    return resource
  }

  /** Makes a resource due again. */
  putBack(resource: number): void {
    this.#due.add(resource)
  }

  /** Whether growth counts were discarded since the last call: the compactor must then check all resources. */
  takeForgetful(): boolean {
    const isForgetful = this.#isForgetful
    this.#isForgetful = false
    return isForgetful
  }

  /** Watches one resource for changes, and resets `isChanged`. */
  watch(resource: number): void {
    this.#watched = resource
    this.isChanged = false
  }

  /** The watermark as it was before changes lowered it; undefined if no change has lowered it. */
  markBefore(resource: number): Buffer | undefined {
    return this.#changes.get(resource)?.watermark
  }

  /** Takes the changes before the watermark. */
  takeSpans(resource: number): readonly Span[] {
    const changes = this.#changes.get(resource)
    const spans = changes?.spans ?? []
    if (changes) changes.spans = []
    return spans
  }

  /** Puts back the spans of `takeSpans` that are still to be packed, and makes the resource due. */
  putSpansBack(resource: number, spans: readonly Span[]): void {
    this.#changes.get(resource)?.spans.push(...spans)
    this.putBack(resource)
  }

  /** Call this when a resource is packed up to the watermark. @returns whether to store it: false if new changes precede it */
  pack(resource: number, watermark: Buffer): boolean {
    const changes = this.#changes.get(resource)
    if (!changes) return true
    changes.watermark = watermark
    if (changes.spans.length > 0) return false
    this.#changes.delete(resource)
    return true
  }

  #makeDue(resource: number): void {
    this.#due.add(resource)
    this.onDue()
  }
}

function around(spans: readonly Span[]): Span {
  return {
    from: Math.min(...spans.map(({ from }) => from)),
    to: Math.max(...spans.map(({ to }) => to)),
  }
}
