import { rest, retryUntil } from '../core/async/retry-until.ts'
import type { Lock } from '../core/locks.ts'
import type { Nodes } from '../core/nodes.ts'
import type { DocumentStore, RecordStore } from '../core/ports.ts'
import type { ReceiptClock } from '../core/time/clock.ts'
import { ThingwireError } from '../errors.ts'
import { type Belief, BelievedClock, firstBelief, shownBy } from './believed-clock.ts'
import { ageOf, type RetentionRule } from './rules.ts'

/** Number of runs within the shortest age of all rules, if the bounds below allow it. */
const looksPerAge = 20
/** Bounds (inclusive) of the interval between two runs, milliseconds. */
const leastInterval = 1_000
const mostInterval = 3_600_000
/** Each interval is up to this share longer or shorter at random, so that servers started together do not all look at once. */
const jitter = 0.1
/** Time until the next attempt after the store has failed, milliseconds. */
const retryAfter = 30_000
const thingsAtOnce = 100
/** The rest after each call of `removeOld`, as a multiple of the call's duration: a slow store gets a longer rest. */
const restPerWork = 6
/** Bounds (inclusive) of the rest after `removeOld`, milliseconds. With longer rests, writes could outpace removals. */
const leastRest = 1
const mostRest = 50
/** Name of the document that stores the `Belief`. */
const beliefName = 'believed-clock'
/** Default of `keepEvery`, milliseconds. Not longer, since a restart loses the running time since the belief was last stored. */
const usualKeepEvery = 600_000

export interface RetentionParts {
  readonly records: Pick<RecordStore, 'things' | 'resources' | 'removeOld'>
  readonly documents: Pick<DocumentStore, 'get' | 'put' | 'transact'>
  readonly nodes: Pick<Nodes, 'lead'>
  readonly clock: Pick<ReceiptClock, 'now' | 'newest' | 'behind'>
  /** Interval at which the believed time is stored, milliseconds. Default: 10 minutes. */
  readonly keepEvery?: number
  /** If empty, records are kept for ever. */
  readonly rules: readonly RetentionRule[]
  /** Called with errors other than the store's. */
  readonly onDefect: (error: unknown) => void
}

/**
 * Removes records that are older than their rule allows, in the background, on one node at a time. Each run starts from the
 * beginning, so an interrupted run needs no stored position. The newest record of a resource is kept at any age, so states and
 * latest records do not change. The same node stores the believed time, even without rules, since other data depend on it.
 */
export class Retention {
  /** Number of records that this node has removed. */
  removed = 0
  /** End of this node's last complete run, milliseconds since 1970. */
  lastRun: number | undefined
  readonly #parts: RetentionParts
  /** Stops the work. Resolves after the current call of `removeOld`. */
  readonly close: () => Promise<void>

  private constructor(parts: RetentionParts) {
    this.#parts = parts
    this.close = parts.nodes.lead('retention', (...term) => this.#work(...term))
  }

  /** Call this before any write: the first belief depends on the newest receipt time. @throws ThingwireError if the store fails */
  static async open(parts: RetentionParts): Promise<Retention> {
    const first = { [beliefName]: { ...firstBelief(parts.clock) } }
    await parts.documents.transact([beliefName], ([belief]) => ({
      put: belief ? {} : first,
      result: undefined,
      purpose: 'essential',
    }))
    return new Retention(parts)
  }

  /** The believed time (contract §4.5) as last stored, milliseconds since 1970. @throws ThingwireError if the store fails */
  async believedTime(): Promise<number> {
    const { time } = await this.#belief()
    return Math.min(time, shownBy(this.#parts.clock))
  }

  async #belief(): Promise<Belief> {
    const { documents, clock } = this.#parts
    return ((await documents.get(beliefName)) as Belief | undefined) ?? firstBelief(clock)
  }

  async #work(stop: AbortSignal, lock: Lock): Promise<void> {
    const belief = await retryUntil(() => this.#belief(), { every: retryAfter, stop })
    if (!belief) return
    const clock = new BelievedClock(this.#parts.clock, belief)
    await Promise.all([this.#keep(clock, stop, lock), this.#removeOn(clock, stop, lock)])
  }

  async #keep(clock: BelievedClock, stop: AbortSignal, lock: Lock): Promise<void> {
    const { documents, keepEvery = usualKeepEvery } = this.#parts
    clock.now()
    for (;;) {
      await rest(keepEvery, stop)
      if (stop.aborted) return
      clock.now()
      // If this fails, the next put stores the belief.
      await documents.put({ [beliefName]: { ...clock.belief } }, 'essential', lock).catch(this.#note)
    }
  }

  async #removeOn(clock: BelievedClock, stop: AbortSignal, lock: Lock): Promise<void> {
    if (this.#parts.rules.length === 0) return
    while (!stop.aborted) {
      let wait = this.#interval()
      try {
        await this.#removeAll(clock, stop, lock)
      } catch (error) {
        this.#note(error)
        wait = Math.min(wait, retryAfter)
      }
      await rest(wait, stop)
    }
  }

  readonly #note = (error: unknown): void => {
    if (!(error instanceof ThingwireError)) this.#parts.onDefect(error)
  }

  async #removeAll(clock: BelievedClock, stop: AbortSignal, lock: Lock): Promise<void> {
    const { records } = this.#parts
    for (let after: string | undefined; ; ) {
      const things = await records.things({ limit: thingsAtOnce, ...(after === undefined ? {} : { after }) })
      for (const thingId of things) {
        for (const key of await records.resources(thingId)) {
          await this.#removeOld(thingId, key, clock, stop, lock)
          if (stop.aborted) return
        }
      }
      after = things.at(-1)
      if (after === undefined) break
    }
    this.lastRun = Date.now()
  }

  async #removeOld(
    thingId: string,
    key: string,
    clock: BelievedClock,
    stop: AbortSignal,
    lock: Lock,
  ): Promise<void> {
    const age = ageOf(key, this.#parts.rules)
    if (age === undefined) return
    const before = clock.now() - age
    let from: string | undefined
    do {
      const begin = performance.now()
      const { count, next } = await this.#parts.records.removeOld(thingId, key, before, from, lock)
      this.removed += count
      from = next
      const took = performance.now() - begin
      await rest(Math.min(Math.max(leastRest, restPerWork * took), mostRest), stop)
    } while (from !== undefined && !stop.aborted)
  }

  #interval(): number {
    const least = Math.min(...this.#parts.rules.map(({ age }) => age))
    const interval = Math.min(Math.max(least / looksPerAge, leastInterval), mostInterval)
    return interval * (1 + jitter * (2 * Math.random() - 1))
  }
}
