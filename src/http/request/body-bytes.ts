import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { isBinaryType } from '../../core/json/binary-type.ts'
import { ThingwireError } from '../../errors.ts'

/** One of these two types replaces each Content-Type, because Fastify refuses a type without a parser. */
const taken = 'application/json'
const refused = 'application/octet-stream'

/** Maximum number of bytes to read beyond the limit, so that the client gets its answer. More bytes cut the connection. */
const maximumDropped = 64 * 1024 * 1024

export interface ReceivedBody {
  /** All bytes; if there is a problem, the bytes that were received before it. */
  readonly bytes: Buffer
  /** Thrown by `bodyOf`, for requests that need the body. */
  readonly problem?: ThingwireError
}

/**
 * Makes the bodies of a scope arrive as `ReceivedBody`, whatever their Content-Type. A body in a binary format or of more than
 * `limit` bytes is refused only if the request needs a body (`bodyOf`).
 */
export function takeBodiesAsBytes(scope: FastifyInstance, limit: number): void {
  scope.addHook('preParsing', (request, _reply, _payload, done) => {
    const { headers } = request.raw
    const contentType = headers['content-type']
    if (contentType !== undefined && contentType !== taken)
      headers['content-type'] = isBinaryType(contentType) ? refused : taken
    done()
  })
  scope.removeAllContentTypeParsers()
  // Both types are registered by name, because Fastify would spend time on parsing each Content-Type that only `*` matches.
  scope.addContentTypeParser([taken, refused, '*'], (request, payload, done) => {
    receiveBody(payload, limit, body => {
      const isRefused = !body.problem && request.headers['content-type'] === refused
      done(null, isRefused ? { ...body, problem: new ThingwireError('unsupported_media_type') } : body)
    })
  })
}

interface Receiving {
  /** Number of bytes received so far. */
  readonly length: () => number
  readonly giveUp: (problem: ThingwireError) => void
}

/** Property that a message has while its body is being received. A `WeakMap` would slow down each write too much. */
const receivingKey = Symbol('body that is received')
type Message = IncomingMessage & { [receivingKey]?: Receiving | undefined }

/** Connections on which a refused body is still arriving. */
const refusing = new WeakSet<Socket>()

/** The error for a body that will stay incomplete; undefined if no body of the message is being received. */
export function bodyLoss(
  message: Message,
  reason: 'request_timeout' | 'bad_request',
): ThingwireError | undefined {
  const receiving = message[receivingKey]
  if (!receiving) return undefined
  const what = reason === 'bad_request' ? 'the body was cut off' : 'the body did not arrive in full in time'
  return new ThingwireError(reason, `${what}: ${missingOf(message, receiving.length())}`)
}

/** Whether the bytes on the connection are the rest of a refused body. Such bytes get no further answer. */
export function isRefusing(socket: Socket): boolean {
  return refusing.has(socket)
}

/** Ends the reading of a body that has only partly arrived, so that its write is listed as refused. */
export function giveUpBody(message: Message, problem: ThingwireError): void {
  message[receivingKey]?.giveUp(problem)
}

/** Reads the body of a message. @param limit bytes @param settle called once */
export function receiveBody(message: Message, limit: number, settle: (body: ReceivedBody) => void): void {
  const chunks: Buffer[] = []
  let length = 0
  const end = (problem?: ThingwireError) => {
    if (!message[receivingKey]) return
    message[receivingKey] = undefined
    if (problem) refusing.add(message.socket)
    settle(problem ? { bytes: joined(chunks), problem } : { bytes: joined(chunks) })
  }
  message[receivingKey] = { length: () => length, giveUp: end }
  message.on('data', (chunk: Buffer) => {
    length += chunk.byteLength
    // The answer is sent now, and the rest is read and dropped. Fastify's own limit would close the connection while the client
    // is still sending, and the client would not get the answer.
    if (length > limit) end(bodyTooLarge(limit))
    else if (message[receivingKey]) chunks.push(chunk)
    if (length > limit + maximumDropped) message.destroy()
  })
  message.on('end', () => {
    end()
    refusing.delete(message.socket)
  })
  const brokenOff = () => end(bodyLoss(message, 'bad_request'))
  message.on('error', brokenOff)
  message.on('close', () => {
    if (!message.complete) brokenOff()
  })
  const announced = Number(message.headers['content-length'] ?? 0)
  if (announced > limit) end(bodyTooLarge(limit, `Content-Length says ${announced}`))
}

function missingOf(message: IncomingMessage, length: number): string {
  const announced = message.headers['content-length']
  if (announced === undefined) return `its last chunk is missing, ${length} bytes arrived`
  return `Content-Length says ${announced} bytes, ${length} arrived, ${Number(announced) - length} are missing`
}

/** Joins the chunks. If there is only one, as is usual, it is not copied. */
function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks
  return first && chunks.length === 1 ? first : Buffer.concat(chunks)
}

/** The error for a body of more than `limit` bytes, inflated or not. @param why how the size is known, for the message */
export function bodyTooLarge(limit: number, why?: string): ThingwireError {
  const says = why === undefined ? '' : `: ${why}`
  return new ThingwireError('body_too_large', `the body must be at most ${limit} bytes${says}`)
}
