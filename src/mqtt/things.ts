import type { Access } from '../access/access.ts'
import type { Ingest } from '../core/ingest.ts'
import type { DocumentStore } from '../core/ports.ts'

/** What the MQTT door needs of the service; the `Things` of `createThings` has all of it. */
export interface MqttThings {
  readonly ingest: Ingest
  readonly access: Access
  readonly documents: DocumentStore
  /** Whether a write could be taken now. */
  isReady(): boolean
}
