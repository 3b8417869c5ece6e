import type { Access, AccessSessionRegistry, ActivationCodes, ThingRegistry } from '../access/access.ts'
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

/** What the HTTP door needs of the service; the `Things` of `createThings` has all of it. */
export interface HttpThings {
  readonly ingest: Ingest
  readonly records: Pick<RecordStore, 'read' | 'aggregate' | 'resources' | 'remove'>
  readonly refused: Pick<RefusedWrites, 'list'>
  readonly live: Live
  /** What streams may have to read again of it. */
  readonly streamLog: StreamLog
  readonly magic: MagicStates
  readonly access: Access
  readonly limits: Limits
  /** In which reads that cost much wait, by the names of their principals. */
  readonly costlyReads: FairQueue
  readonly registry: ThingRegistry
  readonly sessions: AccessSessionRegistry
  readonly activationCodes: ActivationCodes
  readonly clock: ReceiptClock
  /** What hands records on to a central server, if anything does. */
  readonly forward?: ForwardReporter | undefined
  /** Called with each write that is answered. */
  readonly observer?: Observer | undefined
  /** A consistent copy of the store. @throws ThingwireError not_found if the store cannot give one */
  backup(): AsyncIterable<Uint8Array>
  /** Whether the store could take a write now. True where only free disk is short: a load balancer must not end the reads. */
  isReady(): boolean
}
