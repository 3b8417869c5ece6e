import type { FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'

/** Such as `charset`: of each type there is one kind alone. A quoted value may hold what separates ranges and parameters. */
const otherParameters = /;(?!\s*q\s*=)(?:"(?:\\.|[^"\\])*"?|[^;,"])*/gi

/**
 * The media type that the request's `Accept` prefers (RFC 9110, 12.5.1), and the `Vary` that follows from the choice.
 *
 * @param types those that there are, the one for a request without a preference first
 * @returns also the first if none of them is accepted
 */
export function acceptedType<Type extends string>(
  { headers: { accept } }: Pick<FastifyRequest, 'headers'>,
  reply: FastifyReply,
  types: readonly [Type, ...Type[]],
): Type {
  const before = reply.getHeader('vary')
  reply.header('vary', before === undefined ? 'Accept' : `${before}, Accept`)
  // What nearly all send, without the work of the rest.
  if (accept === undefined || accept === '*/*') return types[0]
  const [preferred] = new Negotiator({ headers: { accept: accept.replace(otherParameters, '') } }).mediaTypes(
    [...types],
  )
  return types.find(type => type === preferred) ?? types[0]
}
