import type { Nodes } from '../../core/nodes.ts'
import { Interests } from './interest.ts'
import { type MqttSessionDocument, whateverIsCommitted } from './session-documents.ts'
import { Unacked } from './unacked.ts'

/** The state of one client (MQTT-3.1.2.4), without its QoS 2 packets. */
export interface MqttSession {
  readonly clientId: string
  readonly isPersistent: boolean
  /** Whether the session existed before this connection. */
  readonly wasPresent: boolean
  readonly interests: Interests
  readonly unacked: Unacked
  /** The connection that gets the messages. */
  receiver: { close(): void } | undefined
  /** Write number: messages up to here may have been sent before, under packet ids that are lost. */
  maybeSent: number
  /** Another node had the session, and may have sent commits that have not reached this node. */
  isFromElsewhere: boolean
}

/** @param position write number: the session gets only later writes */
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

/** @param begin newest write number when this process began */
export function storedSession(
  clientId: string,
  { acked, sent, subscriptions, isInUse, node, maybeSent = 0 }: MqttSessionDocument,
  { nodes, begin }: { nodes: Pick<Nodes, 'isAlone' | 'self'>; begin: number },
): MqttSession {
  const { isAlone = false, self } = nodes
  // Another node may have sent every commit until this node takes over.
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
