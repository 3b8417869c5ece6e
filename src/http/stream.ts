import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ThingwireError } from '../errors.ts'
import { chunkedJson, streamChunks } from './chunked-stream.ts'
import { credentialOf } from './credential.ts'
import { EventStreams, serverSentEvents } from './event-stream.ts'
import { LiveStream, OpenStreams, streamHeaders } from './live-stream.ts'
import type { OfThing } from './paths.ts'
import { Query } from './query.ts'
import type { HttpThings } from './things.ts'

/** Milliseconds (contract §8). */
const keepAliveRange = { minimum: 1_000, fallback: 60_000, maximum: 600_000 }

/**
 * `GET /v2/things/<ref>`: the writes of a thing as they come, chunked JSON or server-sent events (contract §8).
 *
 * @param drainTimeout how long a client may take nothing, milliseconds (contract §7, stuck subscribers)
 */
export function streamRoute(
  scope: FastifyInstance,
  { access, live, streamLog }: HttpThings,
  drainTimeout: number,
): void {
  const open = new OpenStreams()
  const events = new EventStreams(live)
  // Not onClose: that comes when the last connection is closed.
  scope.addHook('preClose', done => {
    open.endAll()
    done()
  })

  scope.get<OfThing>('/things/:ref', async (request, reply) => {
    const query = new Query(request)
    // An EventSource sends no headers of its own.
    const credential = credentialOf(request) ?? query.text('session')
    const thingId = await access.authorise(request.params.ref, credential, 'read')
    const keepAlive = keepAliveOf(query)
    const isEvents = /\btext\/event-stream\b/i.test(request.headers.accept ?? '')
    const form = isEvents ? serverSentEvents : chunkedJson
    // A stream, since Fastify would announce the length of anything else.
    if (request.method === 'HEAD') return reply.headers(streamHeaders(form)).send(Readable.from([]))
    const streamed = isEvents ? await streamLog.enter(thingId) : undefined
    const leave = () => streamed && streamLog.leave(streamed.thing)
    if (open.isEnded) {
      leave()
      throw new ThingwireError('draining')
    }
    if (request.raw.socket.destroyed) {
      leave()
      return reply.hijack()
    }
    const stream = new LiveStream(request, reply, form, { keepAlive, drainTimeout })
    stream.onClose(leave)
    open.add(stream)
    if (streamed) events.begin(stream, streamed, lastEventId(request))
    else streamChunks(stream, live, thingId)
    return reply
  })
}

/** @throws ThingwireError invalid_query */
function keepAliveOf(query: Query): number {
  const { minimum, fallback, maximum } = keepAliveRange
  const text = query.text('keepAlive')
  if (text === undefined) return fallback
  const keepAlive = /^\d+$/.test(text) ? Number(text) : 0
  if (keepAlive < 1) throw new ThingwireError('invalid_query', 'keepAlive must be a positive integer')
  return Math.min(Math.max(keepAlive, minimum), maximum)
}

/** An empty one is none: that is what a client that has had no event would have to send. */
function lastEventId(request: FastifyRequest): string | undefined {
  return request.headers['last-event-id']?.toString() || undefined
}
