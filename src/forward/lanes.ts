import { rest } from '../core/async/retry-until.ts'
import type { Commit, RecordStore } from '../core/ports.ts'
import type { Lane } from './lane.ts'

interface LanesParts {
  readonly records: Pick<RecordStore, 'readLog'>
  /** Whether the thing is forwarded. */
  readonly isForwarded: (thingId: string) => boolean
  readonly makeLane: (thingId: string, filledTo: number, isBehind: boolean) => Lane
  readonly stop: AbortSignal
}

/** Bytes that wait in memory to be sent, beyond which the log is not read on. */
const mostInMemory = 8 * 1024 * 1024
const pageSize = 2_000
/** What comes in quick turn is read together, milliseconds. */
const gatherFor = 20

/** Where reading has come to, as it can be kept. */
export interface LanesPosition {
  readonly after: number
  /** By thing id. */
  readonly apart: ReadonlyMap<string, number>
}

/**
 * Reads the commit log into a lane for each thing: all together, but for those that are behind since they were held back.
 * These are read together, too, until they have come as far as the others.
 */
export class Lanes {
  readonly #parts: LanesParts
  readonly #lanes = new Map<string, Lane>()
  readonly #running: Promise<void>[] = []
  #isRunning = false
  /** Up to this write number, commits were put into the lanes that are not behind. */
  #read: number
  /** Number of the newest commit. */
  #newest: number
  #cut: number
  #wake = () => {}

  /** @param position as it was kept @param cut nothing up to there is forwarded @param newest as `told` is called with */
  constructor(parts: LanesParts, { after, apart }: LanesPosition, cut: number, newest: number) {
    this.#parts = parts
    this.#cut = cut
    this.#read = Math.max(after, cut)
    this.#newest = newest
    for (const [thingId, each] of apart) {
      if (parts.isForwarded(thingId)) this.#add(thingId, Math.max(each, cut), true)
    }
  }

  get all(): readonly Lane[] {
    return [...this.#lanes.values()]
  }

  get(thingId: string): Lane | undefined {
    return this.#lanes.get(thingId)
  }

  /** There are commits up to this write number. */
  told(writeNumber: number): void {
    this.#newest = writeNumber
    this.#wake()
  }

  /** Looks again at what there is to do. */
  wake(): void {
    this.#wake()
  }

  /** Reads and sends until it is stopped. @throws ThingwireError of the store: may be called again */
  async run(): Promise<void> {
    const { stop } = this.#parts
    if (!this.#isRunning) for (const lane of this.#lanes.values()) this.#running.push(lane.run())
    this.#isRunning = true
    while (!stop.aborted) {
      const isRead =
        this.#inMemory() <= mostInMemory && ((await this.#readBehind()) || (await this.#readTogether()))
      if (isRead) continue
      this.#flush()
      await this.#change()
    }
    for (const lane of this.#lanes.values()) lane.wake()
    await Promise.all(this.#running)
  }

  /** Part of the log, of things that are forwarded. */
  async page(after: number, upTo: number, isOf = this.#parts.isForwarded): Promise<readonly Commit[]> {
    const { records } = this.#parts
    return await records.readLog({ after, before: upTo + 1, isOf, order: 'asc', limit: pageSize })
  }

  /** Whether the commit is forwarded, refused for good or given up. */
  isPassed({ thingId, writeNumber }: Commit): boolean {
    const lane = this.#lanes.get(thingId)
    return writeNumber <= Math.max(this.#cut, lane ? this.#positionOf(lane) : this.#read)
  }

  /** Forwards nothing up to there, but for what is under way. */
  cut(upTo: number): void {
    this.#cut = upTo
    this.#read = Math.max(this.#read, upTo)
    for (const lane of this.#lanes.values()) {
      lane.cut(upTo)
      if (lane.isBehind) lane.filledTo = Math.max(lane.filledTo, upTo)
    }
  }

  position(): LanesPosition {
    let after = this.#read
    for (const lane of this.#lanes.values()) {
      if (!lane.isApart) after = Math.min(after, this.#positionOf(lane))
    }
    const apart = new Map<string, number>()
    for (const lane of this.#lanes.values()) {
      if (!lane.isApart || !this.#parts.isForwarded(lane.thingId)) continue
      const position = this.#positionOf(lane)
      if (!lane.isBehind && position >= after) lane.isApart = false
      else apart.set(lane.thingId, position)
    }
    return { after, apart }
  }

  /** Every commit of the lane's thing up to there is forwarded. */
  #positionOf({ oldest, isBehind, filledTo }: Lane): number {
    if (oldest) return oldest.writeNumber - 1
    return isBehind ? filledTo : this.#read
  }

  /** @returns whether there was anything */
  async #readTogether(): Promise<boolean> {
    const upTo = this.#newest
    if (this.#read >= upTo) return false
    const isOf = (thingId: string) =>
      this.#parts.isForwarded(thingId) && this.#lanes.get(thingId)?.isBehind !== true
    const page = await this.page(this.#read, upTo, isOf)
    for (const commit of page) {
      // Meanwhile it may be given up, or its thing be held back.
      if (commit.records.length === 0 || commit.writeNumber <= this.#cut || !isOf(commit.thingId)) continue
      const lane = this.#lanes.get(commit.thingId) ?? this.#add(commit.thingId, this.#read, false)
      lane.add(commit)
    }
    this.#read = Math.max(this.#read, page.at(-1)?.writeNumber ?? upTo)
    // Where others write all the time there is always more to read.
    if (this.#read >= upTo) this.#flush()
    return true
  }

  /** @returns whether there was anything */
  async #readBehind(): Promise<boolean> {
    const lanes = new Map(
      this.all
        .filter(({ isBehind, held }) => isBehind && !held)
        .map(lane => [lane.thingId, { lane, from: lane.filledTo }] as const),
    )
    if (lanes.size === 0) return false
    const from = Math.min(...[...lanes.values()].map(each => each.from))
    const upTo = this.#read
    const page = from < upTo ? await this.page(from, upTo, thingId => lanes.has(thingId)) : []
    // Meanwhile it may be held back: then it begins again further back.
    for (const [thingId, { lane, from }] of lanes)
      if (lane.filledTo !== from || lane.held) lanes.delete(thingId)
    for (const commit of page) {
      if (commit.records.length > 0) lanes.get(commit.thingId)?.lane.add(commit)
    }
    const readTo = page.at(-1)?.writeNumber ?? upTo
    for (const { lane } of lanes.values()) {
      lane.filledTo = Math.max(lane.filledTo, readTo)
      lane.oldestElsewhere = undefined
      if (lane.filledTo >= this.#read) lane.isBehind = false
    }
    return true
  }

  #add(thingId: string, filledTo: number, isBehind: boolean): Lane {
    const lane = this.#parts.makeLane(thingId, filledTo, isBehind)
    this.#lanes.set(thingId, lane)
    if (this.#isRunning) this.#running.push(lane.run())
    return lane
  }

  #flush(): void {
    for (const lane of this.#lanes.values()) lane.flush()
  }

  #inMemory(): number {
    let bytes = 0
    for (const lane of this.#lanes.values()) bytes += lane.bytes
    return bytes
  }

  async #change(): Promise<void> {
    const { stop } = this.#parts
    if (stop.aborted) return
    await new Promise<void>(resolve => {
      this.#wake = resolve
    })
    await rest(gatherFor, stop)
  }
}
