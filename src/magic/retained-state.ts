import { rest } from '../core/async/retry-until.ts'
import type { Lock } from '../core/locks.ts'
import type { Nodes } from '../core/nodes.ts'
import type { Commit } from '../core/ports.ts'
import type { StoredRecord } from '../core/record/record.ts'
import { ThingwireError } from '../errors.ts'
import { AppliedMarks, isApplied } from './applied-marks.ts'
import { Applier, type ApplierParts } from './applier.ts'
import type { Backlog } from './apply-queue.ts'
import { hasMagic } from './registry.ts'
import { RemovalRequests } from './removal-requests.ts'
import { stateOf } from './state-draft.ts'

/** Time before the store is tried again after a failure, milliseconds. */
const defaultRetryDelay = 1_000

export interface RetainedStateParts extends Omit<ApplierParts, 'retryDelay' | 'onRemoved' | 'lock'> {
  readonly nodes: ApplierParts['nodes'] & Pick<Nodes, 'lead'>
  readonly retryDelay?: number
}

/**
 * The retained-state handler (contract §5) applies acknowledged magic records to retained states, and announces the new states. One
 * node applies the records; all nodes read the states.
 *
 * ```
 *  store ── onCommit ──► queue: a lane for each thing ──► append {states, mark}: one commit, delivered like a record
 *    └── commit log, ──►
 *        at the start
 * ```
 *
 * No write waits for the handler, and no record is lost if the handler dies: each magic record is in the commit log, in the same
 * batch as its write, and marks store how far the handler has read that log.
 */
export class RetainedState {
  readonly #parts: Omit<ApplierParts, 'lock'> & Pick<RetainedStateParts, 'nodes'>
  readonly #requests: RemovalRequests
  readonly #stopListening: () => void
  readonly #stopLeading: () => Promise<void>
  /** Set while this node applies magic records. */
  #applier: Applier | undefined
  #isClosed = false

  constructor({ retryDelay = defaultRetryDelay, ...parts }: RetainedStateParts) {
    this.#requests = new RemovalRequests(parts.documents)
    this.#parts = { ...parts, retryDelay, onRemoved: names => this.#requests.settle(names) }
    this.#stopListening = parts.nodes.onDocuments(names => {
      if (names) this.#requests.settle(names)
      else this.#requests.lookUp()
    })
    this.#stopLeading = parts.nodes.lead('magic', (...term) => this.#apply(...term))
  }

  /** Writes that this node still has to apply; empty if another node applies magic records. */
  get queue(): Backlog {
    return this.#applier?.backlog ?? { length: 0, oldest: undefined }
  }

  /** See `LogReader.wants`. */
  wants({ records }: Pick<Commit, 'records'>): boolean {
    return hasMagic(records)
  }

  /** See `LogReader.startTrim`: keeps the writes that are not applied yet. */
  async startTrim(): Promise<(commit: Commit) => boolean> {
    const marks = await new AppliedMarks(this.#parts.documents).load()
    return commit => hasMagic(commit.records) && !isApplied(marks, commit)
  }

  /** Key of the state that records with `key` change; undefined if no magic resource takes such records. */
  stateKeyOf(key: string): string | undefined {
    return this.#parts.magic.find(key)?.key
  }

  /** Whether the newest record of this key is the state. */
  isLatestRecord(key: string): boolean {
    const resource = this.#parts.magic.find(key)
    return resource?.key === key && resource.isLatestRecord === true
  }

  async stateKeys(thingId: string): Promise<readonly string[]> {
    const { magic, records } = this.#parts
    const states = await Promise.all(magic.keys.map(key => records.state(thingId, key)))
    return magic.keys.filter((_, index) => states[index])
  }

  /** The state, or the part that `key` names, with value null if there is no such part. @returns undefined if there is no state */
  async read(thingId: string, key: string): Promise<StoredRecord | undefined> {
    const resource = this.#parts.magic.find(key)
    const state = resource && (await this.#parts.records.state(thingId, resource.key))
    if (!state || key === resource.key) return state
    const value = resource.parts?.read(stateOf(state), key) ?? null
    return { key, datetime: state.datetime, value: JSON.stringify(value) }
  }

  /**
   * Removes the state, or the part that `key` names, after all writes acknowledged before the call, and announces the new state.
   * Resolves when the removal is durable.
   *
   * @throws ThingwireError if the store fails; store_unavailable if the service ends before that
   */
  async remove(thingId: string, key: string): Promise<void> {
    if (!this.#parts.magic.find(key)) return
    const applier = this.#applier
    if (applier) {
      const isDone = await applier.remove(thingId, key).then(
        () => true,
        () => false,
      )
      if (isDone) return
    }
    if (this.#isClosed) throw new ThingwireError('store_unavailable', 'the retained-state handler is closed')
    await this.#requests.ask(thingId, key, request => this.#applier?.removeAsAsked(request))
  }

  /** Resolves when all commits delivered before the call are applied; never if another node applies them. */
  async whenApplied(): Promise<void> {
    await (this.#applier?.whenApplied() ?? new Promise(() => {}))
  }

  /** Finishes pending steps, and leaves the other jobs to the next start or to another node. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#stopLeading()
    this.#stopListening()
    this.#requests.close()
  }

  /** Never rejects. */
  async #apply(stop: AbortSignal, lock: Lock): Promise<void> {
    while (!stop.aborted) {
      this.#applier = new Applier({ ...this.#parts, lock })
      await this.#applier.run(stop)
      this.#applier = undefined
      await rest(this.#parts.retryDelay, stop)
    }
  }
}
