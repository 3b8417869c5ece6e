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
