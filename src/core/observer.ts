import type { Reason } from '../errors.ts'

/** The way in of a write: over HTTP, over MQTT, left behind by an MQTT client that is gone, or by the program around the service. */
export type WriteDoor = 'http' | 'mqtt' | 'will' | 'host'

/**
 * What became of a write that was acknowledged: `stored`; `unstored`, delivered to subscribers alone (`store=false`);
 * `repeated`, without effect since its write id was known; `dry_run`, neither kept nor delivered.
 */
export type WriteOutcome = 'stored' | 'unstored' | 'repeated' | 'dry_run'

/**
 * Called with what happens, by whoever does it, so that it can be counted. Most of it is on the way of every write: a call must
 * cost far less than a microsecond, and must not throw. No argument names a thing or a credential.
 */
export interface Observer {
  /** A write is taken. @param records in it, less those that were refused of a `partial` one */
  wrote(door: WriteDoor, outcome: WriteOutcome, records: number): void
  /** A write was refused, for good or to be sent again. @param door `magic`: acknowledged, and not applied to the state */
  refusedWrite(door: WriteDoor | 'magic', reason: Reason): void
  /** Records were added to the store by this process: those that it had already are not among them. */
  stored(records: number): void
  /** A write was answered: 201, PUBACK, PUBREC. @param seconds since it was received */
  acknowledged(door: 'http' | 'mqtt', seconds: number): void
  /** @param changes writes, and changes of documents, that shared the commit */
  committed(changes: number, seconds: number): void
  /** Live messages were handed to the socket of a subscriber. @param seconds since the commit of the oldest of them */
  fannedOut(seconds: number): void
  /** A message on a topic beside those of things was relayed. */
  relayed(): void
  /** Messages that a persistent session has missed were too many, and are not delivered. */
  dropped(messages: number): void
}
