import type { Interests } from './interest.ts'
import type { LiveClient } from './live-client.ts'
import { inFlightPrefix } from './session-documents.ts'
import type { Unacked } from './unacked.ts'

/** What the server remembers of one client (MQTT-3.1.2.4): subscriptions, and QoS 2 packets not yet released. */
export interface Session {
  readonly clientId: string
  readonly instance: string
  readonly isPersistent: boolean
  /** Whether there was one before this connection. */
  readonly wasPresent: boolean
  /** Packet id → settles when that packet's write is committed; there until PUBREL. */
  readonly inFlight: Map<number, Promise<unknown>>
  /** Packet id → settles when it is durably forgotten; there from PUBREL to PUBCOMP. */
  readonly releasing: Map<number, Promise<void>>
  /** What it is subscribed to. */
  readonly interests: Interests
  /** What it was sent at QoS 1. */
  readonly unacked: Unacked
  /** Who gets its messages. */
  receiver: LiveClient | undefined
  /** Write number: what was committed up to here may have been sent before, under a packet id that is lost. */
  maybeSent: number
  /** Another node had it, which may have sent what is not told here yet. */
  isFromElsewhere: boolean
  /** Of this node's taking it (`SessionDocument`). */
  readonly epoch: number
}

/** Name of the document that remembers a packet id over a crash; undefined where the session ends with the connection. */
export function inFlightName(
  { clientId, instance, isPersistent }: Session,
  messageId: number,
): string | undefined {
  return isPersistent ? `${inFlightPrefix(clientId)}${instance}/${messageId}` : undefined
}
