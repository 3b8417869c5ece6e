import type { Commit } from '../core/ports.ts'
import { sizeOf } from './commit-size.ts'

/** How long commits are handed on in one go, milliseconds: sockets are read and acks written in between. */
const slice = 5
/** Most bytes of commits that may wait (contract §9); writes go on when half of them are handed on. */
const maximumWaiting = 64 * 1024 * 1024

/**
 * Hands commits on in commit order, later than the store tells them: an ack must not wait for the subscribers of the
 * write, nor the event loop for all subscribers of a large group of writes.
 */
export class Sequencer {
  readonly #handOn: (commit: Commit) => void
  #queue: (Commit | Mark)[] = []
  #next = 0
  #position: number
  #waiting = 0
  #room: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined
  #isScheduled = false
  #isStopped = false

  /** @param position number of the newest write before the first that is to be handed on */
  constructor(position: number, handOn: (commit: Commit) => void) {
    this.#position = position
    this.#handOn = handOn
  }

  /** Number of the newest write that was handed on. */
  get position(): number {
    return this.#position
  }

  /** To be called in commit order. */
  take(commit: Commit): void {
    if (this.#isStopped) return
    this.#queue.push(commit)
    this.#waiting += sizeOf(commit)
    this.#schedule()
  }

  /** Resolves when no more commits wait than may; undefined if so it is. */
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
    if (writeNumber < this.#position) throw new RangeError(`write ${writeNumber} was passed`)
    let place = this.#next
    for (; place < this.#queue.length; place++) {
      if ((this.#queue[place] as Commit | Mark).writeNumber > writeNumber) break
    }
    this.#queue.splice(place, 0, { writeNumber, reached })
    this.#schedule()
  }

  /** Hands nothing on any more. */
  stop(): void {
    this.#isStopped = true
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
    const end = performance.now() + slice
    while (this.#next < this.#queue.length && !this.#isStopped) {
      const entry = this.#queue[this.#next++] as Commit | Mark
      this.#position = Math.max(this.#position, entry.writeNumber)
      if ('reached' in entry) {
        entry.reached()
      } else {
        this.#waiting -= sizeOf(entry)
        this.#handOn(entry)
      }
      if (performance.now() > end) break
    }
    this.#queue = this.#isStopped ? [] : this.#queue.slice(this.#next)
    this.#next = 0
    this.#isScheduled = false
    if (this.#waiting <= maximumWaiting / 2) this.#giveRoom()
    if (this.#queue.length > 0) this.#schedule()
  }
}

interface Mark {
  readonly writeNumber: number
  readonly reached: () => void
}
