import type { CommitTicket } from './contract.ts'

export interface Committer<Item, Result> {
  /**
   * Makes a group durable. If the promise rejects, no item of the group counts as kept.
   *
   * @param begun called when the commit has only to wait for the disk, so that the next group can be prepared meanwhile
   * @returns one result per item, in order; an Error rejects only the ticket of its item
   */
  commit(items: readonly Item[], begun: () => void): Promise<readonly (Result | Error)[]>
  /** Prepares the next item of the next group; never throws. @returns false if this and all later items must wait for `commit` */
  prepare?(item: Item): boolean
  /** Whether `item` may be committed before `before`, which was pushed earlier. Default: no. */
  mayPass?(item: Item, before: Item): boolean
}

/**
 * Group commit: items that are pushed while one group is being committed form the next group, so that many
 * callers share one fsync. Groups and tasks run one after another, in the order of the calls. There is one exception: a group of
 * lighter items may move forward in the queue to run between two items that each exceed the maximum weight of a group.
 */
export class GroupCommit<Item extends { readonly ticket: CommitTicket<Result> }, Result> {
  readonly #committer: Committer<Item, Result>
  readonly #weigh: (item: Item) => number
  readonly #maximumWeight: number
  readonly #turn: () => Promise<void> | undefined
  readonly #onCommitted: (items: number, seconds: number) => void
  #queue: (Group<Item> | Task)[] = []
  /** Tasks of `between`, which run before the next entry of the queue. */
  readonly #between: Task[] = []
  #running = false
  /** The entry most recently taken out of the queue. */
  #newest: Group<Item> | Task | undefined
  /** Whether items are prepared as they are pushed: true while a commit or `between` task runs, until `prepare` refuses an item. */
  #isPreparing = false

  /**
   * @param weigh weight of an item, in the unit of `maximumWeight`; an item heavier than `maximumWeight` forms a group alone
   * @param turn returns a promise that resolves when the next group may be formed, or undefined if it may be formed now
   * @param onCommitted called after each commit with the number of its items and its duration in seconds
   */
  constructor(
    committer: Committer<Item, Result>,
    weigh: (item: Item) => number,
    maximumWeight: number,
    turn: () => Promise<void> | undefined = () => undefined,
    onCommitted: (items: number, seconds: number) => void = () => {},
  ) {
    this.#committer = committer
    this.#weigh = weigh
    this.#maximumWeight = maximumWeight
    this.#turn = turn
    this.#onCommitted = onCommitted
  }

  push(item: Item): undefined {
    const weight = this.#weigh(item)
    const place = this.#placeOf(item, weight)
    const before = this.#queue[place - 1]
    if (this.#takes(before, weight)) before.add(item, weight)
    else this.#queue.splice(place, 0, new Group(item, weight))
    if (this.#isPreparing) this.#prepare()
    this.#start()
  }

  /** How many entries of the queue run before an item that is pushed now. */
  #placeOf(item: Item, weight: number): number {
    let place = this.#queue.length
    if (weight > this.#maximumWeight || !this.#queue.some(entry => this.#isHeavy(entry))) return place
    for (let at = place - 1; at >= 0; at--) {
      const entry = this.#queue[at]
      if (!(entry instanceof Group && entry.items.every(before => this.#mayPass(item, before)))) return place
      if (this.#isHeavy(entry) && this.#hasRoomBefore(at, weight)) place = at
    }
    return place
  }

  #mayPass(item: Item, before: Item): boolean {
    return this.#committer.mayPass?.(item, before) ?? false
  }

  /** At most one group may run between two heavy items; otherwise the second heavy item might wait forever. */
  #hasRoomBefore(place: number, weight: number): boolean {
    const before = place === 0 ? this.#newest : this.#queue[place - 1]
    return this.#isHeavy(before) || (place > 0 && this.#takes(before, weight))
  }

  #isHeavy(entry: Group<Item> | Task | undefined): boolean {
    return entry instanceof Group && entry.weight > this.#maximumWeight
  }

  #takes(entry: Group<Item> | Task | undefined, weight: number): entry is Group<Item> {
    return entry instanceof Group && entry.weight + weight <= this.#maximumWeight
  }

  /** Runs `task` when every earlier item is committed; later items wait for the task. */
  alone<T>(task: () => Promise<T>): Promise<T> {
    return this.#enqueue(this.#queue, task)
  }

  /**
   * Runs `task` as soon as no group is being committed, ahead of the queue. Items of the next group may already be prepared, so the
   * task must not change anything that their preparation relied on.
   */
  between<T>(task: () => Promise<T>): Promise<T> {
    return this.#enqueue(this.#between, task)
  }

  #enqueue<T>(tasks: { push(task: Task): unknown }, task: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = async () => await task()
      tasks.push(() => run().then(resolve, reject))
      this.#start()
    })
  }

  #start(): void {
    if (this.#running) return
    this.#running = true
    void this.#run()
  }

  async #run(): Promise<void> {
    // Lets the first group include all items that are pushed in this turn of the event loop.
    await Promise.resolve()
    while (this.#queue.length > 0 || this.#between.length > 0) {
      const turn = this.#turn()
      if (turn) await turn
      const between = this.#between.shift()
      if (between) {
        await this.#preparing(between)
        continue
      }
      const first = this.#queue.shift()
      this.#newest = first
      if (first instanceof Group) await this.#settle(first.items)
      else if (first) await first()
    }
    // Set in the same tick as the last check of the loop: otherwise an item pushed in between would never be committed.
    this.#running = false
  }

  async #preparing(task: Task): Promise<void> {
    this.#isPreparing = true
    this.#prepare()
    await task()
    this.#isPreparing = false
  }

  /** Prepares the items of the next group, up to the first item that cannot be prepared. */
  #prepare(): void {
    const [next] = this.#queue
    if (!(next instanceof Group) || !this.#committer.prepare) return
    for (let item = next.items[next.prepared]; item; item = next.items[++next.prepared]) {
      this.#isPreparing = this.#committer.prepare(item)
      if (!this.#isPreparing) return
    }
  }

  async #settle(group: readonly Item[]): Promise<void> {
    let results: readonly (Result | Error)[]
    try {
      const begin = performance.now()
      results = await this.#committer.commit(group, () => {
        this.#isPreparing = true
        this.#prepare()
      })
      this.#onCommitted(group.length, (performance.now() - begin) / 1_000)
    } catch (error) {
      for (const { ticket } of group) ticket.reject(error)
      // Queued items fail too: otherwise they would be committed before the failed items, which their senders have to send again.
      const left: Task[] = []
      for (const entry of this.#queue) {
        if (!(entry instanceof Group)) left.push(entry)
        else for (const { ticket } of entry.items) ticket.reject(error)
      }
      this.#queue = left
      return
    } finally {
      this.#isPreparing = false
    }
    group.forEach(({ ticket }, index) => {
      const result = results[index]
      try {
        if (result instanceof Error) ticket.reject(result)
        else ticket.resolve(result as Result)
      } catch (defect) {
        // A listener threw. The other tickets are still settled, and the error becomes an uncaught exception.
        queueMicrotask(() => {
          throw defect
        })
      }
    })
  }
}

type Task = () => Promise<void>

class Group<Item> {
  readonly items: Item[]
  weight: number
  /** How many items are prepared, counted from the first. */
  prepared = 0

  constructor(first: Item, weight: number) {
    this.items = [first]
    this.weight = weight
  }

  add(item: Item, weight: number): void {
    this.items.push(item)
    this.weight += weight
  }
}
