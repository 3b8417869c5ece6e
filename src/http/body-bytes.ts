import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { ThingwireError } from '../errors.ts'

/** Types whose bytes are no JSON text, whatever they hold; every other declared type is taken for JSON [field]. */
const binaryType = new RegExp(
  [
    '^(image|audio|video|font|multipart|avro)/',
    '^application/(x-|vnd\\.|vnd\\.google\\.|vnd\\.apache\\.)?(msgpack|cbor|bson|protobuf|avro|gzip|zip|pdf)\\b',
    '^[^;]*\\+(msgpack|cbor|bson|protobuf|avro|binary|gzip|zip)\\b',
  ].join('|'),
  'i',
)

/** What a Content-Type becomes, so that Fastify hands over every body: it refuses types that it cannot read. */
const taken = 'application/json'
const refused = 'application/octet-stream'

/** How much of a body that is too large is read and dropped, so that its answer arrives, before the connection is cut. */
const maximumDropped = 64 * 1024 * 1024

/** A body as it came. */
export interface ReceivedBody {
  /** The bytes, or the first of them if there is a problem. */
  readonly bytes: Buffer
  /** What whoever needs the body throws. */
  readonly problem?: ThingwireError
}

/**
 * Makes the bodies of a scope arrive as `ReceivedBody`, whatever their Content-Type says: one of a binary format, or
 * of more than `limit` bytes, is a problem only for who needs it (`bodyOf`).
 */
export function takeBodiesAsBytes(scope: FastifyInstance, limit: number): void {
  scope.addHook('preParsing', (request, _reply, _payload, done) => {
    const { headers } = request.raw
    const contentType = headers['content-type']
    if (contentType !== undefined && contentType !== taken)
      headers['content-type'] = binaryType.test(contentType.trim()) ? refused : taken
    done()
  })
  scope.removeAllContentTypeParsers()
  // By their names, too: of what only `*` takes, Fastify parses the Content-Type each time.
  scope.addContentTypeParser([taken, refused, '*'], (request, payload, done) => {
    receiveBody(payload, limit, (error, body) => {
      const isRefused = body && !body.problem && request.headers['content-type'] === refused
      if (isRefused) done(error, { ...body, problem: new ThingwireError('unsupported_media_type') })
      else done(error, body)
    })
  })
}

type Settle = (error: ThingwireError | null, body?: ReceivedBody) => void

/** @param settle called once */
function receiveBody(message: IncomingMessage, limit: number, settle: Settle): void {
  const chunks: Buffer[] = []
  let length = 0
  let isSettled = false
  const end = (error: ThingwireError | null, body?: ReceivedBody) => {
    if (isSettled) return
    isSettled = true
    settle(error, body)
  }
  const cutOff = () => end(new ThingwireError('bad_request', 'the body was cut off'))
  message.on('data', (chunk: Buffer) => {
    length += chunk.byteLength
    if (length <= limit) chunks.push(chunk)
    // The answer goes out now and the rest is read and dropped: were the connection closed on a client that still
    // sends, as Fastify does it, the answer would be lost on its way.
    else if (!isSettled) end(null, { bytes: joined(chunks), problem: bodyTooLarge(limit) })
    if (length > limit + maximumDropped) message.destroy()
  })
  message.on('end', () => end(null, { bytes: joined(chunks) }))
  message.on('error', cutOff)
  message.on('close', () => {
    if (!message.complete) cutOff()
  })
}

/** Most bodies come in one piece, which needs no copy. */
function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks
  return first && chunks.length === 1 ? first : Buffer.concat(chunks)
}

/** The error for a body, inflated or not, of more than `limit` bytes. */
export function bodyTooLarge(limit: number): ThingwireError {
  return new ThingwireError('body_too_large', `the body must be at most ${limit} bytes`)
}
