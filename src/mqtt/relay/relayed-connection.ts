import type { Client } from 'aedes'
import type { TakenLock } from '../../core/locks.ts'

/** A connection as the relay needs it. */
export interface RelayedConnection {
  readonly client: Client
  readonly session:
    | { readonly clientId: string; readonly isPersistent: boolean; readonly wasPresent: boolean }
    | undefined
  readonly lock: TakenLock | undefined
  readonly isConnected: boolean
  /** Resolves when there is room for more messages; undefined: there is. */
  readonly live: { readonly brokerPackets: { room(): Promise<void> | undefined } }
  /** `finish`: resolves when Aedes has dealt with all that the client has sent. */
  readonly broker: { finish(): Promise<void> }
  close(error: Error): void
}
