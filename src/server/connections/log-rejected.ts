import type { FastifyBaseLogger } from 'fastify'
import type { Reason } from '../../errors.ts'

/** What the log says of each logged reason behind its name. */
const reasonTexts: ReadonlyMap<Reason, string> = new Map([
  ['unknown_thing_token', ''],
  ['invalid_session', ''],
  ['missing_credential', ''],
  ['unknown_activation_code', ''],
  ['too_many_failed_credentials', ''],
  ['forbidden', ': its credential, or the lack of one, does not allow this'],
  ['not_found', ': its topic names a thing by neither its token nor its id'],
])

/** Texts by CONNACK return code of MQTT 3.1.1, whatever the version of the client. Code 3 is not the client's fault, so it is left out; its causes are logged elsewhere. */
const connackTexts: ReadonlyMap<number, string> = new Map([
  [1, 'the protocol is not MQTT 3.1, 3.1.1 or 5'],
  [2, 'the client id is too long or missing'],
  [4, 'the credential is unknown (a session or the admin key is the password, not the username)'],
  [5, 'the credential does not allow this, is missing, or came after too many invalid ones'],
])

interface Peer {
  readonly address?: string | undefined
  readonly connectionId?: string | undefined
}

/**
 * Logs that a client was refused because of its credential or topic, since MQTT does not send the reason to the client. The log samples
 * lines by their text, so the text contains the reason: many refusals for one reason do not hide a refusal for another reason.
 */
export function logRejected(log: FastifyBaseLogger, reason: Reason, peer: Peer): void {
  const text = reasonTexts.get(reason)
  if (text !== undefined) log.info({ ...peer, reason }, `client turned away: ${reason}${text}`)
}

export function logConnectRefused(log: FastifyBaseLogger, returnCode: number, peer: Peer): void {
  const text = connackTexts.get(returnCode)
  if (text !== undefined) log.info({ ...peer, returnCode }, `MQTT client turned away: ${text}`)
}
