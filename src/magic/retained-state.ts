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

/** How long to wait before a store that has failed is tried again, milliseconds. */
const defaultRetryDelay = 1_000

export interface RetainedStateParts extends Omit<ApplierParts, 'retryDelay' | 'onRemoved' | 'lock'> {
  readonly nodes: ApplierParts['nodes'] & Pick<Nodes, 'lead'>
  readonly retryDelay?: number
}

/**
 * The retained-state handler (contract §5): takes acknowledged magic records, replaces the retained state, and
 * announces it. Of several nodes one applies them, all read.
 *
 * ```
 *  store ── onCommit ──► queue: a lane for each thing ──► append {states, mark}: kept as one, delivered like a record
 *    └── commit log, ──►
 *        at the start
 * ```
 *
 * Nothing waits for it, and nothing is lost with it: a magic record is in the commit log, in the batch of its write, and
 * the handler is a follower of that log. How far it has come, the marks say.
 */
export class RetainedState {
  readonly #parts: Omit<ApplierParts, 'lock'> & Pick<RetainedStateParts, 'nodes'>
  readonly #requests: RemovalRequests
  readonly #stopListening: () => void
  readonly #stopLeading: () => Promise<void>
  /** As long as this node applies. */
  #applier: Applier | undefined
  #isClosed = false

  /** Takes up what was acknowledged and not applied, ahead of anything newer, where this node is the one that applies. */
  constructor({ retryDelay = defaultRetryDelay, ...parts }: RetainedStateParts) {
    this.#requests = new RemovalRequests(parts.documents)
    this.#parts = { ...parts, retryDelay, onRemoved: names => this.#requests.settle(names) }
    this.#stopListening = parts.nodes.onDocuments(names => {
      if (names) this.#requests.settle(names)
      else this.#requests.lookUp()
    })
    this.#stopLeading = parts.nodes.lead('magic', (...term) => this.#apply(...term))
  }

  /** What waits to be applied by this node: nothing, where another one applies. */
  get queue(): Backlog {
    return this.#applier?.backlog ?? { length: 0, oldest: undefined }
  }

  /** As a follower of the commit log: which writes it may have to read again. */
  wants({ records }: Pick<Commit, 'records'>): boolean {
    return hasMagic(records)
  }

  /** As a follower of the commit log: what is still to be applied, by whichever node. */
  async startTrim(): Promise<(commit: Commit) => boolean> {
    const marks = await new AppliedMarks(this.#parts.documents).load()
    return commit => hasMagic(commit.records) && !isApplied(marks, commit)
  }

  /** Key of the state that records under `key` change; undefined if no magic resource takes them. */
  stateKeyOf(key: string): string | undefined {
    return this.#parts.magic.find(key)?.key
  }

  /** Whether the state of this key is that of the newest record under it. */
  isLatestRecord(key: string): boolean {
    const resource = this.#parts.magic.find(key)
    return resource?.key === key && resource.isLatestRecord === true
  }

  /** Keys of the states that the thing has. */
  async stateKeys(thingId: string): Promise<readonly string[]> {
    const { magic, records } = this.#parts
    const states = await Promise.all(magic.keys.map(key => records.state(thingId, key)))
    return magic.keys.filter((_, index) => states[index])
  }

  /**
   * The state, or the part of it that `key` names: null, where the state has no such part.
   *
   * @returns undefined if there is no state
   */
  async read(thingId: string, key: string): Promise<StoredRecord | undefined> {
    const resource = this.#parts.magic.find(key)
    const state = resource && (await this.#parts.records.state(thingId, resource.key))
    if (!state || key === resource.key) return state
    const value = resource.parts?.read(stateOf(state), key) ?? null
    return { key, datetime: state.datetime, value: JSON.stringify(value) }
  }

  /**
   * Removes the state, or the part of it that `key` names, after what was acknowledged before, and announces what is
   * left. Resolves when that is durable.
   *
   * @throws ThingwireError of the store; store_unavailable if the service ends before
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

  /** Resolves when every commit that was delivered before the call is applied: never, where another node applies it. */
  async whenApplied(): Promise<void> {
    await (this.#applier?.whenApplied() ?? new Promise(() => {}))
  }

  /** Finishes what is being put; the rest is left to the next start, or to another node. */
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
