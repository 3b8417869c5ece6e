import { rest } from '../core/async/retry-until.ts'
import type { Commit, RecordStore } from '../core/ports.ts'
import type { Feed } from './feed.ts'

interface FeedsParts {
  readonly records: Pick<RecordStore, 'readLog'>
  /** Whether the thing is forwarded. */
  readonly isForwarded: (thingId: string) => boolean
  readonly makeFeed: (thingId: string, filledTo: number, isBehind: boolean) => Feed
  readonly stop: AbortSignal
}

/** Bytes that wait in memory to be sent, beyond which the log is not read on. */
const mostInMemory = 8 * 1024 * 1024
const pageSize = 2_000
/** What comes in quick turn is read together, milliseconds. */
const gatherFor = 20

/** Where reading has come to, as it can be kept. */
interface FeedsPosition {
  readonly after: number
  /** By thing id. */
  readonly apart: ReadonlyMap<string, number>
}

/**
 * Reads the commit log into a feed for each thing: all together, but for those that are behind since they were held back.
 * These are read together, too, until they have come as far as the others.
 */
export class Feeds {
  readonly #parts: FeedsParts
  readonly #feeds = new Map<string, Feed>()
  readonly #running: Promise<void>[] = []
  #isRunning = false
  /** Up to this write number, commits were put into the feeds that are not behind. */
  #read: number
  /** Number of the newest commit. */
  #newest: number
  #cut: number
  #wake = () => {}

  /** @param position as it was kept @param cut nothing up to there is forwarded @param newest as `delivered` is called with */
  constructor(parts: FeedsParts, { after, apart }: FeedsPosition, cut: number, newest: number) {
    this.#parts = parts
    this.#cut = cut
    this.#read = Math.max(after, cut)
    this.#newest = newest
    for (const [thingId, each] of apart) {
      if (parts.isForwarded(thingId)) this.#add(thingId, Math.max(each, cut), true)
    }
  }

  get all(): readonly Feed[] {
    return [...this.#feeds.values()]
  }

  get(thingId: string): Feed | undefined {
    return this.#feeds.get(thingId)
  }

  /** There are commits up to this write number. */
  delivered(writeNumber: number): void {
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
    if (!this.#isRunning) for (const feed of this.#feeds.values()) this.#running.push(feed.run())
    this.#isRunning = true
    while (!stop.aborted) {
      const isRead =
        this.#inMemory() <= mostInMemory && ((await this.#readBehind()) || (await this.#readTogether()))
      if (isRead) continue
      this.#flush()
      await this.#change()
    }
    for (const feed of this.#feeds.values()) feed.wake()
    await Promise.all(this.#running)
  }

  /** Part of the log, of things that are forwarded. */
  async page(after: number, upTo: number, isOf = this.#parts.isForwarded): Promise<readonly Commit[]> {
    const { records } = this.#parts
    return await records.readLog({ after, before: upTo + 1, isOf, order: 'asc', limit: pageSize })
  }

  /** Whether the commit is forwarded, refused for good or given up. */
  isPassed({ thingId, writeNumber }: Commit): boolean {
    const feed = this.#feeds.get(thingId)
    return writeNumber <= Math.max(this.#cut, feed ? this.#positionOf(feed) : this.#read)
  }

  /** Forwards nothing up to there, but for what is under way. */
  cut(upTo: number): void {
    this.#cut = upTo
    this.#read = Math.max(this.#read, upTo)
    for (const feed of this.#feeds.values()) {
      feed.cut(upTo)
      if (feed.isBehind) feed.filledTo = Math.max(feed.filledTo, upTo)
    }
  }

  position(): FeedsPosition {
    let after = this.#read
    for (const feed of this.#feeds.values()) {
      if (!feed.isApart) after = Math.min(after, this.#positionOf(feed))
    }
    const apart = new Map<string, number>()
    for (const feed of this.#feeds.values()) {
      if (!feed.isApart || !this.#parts.isForwarded(feed.thingId)) continue
      const position = this.#positionOf(feed)
      if (!feed.isBehind && position >= after) feed.isApart = false
      else apart.set(feed.thingId, position)
    }
    return { after, apart }
  }

  /** Every commit of the feed's thing up to there is forwarded. */
  #positionOf({ oldest, isBehind, filledTo }: Feed): number {
    if (oldest) return oldest.writeNumber - 1
    return isBehind ? filledTo : this.#read
  }

  /** @returns whether there was anything */
  async #readTogether(): Promise<boolean> {
    const upTo = this.#newest
    if (this.#read >= upTo) return false
    const isOf = (thingId: string) =>
      this.#parts.isForwarded(thingId) && this.#feeds.get(thingId)?.isBehind !== true
    const page = await this.page(this.#read, upTo, isOf)
    for (const commit of page) {
      // Meanwhile it may be given up, or its thing be held back.
      if (commit.records.length === 0 || commit.writeNumber <= this.#cut || !isOf(commit.thingId)) continue
      const feed = this.#feeds.get(commit.thingId) ?? this.#add(commit.thingId, this.#read, false)
      feed.add(commit)
    }
    this.#read = Math.max(this.#read, page.at(-1)?.writeNumber ?? upTo)
    // Where others write all the time there is always more to read.
    if (this.#read >= upTo) this.#flush()
    return true
  }

  /** @returns whether there was anything */
  async #readBehind(): Promise<boolean> {
    const feeds = new Map(
      this.all
        .filter(({ isBehind, held }) => isBehind && !held)
        .map(feed => [feed.thingId, { feed, from: feed.filledTo }] as const),
    )
    if (feeds.size === 0) return false
    const from = Math.min(...[...feeds.values()].map(each => each.from))
    const upTo = this.#read
    const page = from < upTo ? await this.page(from, upTo, thingId => feeds.has(thingId)) : []
    // Meanwhile it may be held back: then it begins again further back.
    for (const [thingId, { feed, from }] of feeds)
      if (feed.filledTo !== from || feed.held) feeds.delete(thingId)
    for (const commit of page) {
      if (commit.records.length > 0) feeds.get(commit.thingId)?.feed.add(commit)
    }
    const readTo = page.at(-1)?.writeNumber ?? upTo
    for (const { feed } of feeds.values()) {
      feed.filledTo = Math.max(feed.filledTo, readTo)
      feed.oldestElsewhere = undefined
      if (feed.filledTo >= this.#read) feed.isBehind = false
    }
    return true
  }

  #add(thingId: string, filledTo: number, isBehind: boolean): Feed {
    const feed = this.#parts.makeFeed(thingId, filledTo, isBehind)
    this.#feeds.set(thingId, feed)
    if (this.#isRunning) this.#running.push(feed.run())
    return feed
  }

  #flush(): void {
    for (const feed of this.#feeds.values()) feed.flush()
  }

  #inMemory(): number {
    let bytes = 0
    for (const feed of this.#feeds.values()) bytes += feed.bytes
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
