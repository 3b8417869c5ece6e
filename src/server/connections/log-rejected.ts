import type { FastifyBaseLogger } from 'fastify'
import type { Reason } from '../../errors.ts'

const credentialReasons: ReadonlySet<Reason> = new Set([
  'unknown_thing_token',
  'invalid_session',
  'missing_credential',
  'unknown_activation_code',
  'forbidden',
  'too_many_failed_credentials',
])

/** By the return code of CONNACK. 3 is no fault of the client, and what it comes from has lines of its own. */
const connackTexts: ReadonlyMap<number, string> = new Map([
  [1, 'the protocol is not MQTT 3.1 or 3.1.1'],
  [2, 'the client id is too long or missing'],
  [4, 'the credential is unknown'],
  [5, 'the credential does not allow this, is missing, or came after too many invalid ones'],
])

/** Where a client is, and what other lines of the log know it by. */
interface Peer {
  readonly address?: string | undefined
  readonly connectionId?: string | undefined
}

/**
 * Logs a request or a connection that ended for want of a credential: over MQTT the client hears no reason, and a
 * device shows none. The reason is part of the text, by which lines are sampled: one device does not hide all others.
 */
export function logRejected(log: FastifyBaseLogger, reason: Reason, peer: Peer): void {
  if (credentialReasons.has(reason)) log.info({ ...peer, reason }, `client turned away: ${reason}`)
}

/** Logs a CONNECT that was refused for its content. */
export function logConnectRefused(log: FastifyBaseLogger, returnCode: number, peer: Peer): void {
  const text = connackTexts.get(returnCode)
  if (text !== undefined) log.info({ ...peer, returnCode }, `MQTT client turned away: ${text}`)
}
