import { rest, retryUntil } from '../core/async/retry-until.ts'
import type { Lock } from '../core/locks.ts'
import type { Nodes } from '../core/nodes.ts'
import type { DocumentStore, RecordStore } from '../core/ports.ts'
import type { ReceiptClock } from '../core/time/clock.ts'
import { ThingwireError } from '../errors.ts'
import { type Belief, BelievedClock, firstBelief, shownBy } from './believed-clock.ts'
import { ageOf, type RetentionRule } from './rules.ts'

/** So often in the least age of a rule it is looked what is too old. */
const looksPerAge = 20
/** Between two looks, milliseconds. */
const leastInterval = 1_000
const mostInterval = 3_600_000
/** Of one interval, so that servers that were started together do not look together. */
const jitter = 0.1
/** Where the store has failed, milliseconds. */
const retryAfter = 30_000
const thingsAtOnce = 100
/** How much longer than a piece took it rests, so that a store that is slow is left alone for longer. */
const restPerWork = 6
/** Milliseconds. What is written faster than this removes it would fill the disk after all. */
const leastRest = 1
const mostRest = 50
/** The document of what is known of the time. */
const beliefName = 'believed-clock'
/** How often it is kept, milliseconds: the rest of a run is not counted. */
const usualKeepEvery = 600_000

export interface RetentionParts {
  readonly records: Pick<RecordStore, 'things' | 'resources' | 'removeOld'>
  readonly documents: Pick<DocumentStore, 'get' | 'put' | 'transact'>
  readonly nodes: Pick<Nodes, 'lead'>
  readonly clock: Pick<ReceiptClock, 'now' | 'newest' | 'behind'>
  /** How often the believed time is kept, milliseconds. Default: every 10 minutes. */
  readonly keepEvery?: number
  /** None: everything is kept. */
  readonly rules: readonly RetentionRule[]
  /** Called with what is no error of the store. */
  readonly onDefect: (error: unknown) => void
}

/**
 * Removes records that are older than their rule allows, in the background and on one node at a time: at the start and every
 * so often it asks what is too old, so that what was broken off goes on by itself. The newest record of a resource stays
 * however old it is; states and what is latest are not touched. The node that does so keeps the believed time for whatever else
 * ends by it, without rules too.
 */
export class Retention {
  /** How many records this node has removed. */
  removed = 0
  /** When this node has last looked through everything, milliseconds since 1970. */
  lastRun: number | undefined
  readonly #parts: RetentionParts
  /** Ends within a piece; what is left is too old the next time as well. */
  readonly close: () => Promise<void>

  private constructor(parts: RetentionParts) {
    this.#parts = parts
    this.close = parts.nodes.lead('retention', (...term) => this.#work(...term))
  }

  /**
   * To be called before anything is received: a store that has no belief yet takes its first one from what is there.
   *
   * @throws ThingwireError of the store
   */
  static async open(parts: RetentionParts): Promise<Retention> {
    const first = { [beliefName]: { ...firstBelief(parts.clock) } }
    await parts.documents.transact([beliefName], ([belief]) => ({
      put: belief ? {} : first,
      result: undefined,
      purpose: 'essential',
    }))
    return new Retention(parts)
  }

  /**
   * The time by which data are too old (contract §4.5), milliseconds since 1970; on a node that does not keep it, as it was
   * kept last.
   *
   * @throws ThingwireError of the store
   */
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
      // What fails is kept the next time.
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
