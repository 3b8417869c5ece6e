import type { FastifyRequest } from 'fastify'

const bearer = /^bearer +/i

/** The credential in the Authorization header, without `Bearer`; undefined if there is none [interface 5.2]. */
export function credentialOf(request: FastifyRequest): string | undefined {
  const credential = request.headers.authorization?.replace(bearer, '').trim()
  return credential === '' ? undefined : credential
}
