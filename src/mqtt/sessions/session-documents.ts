import type { Subscription } from './interest.ts'
import type { MessagePosition, Sent } from './unacked.ts'

/** `mqtt-sessions/<client id>`: a session whose client may come back. */
export type MqttSessionDocument = {
  /** Milliseconds; written at CONNECT, when the connection ends, and every hour in between. */
  readonly lastConnected: number
  readonly subscriptions: readonly Subscription[]
  /** Every QoS 1 message up to here is acknowledged. */
  readonly acked: MessagePosition
  /** What was sent behind it. */
  readonly sent: readonly Sent[]
  /** Write number: what was committed up to here may have been sent before, under packet ids that are lost. Absent: 0. */
  readonly maybeSent?: number
  /** Whether a client is connected: if the process ends, more may have been sent than is said here. */
  readonly isInUse: boolean
  /** Who has written it. */
  readonly node: string
}

/** As `maybeSent`: it is not known how far it goes. */
export const whateverIsCommitted = Number.MAX_SAFE_INTEGER

/** The same session in another store, which has other write numbers. @param numberOf what becomes of a write number */
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

/** What the names of all begin with that the client's session has of QoS 2 packets. */
export const inFlightOf = (clientId: string) => `${inFlightPrefix}${encodeURIComponent(clientId)}/`

/** `mqtt-in-flight/<client id>/<packet id>`: a QoS 2 PUBLISH that is stored and not released yet. */
export type InFlightDocument = {
  /** Digest of its target and payload; undefined where a version from before 26 November 2026 has put it. */
  readonly write?: number
}

/** What such a document says. */
export type InFlightWrite = readonly [messageId: number, write: number | undefined]

export const inFlightName = (clientId: string, messageId: number) => `${inFlightOf(clientId)}${messageId}`
