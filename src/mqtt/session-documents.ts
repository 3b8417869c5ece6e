import type { Subscription } from './interest.ts'
import type { Position, Sent } from './unacked.ts'

/** `mqtt-sessions/<client id>`: a session whose client may come back. */
export type SessionDocument = {
  /** Tells it from an earlier session of the client: what is left of that must not be taken for this one's. */
  readonly instance: string
  /** Milliseconds; written at CONNECT, when the connection ends, and every hour in between. */
  readonly lastConnected: number
  readonly subscriptions: readonly Subscription[]
  /** Every QoS 1 message up to here is acknowledged. */
  readonly acked: Position
  /** What was sent behind it. */
  readonly sent: readonly Sent[]
  /** Write number: what was committed up to here may have been sent before, under packet ids that are lost. Absent: 0. */
  readonly maybeSent?: number
  /** Whether a client is connected: if the process ends, more may have been sent than is said here. */
  readonly isInUse: boolean
  /** Who has written it; absent: a process of before there were nodes. */
  readonly node?: string
  /** Grows each time a node takes the session: what a node writes that has lost it is known by it. Absent: 0. */
  readonly epoch?: number
}

/** As `maybeSent`: it is not known how far it goes. */
export const whateverIsCommitted = Number.MAX_SAFE_INTEGER

export const sessionPrefix = 'mqtt-sessions/'

// A client id may hold any character, and one may begin like another.
export const sessionName = (clientId: string) => `${sessionPrefix}${encodeURIComponent(clientId)}`

/** Followed by the session's instance, a slash, and the packet id: a QoS 2 PUBLISH that is not released yet. */
export const inFlightPrefix = (clientId: string) => `mqtt-in-flight/${encodeURIComponent(clientId)}/`
