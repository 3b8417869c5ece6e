import type { FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'

/** Media type parameters such as `charset`, which are ignored. A quoted value may contain separators. */
const otherParameters = /;(?!\s*q\s*=)(?:"(?:\\.|[^"\\])*"?|[^;,"])*/gi

/**
 * Chooses the media type that the `Accept` header prefers (RFC 9110, 12.5.1), and adds `Vary` to the reply.
 *
 * @param types the available types
 * @returns the first type if none is accepted
 */
export function acceptedType<Type extends string>(
  { headers: { accept } }: Pick<FastifyRequest, 'headers'>,
  reply: FastifyReply,
  types: readonly [Type, ...Type[]],
): Type {
  const before = reply.getHeader('vary')
  reply.header('vary', before === undefined ? 'Accept' : `${before}, Accept`)
  // A shortcut: nearly all requests accept any type.
  if (accept === undefined || accept === '*/*') return types[0]
  const [preferred] = new Negotiator({ headers: { accept: accept.replace(otherParameters, '') } }).mediaTypes(
    [...types],
  )
  return types.find(type => type === preferred) ?? types[0]
}
