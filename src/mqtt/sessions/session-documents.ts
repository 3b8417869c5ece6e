import type { Subscription } from './interest.ts'
import type { MessagePosition, Sent } from './unacked.ts'

/** `mqtt-sessions/<client id>`: a persistent session. */
export type MqttSessionDocument = {
  /** Milliseconds since 1970. Written at CONNECT, when the connection ends, and at least every hour in between. */
  readonly lastConnected: number
  /** How long the session lasts after its connection, seconds. Absent: `longestExpiry`. */
  readonly expiry?: number
  readonly subscriptions: readonly Subscription[]
  /** Every QoS 1 message up to and including this position is acknowledged. */
  readonly acked: MessagePosition
  /** Sent messages at positions after `acked`. */
  readonly sent: readonly Sent[]
  /** Messages up to this write number may have been sent under packet ids that are lost. Absent: 0. */
  readonly maybeSent?: number
  /** Whether a client is connected. If a dead process left this true, more messages may have been sent than are listed here. */
  readonly isInUse: boolean
  /** The node that wrote the document. */
  readonly node: string
}

/** Maximum time for which a session is kept after its connection, seconds: 7 days (contract §7.1). */
export const longestExpiry = 7 * 24 * 3_600

/** Maximum time between two writes of the document of a connected client's session, milliseconds: an hour, and the time to write. */
const rewriteInterval = 2 * 3_600_000

/** Whether the session has ended. @param now milliseconds since 1970 */
export function isOver(
  { lastConnected, expiry = longestExpiry, isInUse }: MqttSessionDocument,
  now: number,
): boolean {
  // A session that ends with its connection is never resumed: whoever asks has taken over from that connection.
  return expiry === 0 || lastConnected + expiry * 1_000 + (isInUse ? rewriteInterval : 0) <= now
}

/** Value of `maybeSent` if it is unknown which messages were sent. */
export const whateverIsCommitted = Number.MAX_SAFE_INTEGER

/** The same session for another store. @param numberOf maps a write number to the number of the same write in the other store */
export function movedSession(
  session: MqttSessionDocument,
  numberOf: (writeNumber: number) => number,
): MqttSessionDocument {
  const moved = ({ writeNumber, place }: MessagePosition) => ({ writeNumber: numberOf(writeNumber), place })
  const { maybeSent } = session
  const isKnown = maybeSent !== undefined && maybeSent !== whateverIsCommitted
  return {
    ...session,
    acked: moved(session.acked),
    sent: session.sent.map(each => ({ ...each, position: moved(each.position) })),
    ...(isKnown && { maybeSent: numberOf(maybeSent) }),
    subscriptions: session.subscriptions.map(({ owedRetained, earlier, ...subscription }) => ({
      ...subscription,
      from: numberOf(subscription.from),
      ...(earlier && { earlier: { ...earlier, upTo: numberOf(earlier.upTo) } }),
      ...(owedRetained === undefined ? {} : { owedRetained: numberOf(owedRetained) }),
    })),
  }
}

const inFlightPrefix = 'mqtt-in-flight/'

/** Prefix of the documents of a session's QoS 2 packets. */
export const inFlightOf = (clientId: string) => `${inFlightPrefix}${encodeURIComponent(clientId)}/`

/** `mqtt-in-flight/<client id>/<packet id>`: a QoS 2 PUBLISH that is stored but not released yet. */
export type InFlightDocument = {
  /** Digest of target and payload; absent in documents from before 26 November 2026. */
  readonly write?: number
  /** Set until the message of a source is relayed: the write id of its records. */
  readonly id?: string
}

export type InFlightWrite = readonly [messageId: number, document: InFlightDocument]

export const inFlightName = (clientId: string, messageId: number) => `${inFlightOf(clientId)}${messageId}`
