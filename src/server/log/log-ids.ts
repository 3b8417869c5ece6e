import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Redactor } from '../../core/refusals/redactor.ts'

/** An id that distinguishes the lines of this process from those of others. */
const run = randomBytes(5).toString('hex')
let requests = 0
let connections = 0

const wellFormed = /^[\w.-]{1,64}$/

/**
 * The id of a request, in all of its lines: its `X-Request-Id` if that is well formed and could be no credential, else one of
 * this process.
 */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>, redactor: Redactor): string {
  const given = headers['x-request-id']
  if (typeof given === 'string' && wellFormed.test(given) && redactor.redact(given) === given) return given
  return `${run}-${(++requests).toString(36)}`
}

/** The id of an MQTT connection, in all of its lines. */
export function newConnectionId(): string {
  return `${run}-c${(++connections).toString(36)}`
}
