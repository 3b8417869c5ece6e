import type { Nodes } from '../core/nodes.ts'
import { Interests } from './interest.ts'
import type { LiveClient } from './live-client.ts'
import { type SessionDocument, whateverIsCommitted } from './session-documents.ts'
import { Unacked } from './unacked.ts'

/** What the server remembers of one client beside its QoS 2 packets (MQTT-3.1.2.4). */
export interface Session {
  readonly clientId: string
  readonly isPersistent: boolean
  /** Whether there was one before this connection. */
  readonly wasPresent: boolean
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
}

/** @param position write number: what was committed up to here is not for it */
export function newSession(clientId: string, isPersistent: boolean, position: number): Session {
  return {
    clientId,
    isPersistent,
    wasPresent: false,
    interests: new Interests(),
    unacked: new Unacked({ writeNumber: position, place: Number.MAX_SAFE_INTEGER }),
    receiver: undefined,
    maybeSent: 0,
    isFromElsewhere: false,
  }
}

/**
 * The session that the store has.
 *
 * @param begin number of the newest write of the process before
 */
export function storedSession(
  clientId: string,
  { acked, sent, subscriptions, isInUse, node, maybeSent = 0 }: SessionDocument,
  { nodes, begin }: { nodes: Pick<Nodes, 'isAlone' | 'self'>; begin: number },
): Session {
  const { isAlone = false, self } = nodes
  // Another node may have sent whatever is committed until this one begins to.
  const unknown = isInUse ? (isAlone ? begin : whateverIsCommitted) : 0
  return {
    clientId,
    isPersistent: true,
    wasPresent: true,
    interests: new Interests(subscriptions),
    unacked: new Unacked(acked, sent),
    receiver: undefined,
    maybeSent: Math.max(maybeSent, unknown),
    isFromElsewhere: !isAlone && (node !== self || maybeSent === whateverIsCommitted),
  }
}
