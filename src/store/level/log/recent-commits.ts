import { partitionPoint } from '../../../core/algorithms/partition-point.ts'
import type { LogQuery } from '../../contract.ts'

/** A commit of the log, without what is in it. */
export interface LoggedCommit {
  readonly thingId: string
  readonly writeNumber: number
  /** Length of its entry. */
  readonly bytes: number
}

export interface RecentQuery extends Omit<LogQuery, 'isOf'> {
  readonly isOf: (thingId: string) => boolean
  /** Entries that are longer than that together are not selected at once, but one is. */
  readonly bytes: number
}

/** About 5 MB of memory. */
const usualCapacity = 100_000

/** Which things the newest commits of the log are of: a reader of some things finds theirs without reading those of all. */
export class RecentCommits {
  readonly #capacity: number
  /** By write number. */
  #commits: LoggedCommit[] = []

  /** @param capacity how many are known at most; beyond it the older half is forgotten */
  constructor(capacity = usualCapacity) {
    this.#capacity = capacity
  }

  /** Every commit of the log from this write number on is known; Infinity: none is. */
  get from(): number {
    return this.#commits[0]?.writeNumber ?? Number.POSITIVE_INFINITY
  }

  /** @param commit newer than any that was added before */
  add(commit: LoggedCommit): void {
    if (this.#commits.length >= this.#capacity) this.#commits = this.#commits.slice(this.#capacity >> 1)
    this.#commits.push(commit)
  }

  /** The write numbers of the first known commits that a query asks for, in its order. Some may have left the log. */
  select({ after, before, order, limit, isOf, bytes }: RecentQuery): number[] {
    const selected: number[] = []
    let left = bytes
    const isUp = order === 'asc'
    const step = isUp ? 1 : -1
    let place = isUp ? this.#placeOf(after + 1) : this.#placeOf(before) - 1
    for (let commit = this.#commits[place]; commit; commit = this.#commits[place]) {
      const { thingId, writeNumber } = commit
      if (writeNumber <= after || writeNumber >= before) break
      place += step
      if (!isOf(thingId)) continue
      left -= commit.bytes
      if (selected.length > 0 && left < 0) break
      selected.push(writeNumber)
      if (selected.length === limit) break
    }
    return selected
  }

  /** Where the first commit stands whose write number is not below this one. */
  #placeOf(writeNumber: number): number {
    return partitionPoint(this.#commits, commit => commit.writeNumber < writeNumber)
  }
}
