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

/** 24 bytes each. */
const usualCapacity = 100_000

/** Which things the newest commits of the log are of: a reader of some things finds theirs without reading those of all. */
export class RecentCommits {
  readonly #capacity: number
  /** Of the commit at each place, by write number. Three lists of plain values take half the memory of one of objects. */
  #writeNumbers: number[] = []
  #things: string[] = []
  #lengths: number[] = []

  /** @param capacity how many are known at most; beyond it the older half is forgotten */
  constructor(capacity = usualCapacity) {
    this.#capacity = capacity
  }

  /** Every commit of the log from this write number on is known; Infinity: none is. */
  get from(): number {
    return this.#writeNumbers[0] ?? Number.POSITIVE_INFINITY
  }

  /** @param commit newer than any that was added before */
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

  /** The write numbers of the first known commits that a query asks for, in its order. Some may have left the log. */
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

  /** Where the first commit stands whose write number is not below this one. */
  #placeOf(writeNumber: number): number {
    return partitionPoint(this.#writeNumbers, each => each < writeNumber)
  }
}
