import { positionInRecordKey, resourceInRecordKey } from '../keys.ts'

/** Datetimes, milliseconds, both inclusive. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** What changed in front of the watermark of a resource. */
interface Changes {
  /** A record key: how far the resource was packed before. */
  watermark: Buffer
  spans: Span[]
}

/** Of one resource; what is farther apart is looked at as one. */
const mostSpans = 16
/** However many resources there are: the others are found by looking at all of them. */
const mostResources = 100_000

/** Where something may have become worth compaction, in memory: called once for each resource in a commit. */
export class Unpacked {
  /** Called when there is something that is due. */
  onDue: () => void = () => {}
  readonly #growth: number
  /** How many records a resource was given since it was looked at. */
  readonly #grown = new Map<number, number>()
  readonly #due = new Set<number>()
  readonly #changes = new Map<number, Changes>()
  #isForgetful = false
  #watched: number | undefined
  #isChanged = false

  /** @param growth so many records make a resource due */
  constructor(growth: number) {
    this.#growth = growth
  }

  /** Records were added to a resource. */
  grew(resource: number, records: number): void {
    const grown = (this.#grown.get(resource) ?? 0) + records
    this.#grown.set(resource, grown)
    if (grown >= this.#growth) this.#makeDue(resource)
    if (this.#grown.size <= mostResources) return
    this.#grown.clear()
    this.#isForgetful = true
    this.onDue()
  }

  /** Something else became of a resource. @param watermark as it was before, if the change has lowered it */
  changed(resource: number, span: Span, watermark?: Buffer): void {
    if (this.#watched === resource) this.#isChanged = true
    const known = this.#changes.get(resource)
    const changes = known ?? (watermark && { watermark, spans: [] })
    if (!changes || span.from > positionInRecordKey(changes.watermark).datetime) return
    if (!known) this.#changes.set(resource, changes)
    changes.spans.push(span)
    if (changes.spans.length > mostSpans) changes.spans = [around(changes.spans)]
    this.#makeDue(resource)
  }

  /** The same of what a record key has moved, or what stood behind it. */
  changedAt(name: Buffer, watermark?: Buffer): void {
    const { datetime } = positionInRecordKey(name)
    this.changed(resourceInRecordKey(name), { from: datetime, to: datetime }, watermark)
  }

  /** The resource is removed. */
  forget(resource: number): void {
    if (this.#watched === resource) this.#isChanged = true
    for (const each of [this.#grown, this.#due, this.#changes]) each.delete(resource)
  }

  get isAnyDue(): boolean {
    return this.#due.size > 0 || this.#isForgetful
  }

  /** A resource that is due, which it is not any more then. */
  takeDue(): number | undefined {
    const [resource] = this.#due
    if (resource === undefined) return undefined
    this.#due.delete(resource)
    this.#grown.delete(resource)
    return resource
  }

  /** To be looked at again. */
  putBack(resource: number): void {
    this.#due.add(resource)
  }

  /** Whether all resources have to be looked at, since some were forgotten; not any more then. */
  takeForgetful(): boolean {
    const isForgetful = this.#isForgetful
    this.#isForgetful = false
    return isForgetful
  }

  /** From now on `isChanged` says whether something but an addition behind all others became of the resource. */
  watch(resource: number): void {
    this.#watched = resource
    this.#isChanged = false
  }

  get isChanged(): boolean {
    return this.#isChanged
  }

  /** How far a resource was packed before something in front of its watermark changed; undefined if nothing did. */
  markBefore(resource: number): Buffer | undefined {
    return this.#changes.get(resource)?.watermark
  }

  /** What changed in front of the watermark, and is to be looked at now. */
  takeSpans(resource: number): readonly Span[] {
    const changes = this.#changes.get(resource)
    const spans = changes?.spans ?? []
    if (changes) changes.spans = []
    return spans
  }

  /** Spans that were taken and not looked at. */
  putSpansBack(resource: number, spans: readonly Span[]): void {
    this.#changes.get(resource)?.spans.push(...spans)
    this.putBack(resource)
  }

  /** The resource is packed up to the watermark. @returns whether all is in front of it, so that it may be put */
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
