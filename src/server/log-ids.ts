import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** What tells the lines of this process from those of others. */
const run = randomBytes(5).toString('hex')
let requests = 0
let connections = 0

/** No longer than 31 characters, or a UUID: nothing that is as long as a secret gets into the log with it. */
const wellFormed = /^([\w.-]{1,31}|[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12})$/i

/** The id of a request, in all of its lines: its `X-Request-Id` if that is well formed, else one of this process. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id']
  if (typeof given === 'string' && wellFormed.test(given)) return given
  return `${run}-${(++requests).toString(36)}`
}

/** The id of an MQTT connection, in all of its lines. */
export function newConnectionId(): string {
  return `${run}-c${(++connections).toString(36)}`
}
