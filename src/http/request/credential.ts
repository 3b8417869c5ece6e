import type { FastifyRequest } from 'fastify'
import { isToken } from '../../core/token.ts'

const bearer = /^bearer +/i
const ofSource = /^(?<scheme>bearer|token|basic) +(?<rest>.*)$/i

/** The credential in the Authorization header, without `Bearer`; undefined if there is none [interface 5.2]. */
export function credentialOf(request: FastifyRequest): string | undefined {
  const credential = request.headers.authorization?.replace(bearer, '').trim()
  return credential === '' ? undefined : credential
}

/**
 * The credential of a source, in the Authorization header: `Bearer`, `Token` as for InfluxDB, or `Basic` with the token as user or
 * password.
 */
export function sourceCredentialOf(request: FastifyRequest): string | undefined {
  const { scheme = '', rest = '' } = ofSource.exec(request.headers.authorization?.trim() ?? '')?.groups ?? {}
  if (rest === '') return credentialOf(request)
  const text = scheme.toLowerCase() === 'basic' ? Buffer.from(rest, 'base64').toString() : rest
  // `Token user:password` is the form of InfluxDB 1.8.
  return text.split(':').find(isToken) ?? text
}
