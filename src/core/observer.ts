import type { Reason } from '../errors.ts'

/** The source of a write: HTTP, MQTT, the will of an MQTT client, or the host program. */
export type WriteDoor = 'http' | 'mqtt' | 'will' | 'host'

/**
 * The outcome of an acknowledged write: `stored`; `unstored`, only delivered to subscribers (`store=false`); `repeated`, without
 * effect because its write id was known; `dry_run`, neither stored nor delivered.
 */
export type WriteOutcome = 'stored' | 'unstored' | 'repeated' | 'dry_run'

/**
 * Counts events. Most methods are called for every write, so a call must take far less than a microsecond. No call may throw. No
 * argument identifies a thing or contains a credential.
 */
export interface Observer {
  /** A write was accepted. @param records number of records, without the refused records of a `partial` write */
  wrote(door: WriteDoor, outcome: WriteOutcome, records: number): void
  /** A write was refused, for good or temporarily. @param door `magic`: the write was acknowledged, but not applied to the state */
  refusedWrite(door: WriteDoor | 'magic', reason: Reason): void
  /** This process has added records to the store. @param records number of new records, without records that were already stored */
  stored(records: number): void
  /** A write was answered with 201, PUBACK or PUBREC. @param seconds time since the write was received */
  acknowledged(door: 'http' | 'mqtt', seconds: number): void
  /** A commit was made. @param changes number of writes and document changes in the commit @param seconds duration of the commit */
  committed(changes: number, seconds: number): void
  /** Live messages were written to the socket of a subscriber. @param seconds time since the commit of the oldest message */
  fannedOut(seconds: number): void
  /** A message on a topic that does not belong to a thing (contract §7.10) was relayed. */
  relayed(): void
  /** Messages were dropped: too many were waiting for a persistent session, or the client takes none so large. */
  dropped(messages: number): void
}
