import { recordCount } from '../core/commit-outline.ts'
import type { Commit } from '../core/ports.ts'
import { Backlog } from './backlog.ts'

/** What waits to be forwarded: what there was at the start, which is counted little by little, and what has come since. */
export class Waiting {
  readonly #inherited = new Backlog()
  readonly #fresh = new Backlog()
  readonly #start: number
  #countedTo: number
  /** Up to this write number everything was given up. */
  #cut = 0

  /** @param from write number behind which the count begins @param start of the newest commit at the start */
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

  /** Whether all that waited at the start is counted. */
  get isCounted(): boolean {
    return this.#countedTo >= this.#start
  }

  /** A commit has come. */
  add(commit: Commit): void {
    this.#fresh.add(commit)
  }

  /** A commit is forwarded. */
  pass(commit: Commit): void {
    if (commit.writeNumber <= this.#cut) return
    if (commit.writeNumber > this.#start) this.#fresh.pass(commit)
    else if (commit.writeNumber <= this.#countedTo) this.#inherited.pass(commit)
  }

  /**
   * Counts what waited at the start.
   *
   * @param read gives the commits behind a write number, up to another one; none: there are no more
   * @param onCounted called with each that waits
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

  /** Gives up the oldest beyond so many bytes. @returns up to which write number, and how many records */
  cut(bytes: number): { readonly upTo: number; readonly records: number } | undefined {
    // What waited at the start is the oldest: before it is counted, nothing is given up.
    if (this.bytes <= bytes || !this.isCounted) return undefined
    const inherited = this.#inherited.cut(Math.max(0, bytes - this.#fresh.bytes))
    const fresh = this.#fresh.cut(bytes)
    const upTo = fresh?.upTo ?? inherited?.upTo
    if (upTo === undefined) return undefined
    this.#cut = upTo
    return { upTo, records: (inherited?.records ?? 0) + (fresh?.records ?? 0) }
  }

  /** Nothing up to the write number waits any more. */
  clear(upTo: number): void {
    this.#fresh.clear(upTo)
    if (this.isCounted) this.#inherited.clear(upTo)
  }
}
