import type { Commit } from '../../core/ports.ts'

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
