import type { Access, ActivationCodes, SourceMessages } from '../access/access.ts'
import type { Limits } from '../access/limits/limits.ts'
import type { Ingest } from '../core/ingest.ts'
import type { Locks } from '../core/locks.ts'
import type { Nodes } from '../core/nodes.ts'
import type { Observer } from '../core/observer.ts'
import type { DocumentStore } from '../core/ports.ts'
import type { ReceiptClock } from '../core/time/clock.ts'
import type { Live } from '../live/index.ts'
import type { SessionLog } from './sessions/session-log.ts'

/** The parts of the service that the MQTT door needs. The result of `createThings` has all of them. */
export interface MqttThings {
  readonly ingest: Ingest
  readonly access: Access
  readonly limits: Limits
  readonly activationCodes: Pick<ActivationCodes, 'activate'>
  readonly sourceMessages: SourceMessages
  readonly documents: DocumentStore
  /** The processes that share the store. */
  readonly nodes: Nodes
  /** Only the connection that holds a client's lock may act for the client, across all nodes. */
  readonly locks: Locks
  readonly live: Live
  /** The part of the commit log that persistent sessions may still have to read. */
  readonly sessionLog: SessionLog
  readonly clock: ReceiptClock
  /** The believed time (contract §4.5), milliseconds since 1970. @throws ThingwireError if the store fails */
  believedTime(): Promise<number>
  readonly observer?: Observer | undefined
  /** Whether the server accepts writes now. */
  isReady(): boolean
}
