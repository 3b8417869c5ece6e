import type { Nodes } from '../../core/nodes.ts'
import type { Commit } from '../../core/ports.ts'
import { ThingwireError } from '../../errors.ts'
import type { Live } from '../index.ts'
import type { EventIds } from './event-ids.ts'

/** Provides the writes with which event streams are resumed (contract §8). */
export interface StreamLog {
  /**
   * Begins a stream of the thing. When this resolves, all later writes of the thing are kept.
   *
   * @param lastEventId id of the client's last event, if any
   * @throws ThingwireError if the store fails
   */
  enter(thingId: string, lastEventId?: string): Promise<Streamed>
  /** Stops the expiry of kept writes, so that the next process can take them over. */
  close(): void
}

/** One stream. Call `leave` once. */
export interface Streamed {
  readonly thingId: string
  eventId(writeNumber: number): string
  /**
   * The thing's writes after an event, up to and including write number `until`, oldest first. The writes are kept until the
   * generator has ended. The generator throws if writes are lost.
   *
   * @returns undefined if the event id is not of this store or some of the writes are not kept
   */
  resume(eventId: string, until: number): AsyncGenerator<Commit> | undefined
  leave(): void
}

/** The log of a shared store has every recent commit, so any node can resume a stream. */
export class SharedStreamLog implements StreamLog {
  readonly #live: Live
  readonly #nodes: Pick<Nodes, 'logBounds' | 'hasLogged'>
  readonly #eventIds: EventIds

  constructor(live: Live, nodes: Pick<Nodes, 'logBounds' | 'hasLogged'>, eventIds: EventIds) {
    this.#live = live
    this.#nodes = nodes
    this.#eventIds = eventIds
  }

  async enter(thingId: string, lastEventId?: string): Promise<Streamed> {
    const after = lastEventId === undefined ? undefined : this.#eventIds.read(lastEventId)
    const isKept = after !== undefined && (await this.#isKept(after))
    return {
      thingId,
      eventId: writeNumber => this.#eventIds.of(writeNumber),
      resume: (_eventId, until) => (isKept && after <= until ? this.#read(thingId, after, until) : undefined),
      leave: () => {},
    }
  }

  close(): void {}

  async #isKept(after: number): Promise<boolean> {
    // The client may have received commits from another node that have not reached this node yet.
    if (after > this.#live.writeNumber) await this.#live.catchUp()
    const { completeAfter } = await this.#nodes.logBounds()
    if (after <= completeAfter) return after === completeAfter
    // A failover may have lost write `after`. The client has seen that write, so it must not resume as if the store still had it.
    return await this.#nodes.hasLogged(after)
  }

  /** @throws ThingwireError not_found if a trim has removed writes that are still to be read */
  async *#read(thingId: string, after: number, until: number): AsyncGenerator<Commit> {
    const isOf = (each: string) => each === thingId
    let from = after
    for await (const page of this.#live.log.pages({ after, before: until + 1, order: 'asc', isOf })) {
      await this.#assertComplete(from)
      yield* page
      from = page.at(-1)?.writeNumber ?? from
    }
    await this.#assertComplete(from)
  }

  async #assertComplete(after: number): Promise<void> {
    const { completeAfter } = await this.#nodes.logBounds()
    if (after < completeAfter)
      throw new ThingwireError('not_found', 'the log no longer has all writes after it')
  }
}
