import { maxHeaderSize, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyHttpOptions, FastifyReply, FastifyRequest } from 'fastify'
import { ThingwireError } from '../errors.ts'
import { rawRefusal } from './reply/raw-refusal.ts'
import { replyError } from './reply/reply-error.ts'
import { bodyLoss, giveUpBody, isRefusing } from './request/body-bytes.ts'
import { maximumPathPart } from './request/paths.ts'

/**
 * Options that a host of `thingsHttp` should set, since a plugin cannot set them: `fastify({ ...hostOptions, … })`. With
 * these options, the host tolerates simple clients, and a failure before routing gets the usual error answer (contract §6). A host
 * that also sets `http` options adds `...hostOptions.http` to its `http` options.
 */
export const hostOptions = {
  routerOptions: {
    ignoreTrailingSlash: true,
    ignoreDuplicateSlashes: true,
    // The default, 100, is too short for keys of up to 128 characters and for settings paths.
    maxParamLength: maximumPathPart,
  },
  // Simple clients leave out the Host header, and no route needs it.
  http: { requireHostHeader: false },
  clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) => refuseConnection(error, socket),
  // Called for a path with an invalid percent-encoding or a part that is too long. Fastify's default would echo the path.
  frameworkErrors: (error: { code: string }, request: FastifyRequest, reply: FastifyReply) => {
    const isTooLong = error.code === 'FST_ERR_MAX_PARAM_LENGTH'
    const refusal = isTooLong
      ? new ThingwireError('not_found')
      : new ThingwireError(
          'bad_request',
          'the path has a % that does not begin percent-encoded UTF-8: write % as %25',
        )
    replyError(refusal, request, reply)
  },
} satisfies FastifyHttpOptions<Server>

const refused = new WeakSet<Socket>()

/** Answers a request that is not HTTP or arrives too slowly, and closes the connection. */
function refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  if (refused.has(socket)) return
  refused.add(socket)
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const answering = answerUnderWay(socket)
  // Some clients send further bytes after the body [field]. Their request must still get its answer.
  if (answering && (answering.req.complete || isRefusing(socket))) {
    closeAfter(answering, socket)
    return
  }
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  const loss = answering && bodyLoss(answering.req, isLate ? 'request_timeout' : 'bad_request')
  const isAnswered = answering?.headersSent || isRefusing(socket)
  const answer = isAnswered ? '' : rawRefusal(loss ?? refusalOf(error))
  socket.end(answer, () => socket.destroy())
  // Called after the refusal was sent, so that the route's own answer is dropped.
  if (loss) giveUpBody(answering.req, loss)
}

function refusalOf({ code }: NodeJS.ErrnoException): ThingwireError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ThingwireError('request_timeout')
  if (code !== 'HPE_HEADER_OVERFLOW') return new ThingwireError('bad_request')
  const message = `the request line and the headers must be at most ${maxHeaderSize} bytes: are cookies of other applications on this host name among them?`
  return new ThingwireError('head_too_large', message)
}

/** Closes the connection after this answer and after the answers to later pipelined requests. */
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
