import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { type Logger, pino } from 'pino'
import type { ServerOptions } from './options.ts'

/**
 * The log: JSON lines on stderr. No secret gets into it (contract §1): a thing token is part of the path, so paths
 * are logged without long segments and without query, headers and bodies not at all, and errors are scrubbed.
 */
export function createLogger(level: ServerOptions['logLevel']): Logger {
  return pino({ level, serializers: { err: errorSummary, req: requestSummary } }, pino.destination(2))
}

/** One line per request, at `debug`, when it is over. */
export class RequestLog extends LogController {
  override incomingRequest(): void {}

  override requestCompleted(
    error: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    const milliseconds = Math.round(reply.elapsedTime)
    const line = { ...requestSummary(request), status: reply.statusCode, milliseconds }
    if (error) request.log.warn({ ...line, err: error }, 'request broken off')
    else request.log.debug(line, 'request')
  }

  /** The one of Fastify prints the URL. */
  override routeNotFound(): void {}
}

const longestSegment = 20

/** Path without what may be a secret: the query, and every segment that is longer than a thing id, however encoded. */
export function redactPath(url: string): string {
  const [path = ''] = url.split('?', 1)
  return path
    .split('/')
    .map(segment => (segment.length > longestSegment ? '[redacted]' : segment))
    .join('/')
}

/** Text without anything as long as a token, a session, an activation code or an admin key. */
export function redactText(text: string): string {
  return text.replace(/[A-Za-z0-9_%-]{32,}/g, '[redacted]')
}

function requestSummary(request: FastifyRequest): object {
  return { method: request.method, path: redactPath(request.url), address: request.ip }
}

/** Only what is known to be safe: other fields of an error, such as Node's `rawPacket`, hold the request. */
export function errorSummary(error: unknown): object {
  if (!(error instanceof Error)) return { message: redactText(String(error)) }
  const { code, reason } = error as { code?: unknown; reason?: unknown }
  return {
    type: error.name,
    ...(typeof code === 'string' && { code }),
    ...(typeof reason === 'string' && { reason }),
    message: redactText(error.message),
    stack: redactText(error.stack ?? ''),
    ...(error.cause !== undefined && { cause: errorSummary(error.cause) }),
  }
}
