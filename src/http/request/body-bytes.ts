import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { ThingwireError } from '../../errors.ts'

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
    receiveBody(payload, limit, body => {
      const isRefused = !body.problem && request.headers['content-type'] === refused
      done(null, isRefused ? { ...body, problem: new ThingwireError('unsupported_media_type') } : body)
    })
  })
}

/** A body that is being received. */
interface Receiving {
  /** Bytes that have come. */
  readonly length: () => number
  readonly giveUp: (problem: ThingwireError) => void
}

/** Where a message has its body, while that is received: a `WeakMap` would cost each write too much. */
const receivingKey = Symbol('body that is received')
type Message = IncomingMessage & { [receivingKey]?: Receiving | undefined }

/** Connections on which a body is refused whose end has not come. */
const refusing = new WeakSet<Socket>()

/** What is wrong with a body that will not come to its end; undefined if none of this request is under way. */
export function bodyLoss(
  message: Message,
  reason: 'request_timeout' | 'bad_request',
): ThingwireError | undefined {
  const receiving = message[receivingKey]
  if (!receiving) return undefined
  const what = reason === 'bad_request' ? 'the body broke off' : 'the body did not come to its end in time'
  return new ThingwireError(reason, `${what}: ${missingOf(message, receiving.length())}`)
}

/** Whether what comes on the connection is the rest of a body that was refused: it has its answer, or will have it. */
export function isRefusing(socket: Socket): boolean {
  return refusing.has(socket)
}

/** Hands on what has come of a body, so that it is noted like every write that is refused. */
export function giveUpBody(message: Message, problem: ThingwireError): void {
  message[receivingKey]?.giveUp(problem)
}

/** Reads the body of a message that nothing else reads. @param limit bytes @param settle called once */
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
    // The answer goes out now and the rest is read and dropped: were the connection closed on a client that still
    // sends, as Fastify does it, the answer would be lost on its way.
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
  if (announced === undefined) return `its last chunk is missing, ${length} bytes came`
  return `Content-Length says ${announced} bytes, ${length} came, ${Number(announced) - length} missing`
}

/** Most bodies come in one piece, which needs no copy. */
function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks
  return first && chunks.length === 1 ? first : Buffer.concat(chunks)
}

/** The error for a body, inflated or not, of more than `limit` bytes. @param why what shows it, if not its bytes */
export function bodyTooLarge(limit: number, why?: string): ThingwireError {
  const says = why === undefined ? '' : `: ${why}`
  return new ThingwireError('body_too_large', `the body must be at most ${limit} bytes${says}`)
}
