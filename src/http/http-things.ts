import type {
  Access,
  AccessSessionRegistry,
  ActivationCodes,
  SourceMessages,
  SourceRegistry,
  SourceThings,
  ThingRegistry,
} from '../access/access.ts'
import type { Limits } from '../access/limits/limits.ts'
import type { FairQueue } from '../core/async/fair-queue.ts'
import type { ForwardReporter } from '../core/forward-report.ts'
import type { Ingest } from '../core/ingest.ts'
import type { Observer } from '../core/observer.ts'
import type { RecordStore, RefusedWrites } from '../core/ports.ts'
import type { ReceiptClock } from '../core/time/clock.ts'
import type { Live } from '../live/index.ts'
import type { StreamLog } from '../live/streams/shared-stream-log.ts'
import type { MagicStates } from './reading/magic-states.ts'

/** The parts of the service that the HTTP door needs. The result of `createThings` contains them. */
export interface HttpThings {
  readonly ingest: Ingest
  readonly records: Pick<RecordStore, 'read' | 'aggregate' | 'resources' | 'remove'>
  readonly refused: Pick<RefusedWrites, 'list'>
  readonly live: Live
  /** The log from which event streams resume. */
  readonly streamLog: StreamLog
  readonly magic: MagicStates
  readonly access: Access
  readonly limits: Limits
  /** The queue of costly reads, in which principals take turns. */
  readonly costlyReads: FairQueue
  readonly registry: ThingRegistry
  readonly sessions: AccessSessionRegistry
  readonly sources: SourceRegistry
  readonly sourceThings: Pick<SourceThings, 'attach'>
  readonly sourceMessages: SourceMessages
  readonly activationCodes: ActivationCodes
  readonly clock: ReceiptClock
  /** Undefined if the server does not forward records. */
  readonly forward?: ForwardReporter | undefined
  /** Notified of each answered write. */
  readonly observer?: Observer | undefined
  /** A consistent copy of the store. @throws ThingwireError not_found if the store cannot make one */
  backup(): AsyncIterable<Uint8Array>
  /** Whether the store works. True even if disk space is short: a load balancer must still send reads to this server. */
  isReady(): boolean
}
