import { partitionPoint } from '../core/algorithms/partition-point.ts'
import { recordCount, sizeOf } from '../core/commit-outline.ts'
import type { Commit } from '../core/ports.ts'

/** Most commits that are counted, and given up, together, and most bytes of them. */
const together = { commits: 1_000, bytes: 128 * 1024 }

/** Commits behind one another in the log. */
interface Portion {
  /** Write number of its newest commit. */
  upTo: number
  /** Of all that were ever in it. */
  readonly all: { commits: number; bytes: number }
  /** Of those that still wait. */
  records: number
  bytes: number
}

/** Counts what waits to be forwarded, in portions, so that the oldest can be given up. */
export class Backlog {
  /** Oldest first. */
  #portions: Portion[] = []
  #records = 0
  #bytes = 0

  get records(): number {
    return this.#records
  }

  get bytes(): number {
    return this.#bytes
  }

  /** To be called in the order of the write numbers. */
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

  /** A commit that was counted is forwarded. */
  pass(commit: Commit): void {
    const portion = this.#portions[this.#placeOf(commit.writeNumber)]
    if (!portion) return
    this.#take(portion, { records: recordCount(commit), bytes: sizeOf(commit) })
  }

  /** Nothing up to the write number waits any more, whatever was counted: things may have been removed. */
  clear(upTo: number): void {
    let count = 0
    for (const portion of this.#portions) {
      if (portion.upTo > upTo) break
      this.#take(portion, portion)
      count++
    }
    if (count > 0) this.#portions = this.#portions.slice(count)
  }

  /** Gives up the oldest until no more than `bytes` wait. @returns up to which write number, and how many records */
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

  #placeOf(writeNumber: number): number {
    return partitionPoint(this.#portions, ({ upTo }) => upTo < writeNumber)
  }
}
