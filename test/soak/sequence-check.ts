import type { FindingKind } from './findings.ts'

interface Due {
  readonly isKept: boolean
}

/**
 * Follows one order of messages at one subscriber: each that is due comes once, in its place.
 *
 * @typeParam Item what is due; the list grows while it is followed
 */
export class SequenceCheck<Item extends Due> {
  readonly #due: readonly Item[]
  readonly #isWanted: (item: Item) => boolean
  /** Passed over, and not come since. */
  readonly #passed = new Set<number>()
  /** Come before, on a connection that broke before the server can have known. */
  readonly #repeatable = new Set<number>()
  #lastRepeated = -1
  #next: number | undefined

  /**
   * @param isWanted whether this subscriber is to get it in any case; what it need not get, it may get in its place
   * @param startsAnywhere whether it begins with whatever comes first
   */
  constructor(due: readonly Item[], isWanted: (item: Item) => boolean, startsAnywhere = false) {
    this.#due = due
    this.#isWanted = isWanted
    this.#next = startsAnywhere ? undefined : 0
  }

  /** How many are due so far. */
  get due(): number {
    return this.#due.length
  }

  /** The place that is due next. */
  get next(): number {
    return this.#next ?? 0
  }

  /** The message with this place has come. @returns what is wrong with that */
  take(place: number, dup = false): FindingKind | 'repeated' | undefined {
    if (!this.#due[place]) return 'unexpected'
    this.#next ??= place
    if (place >= this.#next) {
      for (let passed = this.#next; passed < place; passed++) this.#passed.add(passed)
      this.#next = place + 1
      return undefined
    }
    if (this.#passed.delete(place)) return 'out of order'
    if (!dup || !this.#repeatable.delete(place)) return 'doubled'
    const isInOrder = place > this.#lastRepeated
    this.#lastRepeated = place
    return isInOrder ? 'repeated' : 'out of order'
  }

  /** A new connection: these, and those of earlier ones that did not come, may come once more, with DUP, in order. */
  allowAgain(places: Iterable<number>): void {
    for (const place of places) this.#repeatable.add(place)
    this.#lastRepeated = -1
  }

  /** What is wanted and has not come. */
  missing(): number[] {
    const ahead = Array.from({ length: this.#due.length - this.next }, (_, index) => this.next + index)
    return [...this.#passed, ...ahead].filter(place => this.#isDue(place))
  }

  /** How many of them there are. */
  countMissing(): number {
    let count = 0
    for (const place of this.#passed) if (this.#isDue(place)) count++
    for (let place = this.next; place < this.#due.length; place++) if (this.#isDue(place)) count++
    return count
  }

  /** What is wanted and was passed over. */
  passedOver(): number[] {
    return [...this.#passed].filter(place => this.#isDue(place))
  }

  #isDue(place: number): boolean {
    const item = this.#due[place]
    return item !== undefined && this.#isWanted(item)
  }
}
