import { setImmediate as nextTurn } from 'node:timers/promises'

/** Maximum time for long work in one turn of the event loop, milliseconds. Longer work would delay packets and live messages. */
const longestSlice = 5

/** Splits long work into slices, each in a separate turn of the event loop. */
export class Slices {
  readonly #longest: number
  #begin: number | undefined

  /** @param longest milliseconds */
  constructor(longest = longestSlice) {
    this.#longest = longest
  }

  /**
   * Call this between pieces of work, several times per millisecond. The first slice begins with the first call.
   * @returns undefined if the present slice is not over; otherwise a promise that resolves in the next turn of the event loop
   */
  pause(): Promise<void> | undefined {
    const now = performance.now()
    this.#begin ??= now
    return now - this.#begin < this.#longest ? undefined : this.#next()
  }

  async #next(): Promise<void> {
    await nextTurn()
    this.#begin = performance.now()
  }
}

/** One slice per turn of the event loop, shared by all callers: hundreds of concurrent reads take no more of a turn than one. */
class SharedSlices {
  readonly #waiting: (() => void)[] = []
  #begin: number | undefined
  #isScheduled = false

  /** @returns undefined if the present slice is not over; otherwise a promise that resolves when the caller may go on */
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

  /** Resumes waiting callers one after another while the slice lasts. */
  #goOn(): void {
    this.#waiting.shift()?.()
    // Runs when the resumed caller has done its first piece of work.
    queueMicrotask(() => {
      if (this.#waiting.length > 0 && this.#hasTime(performance.now())) this.#goOn()
    })
  }

  #hasTime(now: number): boolean {
    return this.#begin !== undefined && now - this.#begin < longestSlice
  }
}

/** For reads with long answers, so that writes do not wait for the reads. */
export const readSlices = new SharedSlices()
