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

/**
 * Makes the bodies of a scope arrive as bytes, whatever their Content-Type says; one of a binary format, or of more
 * than `limit` bytes, arrives as the error that whoever needs it throws (`bodyOf`).
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
    return request.headers['content-type'] === refused ? new ThingwireError('unsupported_media_type') : body
  })
}

function receiveBody(message: IncomingMessage, limit: number): Promise<Buffer | ThingwireError> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    message.on('data', (chunk: Buffer) => {
      bytes += chunk.byteLength
      if (bytes <= limit) chunks.push(chunk)
      // The answer goes out now and the rest is read and dropped: were the connection closed on a client that still
      // sends, as Fastify does it, the answer would be lost on its way.
      else resolve(bodyTooLarge(limit))
    })
    message.once('end', () => resolve(Buffer.concat(chunks)))
    message.once('error', reject)
    message.once('close', () => {
      if (!message.complete) reject(new ThingwireError('bad_request', 'the body was cut off'))
    })
  })
}

/** The error for a body, inflated or not, of more than `limit` bytes. */
export function bodyTooLarge(limit: number): ThingwireError {
  return new ThingwireError('body_too_large', `the body must be at most ${limit} bytes`)
}
