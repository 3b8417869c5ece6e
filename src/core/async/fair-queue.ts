import { readSlices } from './slices.ts'

/** Runs a limited number of tasks at a time. Callers take turns; a caller is identified by its name. */
export class FairQueue {
  readonly #mostAtOnce: number
  /** Functions that resume waiting tasks, by caller. The callers are in the order of their turns. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #underWay = 0

  /** @param mostAtOnce maximum number of concurrent tasks of all callers together */
  constructor(mostAtOnce: number) {
    this.#mostAtOnce = mostAtOnce
  }

  /** Runs a task when it is the caller's turn. @param name the name of the caller @throws errors of `task` */
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

  /** Yields `items` unchanged. Each item is fetched in a separate task, so a slow reader does not block the queue. */
  async *stream<Item>(name: string, items: AsyncIterable<Item>): AsyncGenerator<Item, void> {
    const iterator = items[Symbol.asyncIterator]()
    try {
      for (;;) {
        const { done, value } = await this.run(name, async () => {
          // Without this pause, a fast reader of items that are in memory could take all of them in one turn of the event loop.
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

  #startNext(): void {
    for (const [name, ofName] of this.#waiting) {
      const next = ofName.shift()
      // Moves the caller to the end of the map, where it waits for its next turn.
      if (ofName.length === 0 || this.#waiting.size > 1) this.#waiting.delete(name)
      if (ofName.length > 0) this.#waiting.set(name, ofName)
      next?.()
      return
    }
    this.#underWay--
  }
}
