import type { Subscription } from './interest.ts'
import type { MessagePosition, Sent } from './unacked.ts'

/** `mqtt-sessions/<client id>`: a persistent session. */
export type MqttSessionDocument = {
  /** Milliseconds; written at CONNECT, when the connection ends, and every hour in between. */
  readonly lastConnected: number
  readonly subscriptions: readonly Subscription[]
  /** Every QoS 1 message up to here is acknowledged. */
  readonly acked: MessagePosition
  /** Messages sent after `acked`. */
  readonly sent: readonly Sent[]
  /** Write number: messages up to here may have been sent before, under packet ids that are lost. Absent: 0. */
  readonly maybeSent?: number
  /** Whether a client is connected: if the process dies, it may have sent more than this document has. */
  readonly isInUse: boolean
  /** The node that has written the document. */
  readonly node: string
}

/** `maybeSent` if its end is unknown. */
export const whateverIsCommitted = Number.MAX_SAFE_INTEGER

/** The same session in another store. @param numberOf maps a write number to that of the other store */
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
    subscriptions: session.subscriptions.map(({ owedRetained, ...subscription }) => ({
      ...subscription,
      from: numberOf(subscription.from),
      ...(owedRetained === undefined ? {} : { owedRetained: numberOf(owedRetained) }),
    })),
  }
}

const inFlightPrefix = 'mqtt-in-flight/'

/** Prefix of the QoS 2 packets of a session. */
export const inFlightOf = (clientId: string) => `${inFlightPrefix}${encodeURIComponent(clientId)}/`

/** `mqtt-in-flight/<client id>/<packet id>`: a QoS 2 PUBLISH that is stored and not released yet. */
export type InFlightDocument = {
  /** Digest of target and payload; absent in documents from before 26 November 2026. */
  readonly write?: number
}

export type InFlightWrite = readonly [messageId: number, write: number | undefined]

export const inFlightName = (clientId: string, messageId: number) => `${inFlightOf(clientId)}${messageId}`
