import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { Nodes } from '../core/nodes.ts'
import { Interests } from './interest.ts'
import type { LiveClient } from './live-client.ts'
import { inFlightPrefix, type SessionDocument, whateverIsCommitted } from './session-documents.ts'
import { Unacked } from './unacked.ts'

/** What the server remembers of one client (MQTT-3.1.2.4): subscriptions, and QoS 2 packets not yet released. */
export interface Session {
  readonly clientId: string
  readonly instance: string
  readonly isPersistent: boolean
  /** Whether there was one before this connection. */
  readonly wasPresent: boolean
  /**
   * Packet id → settles when that packet's write is committed; there until PUBREL. All ids may be in use: clients send
   * thousands of writes before they read the first PUBREC.
   */
  readonly inFlight: Map<number, Promise<unknown>>
  /** Packet ids of writes that have failed: it is not known whether they are stored. */
  readonly doubtful: Set<number>
  /** Aborted when another node may take the session, and its client send there again what still waits here; absent: none may. */
  withdrawal: AbortController | undefined
  /** On the clock of `performance.now()`, milliseconds: until then what another node has taken may still be stored. */
  settledAt: number
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
  epoch: number
}

/** Name of the document that remembers a packet id over a crash; undefined where the session ends with the connection. */
export function inFlightName(
  { clientId, instance, isPersistent }: Session,
  messageId: number,
): string | undefined {
  return isPersistent ? `${inFlightPrefix(clientId)}${instance}/${messageId}` : undefined
}

/** @param position write number: what was committed up to here is not for it */
export function newSession(
  clientId: string,
  isPersistent: boolean,
  position: number,
  { isAlone }: Pick<Nodes, 'isAlone'>,
): Session {
  return {
    clientId,
    instance: randomUUID(),
    isPersistent,
    wasPresent: false,
    inFlight: new Map(),
    doubtful: new Set(),
    withdrawal: isPersistent && !isAlone ? newWithdrawal() : undefined,
    settledAt: 0,
    releasing: new Map(),
    interests: new Interests(),
    unacked: new Unacked({ writeNumber: position, place: Number.MAX_SAFE_INTEGER }),
    receiver: undefined,
    maybeSent: 0,
    isFromElsewhere: false,
    epoch: 1,
  }
}

/**
 * Makes a session what the store has of it.
 *
 * @param begin number of the newest write of the process before
 * @param settledAt if another node still has it
 */
export function restoreSession(
  session: Session,
  { acked, sent, subscriptions, isInUse, node, epoch = 0, maybeSent = 0 }: SessionDocument,
  { nodes, begin, settledAt }: { nodes: Pick<Nodes, 'isAlone' | 'self'>; begin: number; settledAt: number },
): void {
  const { isAlone = false, self } = nodes
  // Another node may have sent whatever is committed until this one begins to.
  const unknown = isInUse ? (isAlone ? begin : whateverIsCommitted) : 0
  Object.assign(session, {
    unacked: new Unacked(acked, sent),
    interests: new Interests(subscriptions),
    maybeSent: Math.max(maybeSent, unknown),
    settledAt: isInUse && !isAlone ? settledAt : 0,
    isFromElsewhere: !isAlone && (node !== self || maybeSent === whateverIsCommitted),
    epoch: epoch + 1,
  })
}

/** What the store has got, goes on. */
export function withdrawWaiting(session: Session): void {
  if (!session.withdrawal) return
  session.withdrawal.abort(new Error('the client may be on another node'))
  // It may come back while the session is still here.
  session.withdrawal = newWithdrawal()
}

function newWithdrawal(): AbortController {
  const withdrawal = new AbortController()
  // Each packet that waits listens.
  setMaxListeners(0, withdrawal.signal)
  return withdrawal
}
