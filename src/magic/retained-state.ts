import type { Clock } from '../core/clock.ts'
import type { Append, Commit, DocumentStore, Follow, RecordStore } from '../core/ports.ts'
import type { StoredRecord } from '../core/record.ts'
import { type AppliedMark, AppliedMarks, type LoadedMarks } from './applied-marks.ts'
import { ApplyQueue } from './apply-queue.ts'
import type { MagicRefusal } from './lane.ts'
import { hasMagic, type MagicRegistry } from './registry.ts'
import { stateOf } from './state-draft.ts'

/** How long to wait before a store that has failed is tried again, milliseconds. */
const defaultRetryDelay = 1_000

export interface RetainedStateParts {
  readonly records: Pick<RecordStore, 'append' | 'state' | 'onCommit' | 'readLog'>
  readonly documents: Pick<DocumentStore, 'get' | 'list' | 'transact'>
  readonly magic: MagicRegistry
  readonly clock: Pick<Clock, 'receive'>
  /** Whoever sends on what is committed. */
  readonly live: Follow
  /** A record of an acknowledged write could not be applied; it is kept as history. Must not throw. */
  readonly onRefused: (refusal: MagicRefusal) => void
  /** What a magic resource threw, or anything else that should not have happened. Must not throw. */
  readonly onDefect: (error: unknown) => void
  readonly retryDelay?: number
}

const logPage = 100

/**
 * The retained-state handler (contract §5): takes acknowledged magic records, replaces the retained state, and
 * announces it.
 *
 * ```
 *  store ── onCommit ──► queue: a lane for each thing ──► append {states, mark}: kept as one, told like a record
 *    └── commit log, ──►
 *        at the start
 * ```
 *
 * Nothing waits for it, and nothing is lost with it: a magic record is in the commit log, in the batch of its write, and
 * the handler is a follower of that log. How far it has come, the marks say.
 */
export class RetainedState {
  readonly #parts: RetainedStateParts
  readonly #queue: ApplyQueue
  readonly #stopListening: () => void
  #marksAtStart: ReadonlyMap<string, AppliedMark>
  /** Number of the newest write that the queue has seen. */
  #seen: number
  /** What is told while the log is read. */
  #held: Commit[] | undefined = []

  private constructor(parts: RetainedStateParts, marks: AppliedMarks, { through, ofThings }: LoadedMarks) {
    const { records, retryDelay = defaultRetryDelay } = parts
    this.#parts = parts
    this.#marksAtStart = ofThings
    this.#seen = through
    this.#queue = new ApplyQueue({ ...parts, marks, retryDelay, seenThrough: () => this.#seen })
    this.#stopListening = records.onCommit(commit => {
      if (this.#held) this.#held.push(commit)
      else this.#take(commit)
    })
  }

  /**
   * Takes up what was acknowledged, and not applied, before the service ended: ahead of anything newer, and without
   * waiting until it is applied.
   *
   * @throws ThingwireError of the store
   */
  static async open(parts: RetainedStateParts): Promise<RetainedState> {
    const marks = new AppliedMarks(parts.documents)
    const retained = new RetainedState(parts, marks, await marks.load())
    await retained.#takeUp()
    return retained
  }

  /** Write number: nothing up to it is still to be applied. */
  get appliedThrough(): number {
    return this.#queue.appliedThrough
  }

  /** As a follower of the commit log: which writes it may have to read again. */
  wants({ records }: Pick<Append, 'records'>): boolean {
    return hasMagic(records)
  }

  /** As a follower of the commit log: what it still needs of it. */
  async startTrim(): Promise<(commit: Commit) => boolean> {
    const { appliedThrough } = this
    return ({ writeNumber, records }) => writeNumber > appliedThrough && hasMagic(records)
  }

  /** Key of the state that records under `key` change; undefined if no magic resource takes them. */
  stateKeyOf(key: string): string | undefined {
    return this.#parts.magic.find(key)?.key
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
   * @throws ThingwireError store_unavailable if the service ends before
   */
  async remove(thingId: string, key: string): Promise<void> {
    if (!this.#parts.magic.find(key)) return
    await this.#queue.remove(thingId, key, this.#parts.clock.receive())
  }

  /** Resolves when everything that was committed before the call is applied. */
  whenApplied(): Promise<void> {
    return this.#queue.whenApplied(this.#seen)
  }

  /** Finishes what is being put; the rest is left to the next start. */
  async close(): Promise<void> {
    this.#stopListening()
    await this.#queue.close()
  }

  async #takeUp(): Promise<void> {
    for (;;) {
      const query = {
        after: this.#seen,
        before: Number.POSITIVE_INFINITY,
        order: 'asc',
        limit: logPage,
      } as const
      const commits = await this.#parts.records.readLog(query)
      for (const commit of commits) this.#take(commit)
      if (commits.length === 0) break
    }
    for (const commit of this.#held ?? []) this.#take(commit)
    this.#held = undefined
    this.#marksAtStart = new Map()
  }

  #take(commit: Commit): void {
    if (commit.writeNumber <= this.#seen) return
    this.#seen = commit.writeNumber
    this.#queue.push(commit, this.#marksAtStart.get(commit.thingId))
  }
}
