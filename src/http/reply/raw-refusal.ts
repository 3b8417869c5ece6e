import { STATUS_CODES } from 'node:http'
import { errorText } from '../../core/refusals/answer-texts.ts'
import type { ThingwireError } from '../../errors.ts'
import { retryAfter } from './reply-error.ts'

/** A whole error answer (contract §6), for a connection without a reply object. The connection must be closed after the answer. */
export function rawRefusal(error: ThingwireError): string {
  const body = errorText(error)
  const mayRetry = error.status === 503 || error.status === 429
  return [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(mayRetry ? [`Retry-After: ${error.retryAfter ?? retryAfter}`] : []),
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}
