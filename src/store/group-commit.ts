import type { CommitTicket } from './contract.ts'

/** What is committed with others, and who waits for it. */
export interface Committed<Result> {
  readonly ticket: CommitTicket<Result>
}

/**
 * Group commit: whatever is handed in while one group is being committed forms the next group, so that many
 * callers share one fsync. Groups and tasks run strictly one after another, in the order in which they came.
 */
export class GroupCommit<Item extends Committed<Result>, Result> {
  readonly #commit: (items: readonly Item[]) => Promise<readonly (Result | Error)[]>
  readonly #weigh: (item: Item) => number
  readonly #maximumWeight: number
  readonly #turn: () => Promise<void> | undefined
  readonly #onCommitted: (items: number, seconds: number) => void
  #queue: (Item | Task)[] = []
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

  /** Settles the ticket of the item. */
  push(item: Item): undefined {
    this.#queue.push(item)
    this.#start()
  }

  /** Runs `task` when everything handed in before it is committed, and holds back what comes after it. */
  alone<T>(task: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = async () => await task()
      this.#queue.push(new Task(() => run().then(resolve, reject)))
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
      const [first] = this.#queue
      if (first instanceof Task) {
        this.#queue.shift()
        await first.run()
      } else {
        await this.#settle(this.#takeGroup())
      }
    }
    // In the same tick as the empty queue was seen: a tick later, what came in between would lie there unseen.
    this.#running = false
  }

  /** The items up to the next task or the maximum weight: at least one. */
  #takeGroup(): Item[] {
    const group: Item[] = []
    let weight = 0
    for (const entry of this.#queue) {
      if (entry instanceof Task) break
      weight += this.#weigh(entry)
      if (group.length > 0 && weight > this.#maximumWeight) break
      group.push(entry)
    }
    this.#queue = this.#queue.slice(group.length)
    return group
  }

  async #settle(group: readonly Item[]): Promise<void> {
    let results: readonly (Result | Error)[]
    try {
      const begin = performance.now()
      results = await this.#commit(group)
      this.#onCommitted(group.length, (performance.now() - begin) / 1_000)
    } catch (error) {
      for (const { ticket } of group) ticket.reject(error)
      // What waits behind it was handed in without knowing: of one sender, it would be committed before what failed is sent again.
      const left: Task[] = []
      for (const entry of this.#queue) {
        if (entry instanceof Task) left.push(entry)
        else entry.ticket.reject(error)
      }
      this.#queue = left
      return
    }
    for (const [index, { ticket }] of group.entries()) {
      const result = results[index]
      try {
        if (result instanceof Error) ticket.reject(result)
        else ticket.resolve(result as Result)
      } catch (defect) {
        // Of whoever is told: the others are told all the same, and it does not go unseen.
        queueMicrotask(() => {
          throw defect
        })
      }
    }
  }
}

class Task {
  readonly run: () => Promise<void>

  constructor(run: () => Promise<void>) {
    this.run = run
  }
}
