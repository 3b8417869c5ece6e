import type { Nodes } from '../../core/nodes.ts'
import type { Commit } from '../../core/ports.ts'
import { ThingwireError } from '../../errors.ts'
import type { Live } from '../index.ts'
import type { EventIds } from './event-ids.ts'

/** The writes that streams of events may be resumed over (contract §8). */
export interface StreamLog {
  /**
   * A stream of the thing begins. From when this resolves, every write of the thing is kept.
   *
   * @param lastEventId the id of the last event that the client has, if any
   * @throws ThingwireError of the store
   */
  enter(thingId: string, lastEventId?: string): Promise<Streamed>
  /** Gives nothing up any more: what is kept now, the next process relies on. */
  close(): void
}

/** A stream's part of it; to be left once. */
export interface Streamed {
  readonly thingId: string
  /** The id of the event of a write, as a client holds it. */
  eventId(writeNumber: number): string
  /**
   * The writes of the thing behind that of an event and up to the number `until`, oldest first; they are kept until it has ended.
   * Rejects where some are not kept any more.
   *
   * @returns undefined if it is no event id of this store, or not all of them are kept
   */
  resume(eventId: string, until: number): AsyncGenerator<Commit> | undefined
  leave(): void
}

/** The log of a shared store has every commit for a while: a stream can be resumed on any node, over what it still has. */
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
    // The node that the client comes from may have sent more than has reached this one.
    if (after > this.#live.writeNumber) await this.#live.catchUp()
    const { completeAfter } = await this.#nodes.logBounds()
    if (after <= completeAfter) return after === completeAfter
    // What a failover has lost comes again when its sender has sent it again: the client is to forget it.
    return await this.#nodes.hasLogged(after)
  }

  /** @throws ThingwireError not_found: a trim was faster */
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
    if (after < completeAfter) throw new ThingwireError('not_found', 'the log begins behind it')
  }
}
