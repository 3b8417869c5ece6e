import { gunzipSync } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import { type Reason, ThingwireError } from '../../errors.ts'
import { bodyTooLarge, type ReceivedBody } from './body-bytes.ts'

/** The received body; empty if there is no body. */
export function receivedBody(request: FastifyRequest): ReceivedBody {
  return (request.body as ReceivedBody | undefined) ?? { bytes: Buffer.alloc(0) }
}

/**
 * The body of a request, inflated.
 *
 * @throws ThingwireError body_too_large, unsupported_media_type, unsupported_encoding, invalid_content_encoding
 */
export function bodyOf(request: FastifyRequest, limit: number): Buffer {
  const { bytes, problem } = receivedBody(request)
  if (problem) throw problem
  return inflate(bytes, request.headers['content-encoding'], limit)
}

/** Whether the head announces a body. A chunked body may still be empty. */
export function isBodyAnnounced({ headers }: FastifyRequest): boolean {
  return Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined
}

/**
 * Explains why a required body is empty: without Content-Length, HTTP does not treat the bytes after the head as a body.
 *
 * @throws ThingwireError `reason` if no body was announced
 */
export function refuseMissingBody({ headers }: FastifyRequest, reason: Reason): void {
  if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return
  throw new ThingwireError(reason, 'the body is empty, it ends at position 0: is Content-Length missing?')
}

function inflate(body: Buffer, encoding: string | undefined, limit: number): Buffer {
  const name = encoding?.trim().toLowerCase() ?? ''
  if (name === '' || name === 'identity') return body
  if (name !== 'gzip' && name !== 'x-gzip') throw new ThingwireError('unsupported_encoding')
  try {
    // Synchronous, because the writes of a connection must stay in order.
    return gunzipSync(body, { maxOutputLength: limit })
  } catch (error) {
    const tooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
    throw tooLarge ? bodyTooLarge(limit) : new ThingwireError('invalid_content_encoding')
  }
}
