import type { CommitTicket } from './contract.ts'

/** What waits to be committed with others, and who waits for it. */
export interface PendingCommit<Result> {
  readonly ticket: CommitTicket<Result>
}

/** How groups are made durable. */
export interface Committer<Item, Result> {
  /**
   * Makes a group durable; if it rejects, nothing of the group is kept for certain.
   *
   * @param begun called once nothing is left but to wait: what is handed in may be prepared from now on
   * @returns one result per item, in order; one that is an Error rejects that item alone
   */
  commit(items: readonly Item[], begun: () => void): Promise<readonly (Result | Error)[]>
  /**
   * Begins with the next group while one is being committed: called with its items in order. Never throws.
   *
   * @returns whether it can; if not, that item and those behind it are only prepared when they are committed
   */
  prepare?(item: Item): boolean
  /** Whether an item may be committed before one that was handed in earlier. Default: no. */
  mayPass?(item: Item, before: Item): boolean
}

/**
 * Group commit: whatever is handed in while one group is being committed forms the next group, so that many
 * callers share one fsync. Groups and tasks run strictly one after another, in the order in which they came, but for items that are
 * each heavier than a group: between two of them comes a group of lighter ones that may pass.
 */
export class GroupCommit<Item extends PendingCommit<Result>, Result> {
  readonly #committer: Committer<Item, Result>
  readonly #weigh: (item: Item) => number
  readonly #maximumWeight: number
  readonly #turn: () => Promise<void> | undefined
  readonly #onCommitted: (items: number, seconds: number) => void
  #queue: (Group<Item> | Task)[] = []
  /** Run before the next of the queue. */
  readonly #between: Task[] = []
  #running = false
  /** The newest that was taken out of the queue. */
  #newest: Group<Item> | Task | undefined
  /** A group is being committed, or a task runs between two, and all of the next one so far is prepared. */
  #isPreparing = false

  /**
   * @param weigh size of an item, in whatever unit `maximumWeight` has; a group of one may be heavier
   * @param turn when the next group may be made: resolves then; undefined: now
   * @param onCommitted called with each group that was committed: how many items it had, and how long that took
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

  /** Settles the ticket of the item. */
  push(item: Item): undefined {
    const weight = this.#weigh(item)
    const place = this.#placeOf(item, weight)
    const before = this.#queue[place - 1]
    if (this.#takes(before, weight)) before.add(item, weight)
    else this.#queue.splice(place, 0, new Group(item, weight))
    if (this.#isPreparing) this.#prepare()
    this.#start()
  }

  /** How many of the queue stay in front of an item. */
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

  /** One group at most comes between two heavy ones, or the second would never be committed. */
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

  /** Runs `task` when everything handed in before it is committed, and holds back what comes after it. */
  alone<T>(task: () => Promise<T>): Promise<T> {
    return this.#chunkIn(this.#queue, task)
  }

  /**
   * Runs `task` as soon as no group is being committed, before what waits. The next group may be prepared before: the task must
   * change nothing that is prepared without a read.
   */
  between<T>(task: () => Promise<T>): Promise<T> {
    return this.#chunkIn(this.#between, task)
  }

  #chunkIn<T>(tasks: { push(task: Task): unknown }, task: () => Promise<T>): Promise<T> {
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
    // The first group too may take what arrives in this turn of the event loop.
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
    // In the same tick as the empty queue was seen: a tick later, what came in between would lie there unseen.
    this.#running = false
  }

  async #preparing(task: Task): Promise<void> {
    this.#isPreparing = true
    this.#prepare()
    await task()
    this.#isPreparing = false
  }

  /** Prepares what is there of the next group, as far as that goes. */
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
      // What waits behind it was handed in without knowing: of one sender, it would be committed before what failed is sent again.
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
        // A listener's error: the others are called all the same, and it does not go unseen.
        queueMicrotask(() => {
          throw defect
        })
      }
    })
  }
}

/** What runs alone. */
type Task = () => Promise<void>

/** What is committed together. */
class Group<Item> {
  readonly items: Item[]
  weight: number
  /** How many of the items, from the first on. */
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
