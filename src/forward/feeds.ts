import { rest } from '../core/async/retry-until.ts'
import type { Commit, RecordStore } from '../core/ports.ts'
import type { Feed } from './feed.ts'

interface FeedsParts {
  readonly records: Pick<RecordStore, 'readLog'>
  readonly isForwarded: (thingId: string) => boolean
  readonly makeFeed: (thingId: string, filledTo: number, isBehind: boolean) => Feed
  readonly stop: AbortSignal
}

/** Maximum number of unsent bytes in memory; while there are more, the log is not read. */
const mostInMemory = 8 * 1024 * 1024
const pageSize = 2_000
/** Commits made within this time are read together, milliseconds. */
const gatherFor = 20

interface FeedsPosition {
  readonly after: number
  /** Separate positions by thing id. */
  readonly apart: ReadonlyMap<string, number>
}

/**
 * Reads the commit log once for all things, and fills a feed for each thing. Feeds that are behind the others because they were
 * held back are filled in a separate pass until they have caught up.
 */
export class Feeds {
  readonly #parts: FeedsParts
  readonly #feeds = new Map<string, Feed>()
  readonly #running: Promise<void>[] = []
  #isRunning = false
  /** Every feed is filled up to and including this write number, except feeds with `isBehind`. */
  #read: number
  /** Number of the newest commit. */
  #newest: number
  #cut: number
  #wake = () => {}

  /** @param position the stored position @param cut number of the last dropped write @param newest number of the newest write */
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

  /** Call this when the commits up to and including this write number are in the log. */
  delivered(writeNumber: number): void {
    this.#newest = writeNumber
    this.#wake()
  }

  /** Makes `run` check again whether there is work. */
  wake(): void {
    this.#wake()
  }

  /** Reads and sends until `stop` is aborted. May be called again after an error. @throws ThingwireError if the store fails */
  async run(): Promise<void> {
    const { stop } = this.#parts
    if (!this.#isRunning) for (const feed of this.#feeds.values()) this.#running.push(feed.run())
    this.#isRunning = true
    while (!stop.aborted) {
      const inMemory = this.all.reduce((sum, { bytes }) => sum + bytes, 0)
      if (inMemory <= mostInMemory && ((await this.#readBehind()) || (await this.#readTogether()))) continue
      this.#flush()
      await this.#change()
    }
    for (const feed of this.#feeds.values()) feed.wake()
    await Promise.all(this.#running)
  }

  /** A page of the log with the commits of forwarded things, from `after` (exclusive) to `upTo` (inclusive). */
  async page(after: number, upTo: number, isOf = this.#parts.isForwarded): Promise<readonly Commit[]> {
    const { records } = this.#parts
    return await records.readLog({ after, before: upTo + 1, isOf, order: 'asc', limit: pageSize })
  }

  /** Whether the commit is forwarded, refused permanently, or dropped. */
  isPassed({ thingId, writeNumber }: Commit): boolean {
    const feed = this.#feeds.get(thingId)
    return writeNumber <= Math.max(this.#cut, feed ? this.#positionOf(feed) : this.#read)
  }

  /** Drops everything up to and including a write number, except pending writes. */
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

  /** @returns the number of a write: the feed's commits up to and including this write are forwarded */
  #positionOf({ oldest, isBehind, filledTo }: Feed): number {
    if (oldest) return oldest.writeNumber - 1
    return isBehind ? filledTo : this.#read
  }

  /** @returns whether there was anything to read */
  async #readTogether(): Promise<boolean> {
    const upTo = this.#newest
    if (this.#read >= upTo) return false
    const isOf = (thingId: string) =>
      this.#parts.isForwarded(thingId) && this.#feeds.get(thingId)?.isBehind !== true
    const page = await this.page(this.#read, upTo, isOf)
    for (const commit of page) {
      // During the read, the commit may have been dropped, or its thing held back.
      if (commit.records.length === 0 || commit.writeNumber <= this.#cut || !isOf(commit.thingId)) continue
      const feed = this.#feeds.get(commit.thingId) ?? this.#add(commit.thingId, this.#read, false)
      feed.add(commit)
    }
    this.#read = Math.max(this.#read, page.at(-1)?.writeNumber ?? upTo)
    // Under steady writes, `run` always finds more to read and never flushes, so flush here.
    if (this.#read >= upTo) this.#flush()
    return true
  }

  /** @returns whether there was anything to read */
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
    // A feed that was held back during the read starts again from an earlier write, so this page is not for it.
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

  async #change(): Promise<void> {
    const { stop } = this.#parts
    if (stop.aborted) return
    await new Promise<void>(resolve => {
      this.#wake = resolve
    })
    await rest(gatherFor, stop)
  }
}
