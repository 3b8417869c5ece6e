import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ThingwireError } from '../errors.ts'

/** Types whose bytes are no JSON text, whatever they hold; every other declared type is taken for JSON [wild]. */
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
    if (contentType !== undefined)
      headers['content-type'] = binaryType.test(contentType.trim()) ? refused : taken
    done()
  })
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) => {
    const body = await receiveBody(payload, limit)
    if (body.problem || request.headers['content-type'] !== refused) return body
    return { bytes: body.bytes, problem: new ThingwireError('unsupported_media_type') }
  })
}

function receiveBody(message: IncomingMessage, limit: number): Promise<ReceivedBody> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const cutOff = () => reject(new ThingwireError('bad_request', 'the body was cut off'))
    message.on('data', (chunk: Buffer) => {
      length += chunk.byteLength
      if (length <= limit) chunks.push(chunk)
      // The answer goes out now and the rest is read and dropped: were the connection closed on a client that still
      // sends, as Fastify does it, the answer would be lost on its way.
      else resolve({ bytes: Buffer.concat(chunks), problem: bodyTooLarge(limit) })
      if (length > limit + maximumDropped) message.destroy()
    })
    message.once('end', () => resolve({ bytes: Buffer.concat(chunks) }))
    message.once('error', cutOff)
    message.once('close', () => {
      if (!message.complete) cutOff()
    })
  })
}

/** The error for a body, inflated or not, of more than `limit` bytes. */
export function bodyTooLarge(limit: number): ThingwireError {
  return new ThingwireError('body_too_large', `the body must be at most ${limit} bytes`)
}
