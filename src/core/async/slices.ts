import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long work goes on in one turn of the event loop, milliseconds: packets are read and messages handed on in it, too. */
const longestSlice = 5

/** Long work in slices, each in a turn of the event loop of its own. */
export class Slices {
  #begin: number | undefined

  /**
   * Waits for the next turn of the event loop if this slice, which begins with the first call, is over; undefined: it is not. To
   * be asked several times a millisecond.
   */
  pause(): Promise<void> | undefined {
    const now = performance.now()
    this.#begin ??= now
    return now - this.#begin < longestSlice ? undefined : this.#next()
  }

  async #next(): Promise<void> {
    await nextTurn()
    this.#begin = performance.now()
  }
}

/**
 * One slice in each turn of the event loop, which all who ask have together, in the order in which they came: hundreds of reads
 * at once take no more of a turn than one does.
 */
class SharedSlices {
  readonly #waiting: (() => void)[] = []
  #begin: number | undefined
  #isScheduled = false

  /** Waits for this one's turn if the slice of this turn of the event loop is over; undefined: it is not. */
  pause(): Promise<void> | undefined {
    const now = performance.now()
    if (this.#begin === undefined) this.#open(now)
    else if (!this.#hasTime(now)) return new Promise(resolve => this.#waiting.push(resolve))
    return undefined
  }

  #open(now: number): void {
    this.#begin = now
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#begin = undefined
      if (this.#waiting.length === 0) return
      this.#open(performance.now())
      this.#goOn()
    })
  }

  /** Has those who wait go on, one after another, as long as the slice lasts. */
  #goOn(): void {
    this.#waiting.shift()?.()
    // Behind the first piece of work of that one.
    queueMicrotask(() => {
      if (this.#waiting.length > 0 && this.#hasTime(performance.now())) this.#goOn()
    })
  }

  #hasTime(now: number): boolean {
    return this.#begin !== undefined && now - this.#begin < longestSlice
  }
}

/** Of reads, whose answers may be long: writes do not wait for them. */
export const readSlices = new SharedSlices()
