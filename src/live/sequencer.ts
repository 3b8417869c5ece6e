import { sizeOf } from '../core/commit-outline.ts'
import type { Commit } from '../core/ports.ts'

/** How long commits are handed on in one go, milliseconds: sockets are read and acks written in between. */
const slice = 5
/**
 * The same while more than half as many wait as when it was over the last time, or anything if nothing did: what waits is to
 * become less, even if more comes in.
 */
const longestSlice = 15
/** Commits without a subscriber that are handed on before the clock is read: reading it takes longer than one of them. */
const unsentAtOnce = 64
/** Most bytes of this node's commits that may wait (contract §9); writes go on when half of them are handed on. */
const maximumWaiting = 64 * 1024 * 1024
/** Most bytes of other nodes' commits that may wait: their writes do not wait for this node. */
const maximumWaitingElsewhere = 256 * 1024 * 1024

/**
 * Hands commits on in commit order, later than the store delivers them: an ack must not wait for the subscribers of the
 * write, nor the event loop for all subscribers of a large group of writes.
 */
export class Sequencer {
  readonly #handOn: (commit: Commit, takenAt: number) => boolean
  readonly #onDropped: () => void
  #queue: (Commit | Mark)[] = []
  #next = 0
  #writeNumber: number
  /** Bytes of commits in the queue, of this node and of others. */
  #waiting = 0
  #waitingElsewhere = 0
  #room: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined
  /** When the next commit to be handed on was taken, by the monotonic clock. */
  #takenAt = 0
  /** Whether that is known of what is taken now: the clock is asked once an iteration of the event loop, since it costs as much as a take. */
  #isStamped = false
  /** How many entries of the queue the last slice left. */
  #left = 0
  #isScheduled = false
  #isStopped = false

  /**
   * @param writeNumber number of the newest write before the first that is to be handed on
   * @param handOn called with the time at which the store delivered the commit, by the monotonic clock; returns whether anybody subscribes
   * @param onDropped called in place of commits that are not handed on, since too much of other nodes waits
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

  /** Number of the newest write that was handed on. */
  get writeNumber(): number {
    return this.#writeNumber
  }

  /** Bytes of commits that are not handed on yet. */
  get waiting(): number {
    return this.#waiting + this.#waitingElsewhere
  }

  /** To be called in commit order. */
  take(commit: Commit): void {
    if (this.#isStopped) return
    this.#stamp()
    this.#queue.push(commit)
    this.#weigh(commit, 1)
    if (this.#waitingElsewhere > maximumWaitingElsewhere) this.#drop()
    this.#schedule()
  }

  /** Resolves when no more of this node's commits wait than may; undefined if so it is. */
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

  /**
   * Calls `reached` when every write up to `writeNumber` is handed on, and none behind it.
   *
   * @throws RangeError if one behind it was handed on already
   */
  at(writeNumber: number, reached: () => void): void {
    if (writeNumber < this.#writeNumber) throw new RangeError(`write ${writeNumber} was passed`)
    let place = this.#next
    for (; place < this.#queue.length; place++) {
      if ((this.#queue[place] as Commit | Mark).writeNumber > writeNumber) break
    }
    this.#queue.splice(place, 0, { writeNumber, reached })
    this.#schedule()
  }

  /** Calls `reached` when everything that was taken is handed on, and nothing that is taken later. */
  atEnd(reached: () => void): void {
    this.#queue.push({ writeNumber: this.#newest, reached })
    this.#schedule()
  }

  /** Hands nothing on any more. */
  stop(): void {
    this.#isStopped = true
    this.#giveRoom()
  }

  /** What is taken from here on, in this iteration of the event loop, was taken now. */
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
