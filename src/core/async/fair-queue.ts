import { readSlices } from './slices.ts'

/** Work that waits, by whoever asked for it: a few pieces are under way at a time, and those who ask take turns. */
export class FairQueue {
  readonly #mostAtOnce: number
  /** In the order in which they have their turns. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #underWay = 0

  /** @param mostAtOnce pieces of all who ask that are under way together */
  constructor(mostAtOnce: number) {
    this.#mostAtOnce = mostAtOnce
  }

  /**
   * Runs a piece of work when it is its turn.
   *
   * @param name of whoever asks
   * @throws what `task` throws
   */
  run<Result>(name: string, task: () => Promise<Result>): Promise<Result> {
    if (this.#underWay >= this.#mostAtOnce) return this.#turnOf(name).then(() => this.#do(task))
    this.#underWay++
    return this.#do(task)
  }

  async #do<Result>(task: () => Promise<Result>): Promise<Result> {
    try {
      return await task()
    } finally {
      this.#startNext()
    }
  }

  /** The same items, each of which is a piece of work: none is under way while the reader holds one. */
  async *stream<Item>(name: string, items: AsyncIterable<Item>): AsyncGenerator<Item, void> {
    const iterator = items[Symbol.asyncIterator]()
    try {
      for (;;) {
        const { done, value } = await this.run(name, async () => {
          // Of what is in memory, a quick reader would take all pieces in one turn of the event loop.
          await readSlices.pause()
          return await iterator.next()
        })
        if (done) return
        yield value
      }
    } finally {
      await iterator.return?.()
    }
  }

  #turnOf(name: string): Promise<void> {
    return new Promise(resolve => {
      const ofName = this.#waiting.get(name)
      if (ofName) ofName.push(resolve)
      else this.#waiting.set(name, [resolve])
    })
  }

  /** What has ended makes room for one. */
  #startNext(): void {
    for (const [name, ofName] of this.#waiting) {
      const next = ofName.shift()
      // Behind the others.
      if (ofName.length === 0 || this.#waiting.size > 1) this.#waiting.delete(name)
      if (ofName.length > 0) this.#waiting.set(name, ofName)
      next?.()
      return
    }
    this.#underWay--
  }
}
