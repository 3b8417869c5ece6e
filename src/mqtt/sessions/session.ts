import type { Nodes } from '../../core/nodes.ts'
import { Interests } from './interest.ts'
import { type MqttSessionDocument, whateverIsCommitted } from './session-documents.ts'
import { Unacked } from './unacked.ts'

/** What the server remembers of one client beside its QoS 2 packets (MQTT-3.1.2.4). */
export interface MqttSession {
  readonly clientId: string
  readonly isPersistent: boolean
  /** Whether there was one before this connection. */
  readonly wasPresent: boolean
  /** What it is subscribed to. */
  readonly interests: Interests
  /** What it was sent at QoS 1. */
  readonly unacked: Unacked
  /** Who gets its messages. */
  receiver: { close(): void } | undefined
  /** Write number: what was committed up to here may have been sent before, under a packet id that is lost. */
  maybeSent: number
  /** Another node had the session, and may have sent commits that have not reached this node. */
  isFromElsewhere: boolean
}

/** @param position write number: what was committed up to here is not for it */
export function newSession(clientId: string, isPersistent: boolean, position: number): MqttSession {
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
  { acked, sent, subscriptions, isInUse, node, maybeSent = 0 }: MqttSessionDocument,
  { nodes, begin }: { nodes: Pick<Nodes, 'isAlone' | 'self'>; begin: number },
): MqttSession {
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
