import { positionInRecordKey, resourceInRecordKey } from '../keys.ts'

/** Datetimes, milliseconds, both inclusive. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** Changes in front of the watermark of a resource. */
interface Changes {
  /** Record key up to which the resource was packed before. */
  watermark: Buffer
  spans: Span[]
}

/** Most spans of a resource; more are merged into one. */
const mostSpans = 16
/** Most resources whose growth is counted. If there are more, the compactor looks at all resources again. */
const mostResources = 100_000

/** Resources that may be worth compaction, in memory. A commit calls it once for each of its resources. */
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
  /** Whether the watched resource was changed otherwise than by an append behind all its records. */
  isChanged = false

  /** @param growth number of new records that make a resource due */
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

  /** Called when a resource was changed otherwise. @param watermark the old watermark, if the change has lowered it */
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

  /** Called when the entry of a record key, or entries behind it, were changed. */
  changedAt(name: Buffer, watermark?: Buffer): void {
    const { datetime } = positionInRecordKey(name)
    this.changed(resourceInRecordKey(name), { from: datetime, to: datetime }, watermark)
  }

  /** Called when a resource was removed. */
  forget(resource: number): void {
    if (this.#watched === resource) this.isChanged = true
    for (const each of [this.#grown, this.#due, this.#changes]) each.delete(resource)
  }

  get isAnyDue(): boolean {
    return this.#due.size > 0 || this.#isForgetful
  }

  /** Takes a resource from those that are due. */
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

  /** Whether the growth of some resources was forgotten since the last call, so that the compactor must look at all. */
  takeForgetful(): boolean {
    const isForgetful = this.#isForgetful
    this.#isForgetful = false
    return isForgetful
  }

  /** Resets `isChanged`. */
  watch(resource: number): void {
    this.#watched = resource
    this.isChanged = false
  }

  /** The watermark before the changes in front of it; undefined if there are none. */
  markBefore(resource: number): Buffer | undefined {
    return this.#changes.get(resource)?.watermark
  }

  /** Takes the changes in front of the watermark. */
  takeSpans(resource: number): readonly Span[] {
    const changes = this.#changes.get(resource)
    const spans = changes?.spans ?? []
    if (changes) changes.spans = []
    return spans
  }

  /** @param spans result of `takeSpans` that is not done yet */
  putSpansBack(resource: number, spans: readonly Span[]): void {
    this.#changes.get(resource)?.spans.push(...spans)
    this.putBack(resource)
  }

  /** Called when a resource is packed up to the watermark. @returns whether to put it: no new change is in front of it */
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
