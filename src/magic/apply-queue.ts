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

/** Things whose states are put at one time; they share a commit of the store. */
const thingsAtOnce = 256

export interface ApplyQueueParts extends StepParts {
  readonly records: Pick<RecordStore, 'append' | 'read' | 'catchUp' | 'state'>
  readonly documents: Pick<DocumentStore, 'get' | 'put'>
  readonly marks: AppliedMarks
  /** That this node applies magic records: in its name all is put. */
  readonly lock: Lock
  /** Whoever sends on what is committed. */
  readonly live: BackPressure
  /** The newest write of which what is to be applied was pushed. */
  readonly seenThrough: () => number
  readonly onRefused: (refusal: MagicRefusal) => void
  /** How long a thing waits before the store is tried again, milliseconds. */
  readonly retryDelay: number
}

export interface Backlog {
  readonly length: number
  readonly oldest: number | undefined
}

/**
 * Applies magic records: those of one thing in write order, one append after another; things side by side, so that
 * none waits for another.
 */
export class ApplyQueue {
  readonly #parts: ApplyQueueParts
  /** By thing; there is one as long as it has jobs. */
  readonly #lanes = new Map<string, Lane>()
  /** Lanes that can take a step, the one that waits longest first. */
  readonly #ready = new Set<Lane>()
  readonly #steps = new Set<Promise<void>>()
  /** Writes that are not applied, by their numbers, ascending: when they were received, milliseconds. */
  readonly #open = new Map<number, number>()
  #waiting: { readonly through: number; readonly resolve: () => void }[] = []
  readonly #closing = new AbortController()

  constructor(parts: ApplyQueueParts) {
    this.#parts = parts
  }

  /** The write up to which everything is applied. */
  get appliedThrough(): number {
    const [lowest] = this.#open.keys()
    return lowest === undefined ? this.#parts.seenThrough() : lowest - 1
  }

  /** How many writes are not applied, and when the first of them was received, milliseconds. */
  get backlog(): Backlog {
    const [oldest] = this.#open.values()
    return { length: this.#open.size, oldest }
  }

  /** To be called with each commit as it is delivered. */
  hear(commit: Commit): void {
    const unsure = this.#lanes.get(commit.thingId)?.unsure
    // Nobody else puts states.
    if (unsure && commit.latest.some(({ key }) => isMagicKey(key))) unsure.isDelivered = true
  }

  /** To be called in write order. @param mark how far the thing was applied before */
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
   * Removes a state, or a part of one, after what was pushed before.
   *
   * @param name of the document that asks for it, if there is one
   * @throws ThingwireError store_unavailable if the queue is closed before it is durably gone
   */
  remove(thingId: string, key: string, receivedAt: number, name?: string): Promise<void> {
    const asked = name === undefined ? {} : { name }
    const after = this.#parts.seenThrough()
    return new Promise((resolve, reject) => {
      if (this.#closing.signal.aborted) reject(closed())
      else this.#add(thingId, { key, ...asked, after, receivedAt, resolve, reject })
    })
  }

  /** Resolves when everything up to this write is applied: never, if the queue is closed before. */
  whenApplied(through: number): Promise<void> {
    return new Promise(resolve => {
      this.#waiting.push({ through, resolve })
      this.settle()
    })
  }

  /** Looks who has waited for what is applied now. */
  settle(): void {
    if (this.#waiting.length === 0) return
    const { appliedThrough } = this
    this.#waiting = this.#waiting.filter(({ through, resolve }) => {
      if (through > appliedThrough) return true
      resolve()
      return false
    })
  }

  /** Finishes the steps that are under way; what is left is for the next start. */
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
      this.#goOnLater(lane)
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

  /** If an append that failed was kept all the same, it is delivered by then. */
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

  #goOnLater(lane: Lane): void {
    const { signal } = this.#closing
    void rest(this.#parts.retryDelay, signal).then(() => signal.aborted || this.#goOn(lane))
  }
}

function closed(): ThingwireError {
  return new ThingwireError('store_unavailable', 'the retained-state handler is closed')
}
