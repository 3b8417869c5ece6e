import type { Client } from 'aedes'
import type { TakenLock } from '../../core/locks.ts'
import type { Codec } from '../packets/codec.ts'

export interface RelayedConnection {
  readonly client: Client
  readonly codec: Pick<Codec, 'relayedPayload'>
  readonly session:
    | { readonly clientId: string; readonly isPersistent: boolean; readonly wasPresent: boolean }
    | undefined
  readonly lock: TakenLock | undefined
  readonly isConnected: boolean
  /** `room` resolves when there is room for more messages; it returns undefined if there is room now. */
  readonly live: { readonly brokerPackets: { room(): Promise<void> | undefined } }
  /** `finish` resolves when Aedes has handled all packets of the client. */
  readonly broker: { finish(): Promise<void> }
  close(error: Error): void
}
