import type { Nodes } from '../../core/nodes.ts'
import { MalformedPacket } from '../packets/packet.ts'
import { Interests } from './interest.ts'
import { longestExpiry, type MqttSessionDocument, whateverIsCommitted } from './session-documents.ts'
import { Unacked } from './unacked.ts'

/** Name of the lock of a client (contract §4.2). @param clientId client id inside the broker */
export const clientLock = (clientId: string) => `client/${clientId}`

/** The state of one client (MQTT-3.1.2.4), without its QoS 2 packets. */
export interface MqttSession {
  readonly clientId: string
  /** Whether the session is in the store. */
  readonly isPersistent: boolean
  /** How long the session lasts after its connection, seconds. */
  expiry: number
  /** Whether the session existed before this connection. */
  readonly wasPresent: boolean
  readonly interests: Interests
  readonly unacked: Unacked
  /** The connection to which messages are sent. */
  receiver: { close(): void } | undefined
  /** Messages up to this write number may have been sent before, under packet ids that are lost. */
  maybeSent: number
  /** Whether another node had the session; that node may have sent commits that have not reached this node yet. */
  isFromElsewhere: boolean
}

/** @param expiry seconds; with 0 the session is not persistent @param position write number; the session gets only later writes */
export function newSession(clientId: string, expiry: number, position: number): MqttSession {
  return {
    clientId,
    isPersistent: expiry > 0,
    expiry,
    wasPresent: false,
    interests: new Interests(),
    unacked: new Unacked({ writeNumber: position, place: Number.MAX_SAFE_INTEGER }),
    receiver: undefined,
    maybeSent: 0,
    isFromElsewhere: false,
  }
}

/**
 * Changes how long a session lasts after its connection.
 *
 * @param expiry seconds
 * @throws MalformedPacket if the session was to end with the connection (MQTT5-3.14.2.2.2)
 */
export function changeExpiry(session: MqttSession, expiry: number): void {
  if (expiry > 0 && session.expiry === 0)
    throw new MalformedPacket('DISCONNECT must not prolong a session of expiry 0', 'protocol_error')
  session.expiry = Math.min(expiry, longestExpiry)
}

/** @param begin number of the newest write when this process began */
export function storedSession(
  clientId: string,
  { acked, sent, subscriptions, isInUse, node, maybeSent = 0, expiry = longestExpiry }: MqttSessionDocument,
  { nodes, begin }: { nodes: Pick<Nodes, 'isAlone' | 'self'>; begin: number },
): MqttSession {
  const { isAlone = false, self } = nodes
  // If another node had the session, that node may have sent every commit made until this node takes over.
  const unknown = isInUse ? (isAlone ? begin : whateverIsCommitted) : 0
  return {
    ...newSession(clientId, expiry, 0),
    isPersistent: true,
    wasPresent: true,
    interests: new Interests(subscriptions),
    unacked: new Unacked(acked, sent),
    maybeSent: Math.max(maybeSent, unknown),
    isFromElsewhere: !isAlone && (node !== self || maybeSent === whateverIsCommitted),
  }
}
