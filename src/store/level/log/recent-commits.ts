import { partitionPoint } from '../../../core/algorithms/partition-point.ts'
import type { LogQuery } from '../../contract.ts'

export interface LoggedCommit {
  readonly thingId: string
  readonly writeNumber: number
  readonly bytes: number
}

export interface RecentQuery extends Omit<LogQuery, 'isOf'> {
  readonly isOf: (thingId: string) => boolean
  /** Maximum total size of the selected entries in bytes; the first entry is selected even if it is larger. */
  readonly bytes: number
}

/** Default for the maximum number of commits. Each takes 24 bytes. */
const usualCapacity = 100_000

/** Remembers the thing of each of the newest logged commits, so that a query for some things skips the commits of others. */
export class RecentCommits {
  readonly #capacity: number
  /** Columns of the commits, in write order. Three arrays of plain values take half the memory of one array of objects. */
  #writeNumbers: number[] = []
  #things: string[] = []
  #lengths: number[] = []

  /** @param capacity maximum number of commits; when it is reached, the older half is discarded */
  constructor(capacity = usualCapacity) {
    this.#capacity = capacity
  }

  /** All commits in the log from this write number on (inclusive) are known. Infinity if no commit is known. */
  get from(): number {
    return this.#writeNumbers[0] ?? Number.POSITIVE_INFINITY
  }

  /** Adds a commit, which must be newer than all commits added before. */
  add({ thingId, writeNumber, bytes }: LoggedCommit): void {
    if (this.#writeNumbers.length >= this.#capacity) {
      const half = this.#capacity >> 1
      this.#writeNumbers = this.#writeNumbers.slice(half)
      this.#things = this.#things.slice(half)
      this.#lengths = this.#lengths.slice(half)
    }
    this.#writeNumbers.push(writeNumber)
    this.#things.push(thingId)
    this.#lengths.push(bytes)
  }

  /** Write numbers of the first known commits that match a query, in the query's order. Some of these may have been trimmed. */
  select({ after, before, order, limit, isOf, bytes }: RecentQuery): number[] {
    const selected: number[] = []
    let left = bytes
    const [first, end] = [this.#placeOf(after + 1), this.#placeOf(before)]
    const isUp = order === 'asc'
    for (let count = 0; count < end - first && selected.length < limit; count++) {
      const place = isUp ? first + count : end - 1 - count
      if (!isOf(this.#things[place] as string)) continue
      left -= this.#lengths[place] as number
      if (selected.length > 0 && left < 0) break
      selected.push(this.#writeNumbers[place] as number)
    }
    return selected
  }

  /** The index of the first commit with at least this write number. */
  #placeOf(writeNumber: number): number {
    return partitionPoint(this.#writeNumbers, each => each < writeNumber)
  }
}
