import { maxHeaderSize, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyHttpOptions, FastifyReply, FastifyRequest } from 'fastify'
import { ThingwireError } from '../errors.ts'
import { rawRefusal } from './reply/raw-refusal.ts'
import { replyError } from './reply/reply-error.ts'
import { bodyLoss, giveUpBody, isRefusing } from './request/body-bytes.ts'
import { maximumPathPart } from './request/paths.ts'

/**
 * Options that a host of `thingsHttp` should set, because a plugin cannot: `fastify({ ...hostOptions, … })`. The host then
 * tolerates simple clients, and a failure before routing gets the usual error answer (contract §6). A host with `http` options of
 * its own adds `...hostOptions.http` to them.
 */
export const hostOptions = {
  routerOptions: {
    ignoreTrailingSlash: true,
    ignoreDuplicateSlashes: true,
    // The default of 100 would refuse keys of 128 characters and settings paths.
    maxParamLength: maximumPathPart,
  },
  // Hand-made clients leave out Host, and no route needs it.
  http: { requireHostHeader: false },
  clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) => refuseConnection(error, socket),
  // Called for a path with a broken percent-encoding or an overlong part. By default Fastify would echo the path.
  frameworkErrors: (error: { code: string }, request: FastifyRequest, reply: FastifyReply) => {
    const isTooLong = error.code === 'FST_ERR_MAX_PARAM_LENGTH'
    const refusal = isTooLong
      ? new ThingwireError('not_found')
      : new ThingwireError(
          'bad_request',
          'the path has a % that begins no percent-encoded UTF-8: write % as %25',
        )
    replyError(refusal, request, reply)
  },
} satisfies FastifyHttpOptions<Server>

const refused = new WeakSet<Socket>()

/** Answers bytes that are not HTTP or arrive too slowly, and closes the connection. */
function refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  if (refused.has(socket)) return
  refused.add(socket)
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const answering = answerUnderWay(socket)
  // Some clients send bytes after the body [field]; the request before them still gets its answer.
  if (answering && (answering.req.complete || isRefusing(socket))) {
    closeAfter(answering, socket)
    return
  }
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  const loss = answering && bodyLoss(answering.req, isLate ? 'request_timeout' : 'bad_request')
  const isAnswered = answering?.headersSent || isRefusing(socket)
  const answer = isAnswered ? '' : rawRefusal(loss ?? refusalOf(error))
  socket.end(answer, () => socket.destroy())
  // Only after this answer was sent, so that the answer of the route is dropped.
  if (loss) giveUpBody(answering.req, loss)
}

function refusalOf({ code }: NodeJS.ErrnoException): ThingwireError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ThingwireError('request_timeout')
  if (code !== 'HPE_HEADER_OVERFLOW') return new ThingwireError('bad_request')
  const message = `the request line and the headers must be at most ${maxHeaderSize} bytes: are cookies of other applications on this host name among them?`
  return new ThingwireError('head_too_large', message)
}

/** Closes the connection after this answer and the answers to the pipelined requests after it. */
function closeAfter(answering: ServerResponse, socket: Socket): void {
  answering.once('close', () => {
    const next = answerUnderWay(socket)
    if (next?.req.complete) closeAfter(next, socket)
    else socket.destroySoon()
  })
}

/** The first unfinished response of a connection; Node's default handler reads the same field. */
function answerUnderWay(socket: Socket): ServerResponse | undefined {
  return (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined
}
