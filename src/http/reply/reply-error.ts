import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorText, type Refused } from '../../core/refusals/answer-texts.ts'
import { catalogue, type Reason, ThingwireError } from '../../errors.ts'
import { replyJson } from './reply-json.ts'

/** The reasons of refused requests, for the metrics. */
const reasons = new WeakMap<FastifyReply, Reason>()

/** Seconds after which a client may retry a temporary refusal. */
export const retryAfter = 5

interface Refusal extends Refused {
  readonly retryAfter?: number | undefined
}

/**
 * Answers a thrown error in the shape of contract §6. Logs the error unless a client or a normal stop caused it.
 *
 * @param textOf the JSON of the answer
 */
export function replyError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  textOf = errorText,
): FastifyReply {
  const refusal = refusalOf(error)
  if (refusal.status === 500) request.log.error({ err: error }, 'defect while answering a request')
  else if (refusal.reason === 'store_full') request.log.warn('write refused: too little room')
  else if (refusal.status === 503 && refusal.reason !== 'draining')
    request.log.warn({ err: error }, 'request not served')
  return replyRefusal(refusal, request, reply, textOf)
}

/** Answers an expected refusal, for example of a node that is not ready, without logging it. */
export function replyRefusal(
  refusal: Refusal,
  request: FastifyRequest,
  reply: FastifyReply,
  textOf = errorText,
): FastifyReply {
  reasons.set(reply, refusal.reason)
  if ((refusal.status === 503 || refusal.status === 429) && !reply.hasHeader('retry-after')) {
    reply.header('retry-after', refusal.retryAfter ?? retryAfter)
  }
  // Required by RFC 9110, 15.5.2.
  if (refusal.status === 401) reply.header('www-authenticate', 'Bearer')
  // With the id, the operator finds the log lines of the request. Other answers have no id, so that they stay small.
  if (refusal.status >= 500) reply.header('x-request-id', request.id)
  return replyJson(reply, refusal.status, textOf(refusal))
}

/** The reason of an error answer; undefined for a success, and for an error answer that the host sent. */
export function refusalReason(reply: FastifyReply): Reason | undefined {
  return reply.statusCode < 400 ? undefined : reasons.get(reply)
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof ThingwireError) return error
  const status = statusOf(error)
  if (status === 413) return new ThingwireError('body_too_large')
  if (status === 415) return new ThingwireError('unsupported_media_type')
  // A plugin of the host may refuse a request with another status, for example with 429 for a rate limit.
  if (status >= 400 && status < 500)
    return { status, reason: 'bad_request', message: catalogue.bad_request.text }
  return status === 503 ? new ThingwireError('store_unavailable') : new ThingwireError('internal_error')
}

/** The status of an error from Fastify or from a plugin of the host; 500 for any other error. */
function statusOf(error: unknown): number {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined
  return typeof status === 'number' ? status : 500
}
