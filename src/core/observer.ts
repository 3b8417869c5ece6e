import type { Reason } from '../errors.ts'

/** The source of a write: HTTP, MQTT, the will of an MQTT client, or the host. */
export type WriteDoor = 'http' | 'mqtt' | 'will' | 'host'

/**
 * The outcome of an acknowledged write: `stored`; `unstored`, only delivered to subscribers (`store=false`); `repeated`, without
 * effect since its write id was known; `dry_run`, neither stored nor delivered.
 */
export type WriteOutcome = 'stored' | 'unstored' | 'repeated' | 'dry_run'

/**
 * Counts events. Most calls are on the path of every write: a call must cost far less than a microsecond, and must not throw. No
 * argument contains a thing or a credential.
 */
export interface Observer {
  /** A write is taken. @param records without refused ones of a `partial` write */
  wrote(door: WriteDoor, outcome: WriteOutcome, records: number): void
  /** A write is refused, for good or for now. @param door `magic`: acknowledged, but not applied to the state */
  refusedWrite(door: WriteDoor | 'magic', reason: Reason): void
  /** This process has added records to the store, without those that the store had already. */
  stored(records: number): void
  /** A write was answered: 201, PUBACK, PUBREC. @param seconds since it was received */
  acknowledged(door: 'http' | 'mqtt', seconds: number): void
  /** @param changes writes and changes of documents that shared the commit */
  committed(changes: number, seconds: number): void
  /** Live messages went to the socket of a subscriber. @param seconds since the commit of the oldest one */
  fannedOut(seconds: number): void
  /** A message on another topic was relayed. */
  relayed(): void
  /** Messages that were owed to a persistent session are dropped, since they were too many. */
  dropped(messages: number): void
}
