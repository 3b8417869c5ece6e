import { rest } from '../core/async/retry-until.ts'
import { magicRecords } from '../core/commit-outline.ts'
import type { Lock } from '../core/locks.ts'
import type { BackPressure, Commit, DocumentStore, RecordStore } from '../core/ports.ts'
import { isMagicKey } from '../core/record/key.ts'
import { ThingwireError } from '../errors.ts'
import { type AppliedMark, type AppliedMarks, appliedRecords } from './applied-marks.ts'
import {
  type Appended,
  isWrite,
  type Lane,
  type MagicRefusal,
  type MagicWrite,
  nextStep,
  type StateRemoval,
  type Step,
  type StepParts,
} from './lane.ts'

/** Maximum number of concurrent steps, at most one per thing. Concurrent steps share a group commit of the store. */
const thingsAtOnce = 256

export interface ApplyQueueParts extends StepParts {
  readonly records: Pick<RecordStore, 'append' | 'read' | 'catchUp' | 'state'>
  readonly documents: Pick<DocumentStore, 'get' | 'put'>
  readonly marks: AppliedMarks
  /** The lock of the task `magic`. All states are put under this lock. */
  readonly lock: Lock
  readonly live: BackPressure
  /** Number of the newest write that was pushed or had nothing to apply. */
  readonly seenThrough: () => number
  readonly onRefused: (refusal: MagicRefusal) => void
  /** How long a thing waits before it tries the store again, milliseconds. */
  readonly retryDelay: number
}

export interface Backlog {
  /** Number of unapplied writes. */
  readonly length: number
  /** Receipt time of the oldest unapplied write, milliseconds since 1970. */
  readonly oldest: number | undefined
}

/** Applies magic records: for one thing in write order, one append after another; for different things concurrently. */
export class ApplyQueue {
  readonly #parts: ApplyQueueParts
  /** Lanes by thing id; a lane exists while it has jobs. */
  readonly #lanes = new Map<string, Lane>()
  /** Lanes that can take a step; the first lane has waited longest. */
  readonly #ready = new Set<Lane>()
  readonly #steps = new Set<Promise<void>>()
  /** Receipt times of unapplied writes by write number, ascending; milliseconds. */
  readonly #open = new Map<number, number>()
  #waiting: { readonly through: number; readonly resolve: () => void }[] = []
  readonly #closing = new AbortController()

  constructor(parts: ApplyQueueParts) {
    this.#parts = parts
  }

  /** Number of the write up to which (inclusive) the records of all things are applied. */
  get appliedThrough(): number {
    const [lowest] = this.#open.keys()
    return lowest === undefined ? this.#parts.seenThrough() : lowest - 1
  }

  get backlog(): Backlog {
    const [oldest] = this.#open.values()
    return { length: this.#open.size, oldest }
  }

  /** Call this with each delivered commit. */
  hear(commit: Commit): void {
    const unsure = this.#lanes.get(commit.thingId)?.unsure
    // Only this queue puts states, so this commit belongs to the unsure append.
    if (unsure && commit.latest.some(({ key }) => isMagicKey(key))) unsure.isDelivered = true
  }

  /** Call this in write order. @param mark mark of the thing when the applier started */
  push(commit: Commit, mark?: AppliedMark): void {
    const records = magicRecords(commit)
    const applied = appliedRecords(mark, commit.writeNumber)
    if (applied >= records.length) {
      this.settle()
    } else {
      this.#open.set(commit.writeNumber, commit.receivedAt)
      this.#add(commit.thingId, { commit, records, applied })
    }
  }

  /**
   * Removes a state, or a part of a state, after all writes pushed before the call are applied.
   *
   * @param name name of the document that requests the removal, if there is one
   * @throws ThingwireError store_unavailable if the queue is closed before the state is durably removed
   */
  remove(thingId: string, key: string, receivedAt: number, name?: string): Promise<void> {
    const asked = name === undefined ? {} : { name }
    const after = this.#parts.seenThrough()
    return new Promise((resolve, reject) => {
      if (this.#closing.signal.aborted) reject(closed())
      else this.#add(thingId, { key, ...asked, after, receivedAt, resolve, reject })
    })
  }

  /** Resolves when every write up to and including `through` is applied; never if the queue is closed before that. */
  whenApplied(through: number): Promise<void> {
    return new Promise(resolve => {
      this.#waiting.push({ through, resolve })
      this.settle()
    })
  }

  /** Resolves the calls of `whenApplied` whose writes are now applied. */
  settle(): void {
    if (this.#waiting.length === 0) return
    const { appliedThrough } = this
    this.#waiting = this.#waiting.filter(({ through, resolve }) => {
      if (through > appliedThrough) return true
      resolve()
      return false
    })
  }

  /** Finishes pending steps, and leaves the other jobs to the next applier. */
  async close(): Promise<void> {
    this.#closing.abort()
    while (this.#steps.size > 0) await Promise.all(this.#steps)
    for (const { jobs } of this.#lanes.values()) {
      for (const job of jobs) if (!isWrite(job)) job.reject(closed())
    }
  }

  #add(thingId: string, job: MagicWrite | StateRemoval): void {
    const lane = this.#lanes.get(thingId)
    if (lane) {
      lane.jobs.push(job)
      return
    }
    const opened = { thingId, jobs: [job] }
    this.#lanes.set(thingId, opened)
    this.#goOn(opened)
  }

  #goOn(lane: Lane): void {
    if (lane.jobs.length === 0) {
      this.#lanes.delete(lane.thingId)
      return
    }
    this.#ready.add(lane)
    this.#startSteps()
  }

  #startSteps(): void {
    for (const lane of this.#ready) {
      if (this.#steps.size >= thingsAtOnce || this.#closing.signal.aborted) return
      this.#ready.delete(lane)
      const step = this.#takeStep(lane).then(() => {
        this.#steps.delete(step)
        this.#startSteps()
      })
      this.#steps.add(step)
    }
  }

  /** Never rejects. */
  async #takeStep(lane: Lane): Promise<void> {
    try {
      await this.#parts.live.room()
      if (lane.unsure) await this.#lookUp(lane, lane.unsure)
      const step = await nextStep(lane, this.#parts)
      if (step) {
        if (step.draft.states.length > 0) await this.#append(lane, step)
        else if (step.documents)
          await this.#parts.documents.put(step.documents, 'essential', this.#parts.lock)
        this.#finish(lane, step)
      }
      this.#goOn(lane)
    } catch (error) {
      if (!(error instanceof ThingwireError)) this.#parts.onDefect(error)
      const { signal } = this.#closing
      void rest(this.#parts.retryDelay, signal).then(() => signal.aborted || this.#goOn(lane))
    }
  }

  async #append(lane: Lane, step: Step): Promise<void> {
    const { thingId } = lane
    const { draft, store, broadcast, mark } = step
    const { states } = draft
    const marking = mark && this.#parts.marks.documents(thingId, mark, this.appliedThrough)
    const documents = marking && { ...step.documents, ...marking }
    lane.unsure = { step, isDelivered: false }
    const put = { thingId, records: [], states, store, broadcast, answer: {}, lock: this.#parts.lock }
    await this.#parts.records.append(documents ? { ...put, documents } : put)
    lane.unsure = undefined
  }

  /** Even a failed append may have been stored; if so, `catchUp` delivers its commit. */
  async #lookUp(lane: Lane, unsure: Appended): Promise<void> {
    await this.#parts.records.catchUp()
    if (unsure.isDelivered) this.#finish(lane, unsure.step)
    lane.unsure = undefined
  }

  #finish(lane: Lane, { draft, done, applied, refusals, mark }: Step): void {
    if (mark && draft.states.length > 0) this.#parts.marks.keep(lane.thingId, mark)
    for (const job of lane.jobs.splice(0, done)) {
      if (isWrite(job)) this.#open.delete(job.commit.writeNumber)
      else job.resolve()
    }
    const [next] = lane.jobs
    if (applied > 0 && next && isWrite(next)) {
      next.applied = applied
      if (!next.commit.stored) next.states = draft.known
    }
    for (const refusal of refusals) this.#parts.onRefused(refusal)
    this.settle()
  }
}

function closed(): ThingwireError {
  return new ThingwireError('store_unavailable', 'the retained-state handler is closed')
}
