import { partitionPoint } from '../core/algorithms/partition-point.ts'
import { recordCount, sizeOf } from '../core/commit-outline.ts'
import type { Commit } from '../core/ports.ts'

/** Commits are counted and dropped in portions. A portion is full when it has this many commits or bytes. */
const together = { commits: 1_000, bytes: 128 * 1024 }

/** Consecutive commits of the log. */
interface Portion {
  /** Number of the newest commit of the portion. */
  upTo: number
  /** Size of all commits that were ever in the portion. */
  readonly all: { commits: number; bytes: number }
  /** Number of records that still wait to be forwarded; `bytes` is their size. */
  records: number
  bytes: number
}

/** Counts the waiting records in portions, so the oldest can be dropped. */
export class Backlog {
  /** The oldest portion is first. */
  #portions: Portion[] = []
  #records = 0
  #bytes = 0

  get records(): number {
    return this.#records
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Call this in the order of the write numbers. */
  add(commit: Commit): void {
    let newest = this.#portions.at(-1)
    if (!newest || newest.all.commits >= together.commits || newest.all.bytes >= together.bytes) {
      newest = { upTo: 0, all: { commits: 0, bytes: 0 }, records: 0, bytes: 0 }
      this.#portions.push(newest)
    }
    const records = recordCount(commit)
    const bytes = sizeOf(commit)
    newest.upTo = commit.writeNumber
    newest.all.commits++
    newest.all.bytes += bytes
    newest.records += records
    newest.bytes += bytes
    this.#records += records
    this.#bytes += bytes
  }

  /** Call this when a counted commit is forwarded or refused permanently. */
  pass(commit: Commit): void {
    const place = partitionPoint(this.#portions, ({ upTo }) => upTo < commit.writeNumber)
    const portion = this.#portions[place]
    if (!portion) return
    this.#take(portion, { records: recordCount(commit), bytes: sizeOf(commit) })
  }

  /** Removes portions up to and including this write number from the count, where commits of removed things would stay forever. */
  clear(upTo: number): void {
    let count = 0
    for (const portion of this.#portions) {
      if (portion.upTo > upTo) break
      this.#take(portion, portion)
      count++
    }
    if (count > 0) this.#portions = this.#portions.slice(count)
  }

  /** Drops the oldest records until at most `bytes` wait. @returns the last write number and the count of the dropped records */
  cut(bytes: number): { readonly upTo: number; readonly records: number } | undefined {
    const before = this.#records
    let upTo: number | undefined
    for (const portion of this.#portions) {
      if (this.#bytes <= bytes) break
      upTo = portion.upTo
      this.#take(portion, portion)
    }
    if (upTo === undefined) return undefined
    this.clear(upTo)
    return { upTo, records: before - this.#records }
  }

  #take(portion: Portion, { records, bytes }: { readonly records: number; readonly bytes: number }): void {
    const taken = { records: Math.min(records, portion.records), bytes: Math.min(bytes, portion.bytes) }
    portion.records -= taken.records
    portion.bytes -= taken.bytes
    this.#records -= taken.records
    this.#bytes -= taken.bytes
  }
}

/** Counts the waiting records: new records, and records from before the start, which are read in the background. */
export class Waiting {
  readonly #inherited = new Backlog()
  readonly #fresh = new Backlog()
  readonly #start: number
  #countedTo: number
  /** Everything up to and including this write number was dropped. */
  #cut = 0

  /** @param from number of the write after which counting begins @param start number of the newest commit at the start */
  constructor(from: number, start: number) {
    this.#start = start
    this.#countedTo = from
  }

  get records(): number {
    return this.#inherited.records + this.#fresh.records
  }

  get bytes(): number {
    return this.#inherited.bytes + this.#fresh.bytes
  }

  /** Whether all records from before the start are counted. */
  get isCounted(): boolean {
    return this.#countedTo >= this.#start
  }

  add(commit: Commit): void {
    this.#fresh.add(commit)
  }

  pass(commit: Commit): void {
    if (commit.writeNumber <= this.#cut) return
    if (commit.writeNumber > this.#start) this.#fresh.pass(commit)
    else if (commit.writeNumber <= this.#countedTo) this.#inherited.pass(commit)
  }

  /**
   * Counts the records from before the start.
   *
   * @param read returns commits after a write number, up to and including `upTo`; none if there are no more
   * @param onCounted called with each waiting commit
   */
  async count(
    read: (after: number, upTo: number) => Promise<readonly Commit[]>,
    isPassed: (commit: Commit) => boolean,
    onCounted: (commit: Commit) => void,
    stop: AbortSignal,
  ): Promise<void> {
    while (!this.isCounted && !stop.aborted) {
      const page = await read(this.#countedTo, this.#start)
      for (const commit of page) {
        this.#countedTo = commit.writeNumber
        if (recordCount(commit) === 0 || isPassed(commit)) continue
        this.#inherited.add(commit)
        onCounted(commit)
      }
      if (page.length === 0) this.#countedTo = this.#start
    }
  }

  /** Like `Backlog.cut`, over both backlogs. */
  cut(bytes: number): { readonly upTo: number; readonly records: number } | undefined {
    // Records from before the start are the oldest, so nothing is dropped until they are counted.
    if (this.bytes <= bytes || !this.isCounted) return undefined
    const inherited = this.#inherited.cut(Math.max(0, bytes - this.#fresh.bytes))
    const fresh = this.#fresh.cut(bytes)
    const upTo = fresh?.upTo ?? inherited?.upTo
    if (upTo === undefined) return undefined
    this.#cut = upTo
    return { upTo, records: (inherited?.records ?? 0) + (fresh?.records ?? 0) }
  }

  /** Like `Backlog.clear`, over both backlogs. */
  clear(upTo: number): void {
    this.#fresh.clear(upTo)
    if (this.isCounted) this.#inherited.clear(upTo)
  }
}
