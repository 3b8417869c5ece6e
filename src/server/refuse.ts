import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ThingwireError } from '../errors.ts'
import { errorText } from '../http/reply-error.ts'

/** Seconds. */
const retryAfter = 5
/** Milliseconds for which the client may take the answer. */
const lingering = 1_000

/** Answers an HTTP connection like every other error of HTTP (contract §6), whatever was asked, and closes it. */
export function refuse(socket: Duplex, error: ThingwireError): void {
  const body = errorText(error)
  const mayRetry = error.status === 503 || error.status === 429
  socket.on('error', ignore)
  // Closing on bytes that were not read would reset the connection, and with it the answer.
  socket.once('end', () => socket.destroy())
  socket.resume()
  setTimeout(() => socket.destroy(), lingering)
  socket.end(
    [
      `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...(mayRetry ? [`Retry-After: ${error.retryAfter ?? retryAfter}`] : []),
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}

function ignore(): void {}
