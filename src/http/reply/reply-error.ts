import type { FastifyReply, FastifyRequest } from 'fastify'
import { catalogue, type FieldError, type Reason, ThingwireError } from '../../errors.ts'
import { replyJson } from './reply-json.ts'

/** What requests were refused with, for who counts it. */
const reasons = new WeakMap<FastifyReply, Reason>()

/** Seconds after which a client may try again what was refused for now. */
export const retryAfter = 5

interface Refusal {
  readonly status: number
  readonly reason: Reason
  readonly message: string
  readonly errors?: readonly FieldError[] | undefined
  readonly retryAfter?: number | undefined
}

/**
 * Answers with the one error shape (contract §6), whatever was thrown. What neither a client nor a stop in order causes
 * is logged.
 */
export function replyError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = refusalOf(error)
  if (refusal.status === 500) request.log.error({ err: error }, 'defect while answering a request')
  else if (refusal.reason === 'store_full') request.log.warn('write refused: too little room')
  else if (refusal.status === 503 && refusal.reason !== 'draining')
    request.log.warn({ err: error }, 'request not served')
  return replyRefusal(refusal, request, reply)
}

/** The same for what is expected, such as that a node is not ready: nothing is logged. */
export function replyRefusal(refusal: Refusal, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reasons.set(reply, refusal.reason)
  if ((refusal.status === 503 || refusal.status === 429) && !reply.hasHeader('retry-after')) {
    reply.header('retry-after', refusal.retryAfter ?? retryAfter)
  }
  // RFC 9110, 15.5.2.
  if (refusal.status === 401) reply.header('www-authenticate', 'Bearer')
  // For who asks the operator what it was. Other answers do without, so that they stay small.
  if (refusal.status >= 500) reply.header('x-request-id', request.id)
  return replyJson(reply, refusal.status, errorText(refusal))
}

/** What the request was refused with; undefined: it was not, or not in the words of this door. */
export function refusalReason(reply: FastifyReply): Reason | undefined {
  return reply.statusCode < 400 ? undefined : reasons.get(reply)
}

/** The body of an error answer. */
export function errorText({ status, reason, message, errors }: Refusal): string {
  return JSON.stringify({ status: 'error', code: status, reason, message, errors })
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof ThingwireError) return error
  const status = statusOf(error)
  if (status === 413) return new ThingwireError('body_too_large')
  if (status === 415) return new ThingwireError('unsupported_media_type')
  // A host's plugin may stop a request too, with a status of its own (a rate limit: 429).
  if (status >= 400 && status < 500)
    return { status, reason: 'bad_request', message: catalogue.bad_request.text }
  return status === 503 ? new ThingwireError('store_unavailable') : new ThingwireError('internal_error')
}

/** Status that Fastify, or a plugin of the host, gave its error. */
function statusOf(error: unknown): number {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined
  return typeof status === 'number' ? status : 500
}
