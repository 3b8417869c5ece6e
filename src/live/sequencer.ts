import { sizeOf } from '../core/commit-outline.ts'
import type { Commit } from '../core/ports.ts'

/** Time limit for deliveries in one turn of the event loop, milliseconds. Between turns, sockets are read and acks are sent. */
const slice = 5
/** Used instead of `slice` while the queue is longer than half of what the last slice left, so that it shrinks under load. */
const longestSlice = 15
/** The clock is read once per this many commits without a subscriber, since a reading takes longer than handling such a commit. */
const unsentAtOnce = 64
/** Maximum queued bytes of this node's commits (contract §9). Above it, writes wait until the queue falls to half the limit. */
const maximumWaiting = 64 * 1024 * 1024
/** Maximum queued bytes of other nodes' commits. Above this limit, the queue is dropped: this node cannot slow down other nodes. */
const maximumWaitingElsewhere = 256 * 1024 * 1024

/**
 * Delivers commits in commit order, asynchronously. An ack does not wait for the subscribers of its write, and a large group of
 * writes does not block the event loop.
 */
export class Sequencer {
  readonly #handOn: (commit: Commit, takenAt: number) => boolean
  readonly #onDropped: () => void
  #queue: (Commit | Mark)[] = []
  #next = 0
  #writeNumber: number
  /** Bytes of this node's queued commits; `#waitingElsewhere` counts the bytes of other nodes' commits. */
  #waiting = 0
  #waitingElsewhere = 0
  #room: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined
  /** When the store delivered the next commit in the queue, on a monotonic clock, milliseconds. */
  #takenAt = 0
  /** Whether the clock was read in this turn of the event loop. More readings would be slow: a reading takes as long as `take`. */
  #isStamped = false
  /** Number of entries that the last slice left in the queue. */
  #left = 0
  #isScheduled = false
  #isStopped = false

  /**
   * @param writeNumber number of the newest write before the first write to deliver
   * @param handOn delivers a commit to its subscribers; `takenAt`: when it came from the store; returns whether it has subscribers
   * @param onDropped called when commits are dropped because too many commits from other nodes are queued
   */
  constructor(
    writeNumber: number,
    handOn: (commit: Commit, takenAt: number) => boolean,
    onDropped: () => void = () => {},
  ) {
    this.#writeNumber = writeNumber
    this.#handOn = handOn
    this.#onDropped = onDropped
  }

  /** Number of the newest delivered write. */
  get writeNumber(): number {
    return this.#writeNumber
  }

  get waiting(): number {
    return this.#waiting + this.#waitingElsewhere
  }

  /** Call this in commit order. */
  take(commit: Commit): void {
    if (this.#isStopped) return
    this.#stamp()
    this.#queue.push(commit)
    this.#weigh(commit, 1)
    if (this.#waitingElsewhere > maximumWaitingElsewhere) this.#drop()
    this.#schedule()
  }

  /** Resolves when new writes may go on; undefined if they may go on now. */
  room(): Promise<void> | undefined {
    if (this.#waiting <= maximumWaiting) return this.#room?.promise
    if (!this.#room) {
      let resolve = () => {}
      const promise = new Promise<void>(done => {
        resolve = done
      })
      this.#room = { promise, resolve }
    }
    return this.#room.promise
  }

  /** Calls `reached` after write `writeNumber` and before the next one. @throws RangeError if a later write is already delivered */
  at(writeNumber: number, reached: () => void): void {
    if (writeNumber < this.#writeNumber) throw new RangeError(`write ${writeNumber} was passed`)
    let place = this.#next
    for (; place < this.#queue.length; place++) {
      if ((this.#queue[place] as Commit | Mark).writeNumber > writeNumber) break
    }
    this.#queue.splice(place, 0, { writeNumber, reached })
    this.#schedule()
  }

  /** Calls `reached` when all commits taken so far are delivered, and before later commits are delivered. */
  atEnd(reached: () => void): void {
    this.#queue.push({ writeNumber: this.#newest, reached })
    this.#schedule()
  }

  stop(): void {
    this.#isStopped = true
    this.#giveRoom()
  }

  /** Queues the current time, which applies to all commits taken in this turn of the event loop. */
  #stamp(): void {
    if (this.#isStamped) return
    this.#isStamped = true
    const now = performance.now()
    const reached = () => {
      this.#takenAt = now
    }
    this.#queue.push({ writeNumber: this.#newest, reached })
  }

  get #newest(): number {
    return Math.max(this.#writeNumber, this.#queue.at(-1)?.writeNumber ?? 0)
  }

  #weigh(commit: Commit, sign: 1 | -1): void {
    if (commit.isElsewhere) this.#waitingElsewhere += sign * sizeOf(commit)
    else this.#waiting += sign * sizeOf(commit)
  }

  #drop(): void {
    const last = { writeNumber: this.#newest, reached: this.#onDropped }
    this.#queue = [...this.#queue.slice(this.#next).filter(entry => 'reached' in entry), last]
    this.#next = 0
    this.#waiting = 0
    this.#waitingElsewhere = 0
    this.#giveRoom()
  }

  #giveRoom(): void {
    this.#room?.resolve()
    this.#room = undefined
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#run())
  }

  #run(): void {
    this.#isStamped = false
    const begin = performance.now()
    let unsent = 0
    while (this.#next < this.#queue.length && !this.#isStopped) {
      const entry = this.#queue[this.#next++] as Commit | Mark
      this.#writeNumber = Math.max(this.#writeNumber, entry.writeNumber)
      if ('reached' in entry) {
        entry.reached()
      } else {
        this.#weigh(entry, -1)
        const isSent = this.#handOn(entry, this.#takenAt)
        if (!isSent && ++unsent % unsentAtOnce !== 0) continue
      }
      const elapsed = performance.now() - begin
      const isBehind = this.#queue.length - this.#next > this.#left / 2
      if (elapsed > (isBehind ? longestSlice : slice)) break
    }
    this.#queue = this.#isStopped ? [] : this.#queue.slice(this.#next)
    this.#next = 0
    this.#left = this.#queue.length
    this.#isScheduled = false
    if (this.#waiting <= maximumWaiting / 2) this.#giveRoom()
    if (this.#queue.length > 0) this.#schedule()
  }
}

interface Mark {
  readonly writeNumber: number
  readonly reached: () => void
}
