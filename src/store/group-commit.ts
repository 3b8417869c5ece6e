/**
 * Group commit: whatever is handed in while one group is being committed forms the next group, so that many
 * callers share one fsync. Groups and tasks run strictly one after another, in the order in which they came.
 */
export class GroupCommit<Item, Result> {
  readonly #commit: (items: readonly Item[]) => Promise<readonly (Result | Error)[]>
  readonly #weigh: (item: Item) => number
  readonly #maximumWeight: number
  readonly #turn: () => Promise<void> | undefined
  readonly #onCommitted: (items: number, seconds: number) => void
  #queue: Entry<Item, Result>[] = []
  #running = false

  /**
   * @param commit makes a group durable and gives one result per item, in order; if it rejects, every item of the
   * group does. A result that is an Error rejects that item alone.
   * @param weigh size of an item, in whatever unit `maximumWeight` has; a group of one may be heavier
   * @param turn when the next group may be made: resolves then; undefined: now
   * @param onCommitted told of each group that was committed: how many items it had, and how long that took
   */
  constructor(
    commit: (items: readonly Item[]) => Promise<readonly (Result | Error)[]>,
    weigh: (item: Item) => number,
    maximumWeight: number,
    turn: () => Promise<void> | undefined = () => undefined,
    onCommitted: (items: number, seconds: number) => void = () => {},
  ) {
    this.#commit = commit
    this.#weigh = weigh
    this.#maximumWeight = maximumWeight
    this.#turn = turn
    this.#onCommitted = onCommitted
  }

  push(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ item, resolve, reject })
      this.#start()
    })
  }

  /** Runs `task` when everything handed in before it is committed, and holds back what comes after it. */
  alone<T>(task: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = async () => await task()
      this.#queue.push({ task: () => run().then(resolve, reject) })
      this.#start()
    })
  }

  #start(): void {
    if (this.#running) return
    this.#running = true
    void this.#run()
  }

  async #run(): Promise<void> {
    // The first group too may take what arrives in this turn of the event loop.
    await Promise.resolve()
    while (this.#queue.length > 0) {
      const turn = this.#turn()
      if (turn) await turn
      const next = this.#take()
      const [first] = next
      if (first && 'task' in first) await first.task()
      else await this.#settle(next as ItemEntry<Item, Result>[])
    }
    // In the same tick as the empty queue was seen: a tick later, what came in between would lie there unseen.
    this.#running = false
  }

  /** The next task alone, or the items up to the next task or the maximum weight. */
  #take(): Entry<Item, Result>[] {
    let weight = 0
    let count = 0
    for (const entry of this.#queue) {
      if ('task' in entry) break
      weight += this.#weigh(entry.item)
      if (count > 0 && weight > this.#maximumWeight) break
      count++
    }
    return this.#queue.splice(0, Math.max(count, 1))
  }

  async #settle(group: ItemEntry<Item, Result>[]): Promise<void> {
    try {
      const begin = performance.now()
      const results = await this.#commit(group.map(entry => entry.item))
      this.#onCommitted(group.length, (performance.now() - begin) / 1_000)
      for (const [index, entry] of group.entries()) {
        const result = results[index]
        if (result instanceof Error) entry.reject(result)
        else entry.resolve(result as Result)
      }
    } catch (error) {
      for (const entry of group) entry.reject(error)
      // What waits behind it was handed in without knowing: of one sender, it would be committed before what failed is sent again.
      const left = this.#queue.filter(entry => 'task' in entry)
      for (const entry of this.#queue) if (!('task' in entry)) entry.reject(error)
      this.#queue = left
    }
  }
}

interface ItemEntry<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

interface TaskEntry {
  readonly task: () => Promise<void>
}

type Entry<Item, Result> = ItemEntry<Item, Result> | TaskEntry
