import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Access, Revocation } from '../../access/access.ts'
import { principalName } from '../../access/principal.ts'
import { hashToken, isToken } from '../../core/token.ts'
import { ThingwireError } from '../../errors.ts'
import type { Live, Subscriber } from '../../live/index.ts'
import type { HttpThings } from '../http-things.ts'
import type { Operation } from '../operation/operation.ts'
import { queryParameter, ref } from '../operation/parameters.ts'
import { ofThing } from '../operation/refusals.ts'
import { writtenRecords } from '../operation/shapes.ts'
import { acceptedType } from '../request/accepted.ts'
import { credentialOf } from '../request/credential.ts'
import type { OfThing } from '../request/paths.ts'
import { Query } from '../request/query.ts'
import { EventStreams, eventsType } from '../streaming/event-stream.ts'
import { LiveStream, OpenStreams, type StreamForm, streamHeaders } from '../streaming/live-stream.ts'

const example = [{ key: 'temperature', value: 21.5 }]

export const streamWrites: Operation = {
  id: 'streamWrites',
  group: 'Live',
  summary: 'Stream the new writes of a thing',
  description:
    'The answer is chunked JSON: first `{"status":"success","message":"subscribed"}`, then one chunk with one JSON document for ' +
    'each write, and `{}` as a sign of life. With `Accept: text/event-stream` it is server-sent events: `event: values` has the ' +
    'records of one write, `event: reset` means that missed writes are no longer kept. A stream lasts until either side ends it.',
  credential: 'stream',
  parameters: [
    ref,
    queryParameter(
      'keepAlive',
      'Milliseconds between signs of life: 1,000 to 600,000, default 25,000.',
      10_000,
      z.int().min(1),
    ),
    {
      name: 'Last-Event-ID',
      in: 'header',
      description:
        'For server-sent events: the last `id` of the client. The server first sends the writes since then.',
      schema: z.string(),
      example: 'an-id-of-before',
    },
  ],
  answers: {
    200: {
      description: 'The stream.',
      content: {
        'application/json': {
          schema: z.union([
            z.object({ status: z.literal('success'), message: z.literal('subscribed') }),
            writtenRecords,
            z.object({}),
          ]),
          example,
        },
        'text/event-stream': {
          schema: z.string(),
          example:
            'event: values\nid: an-opaque-position\n' +
            'data: [{"key":"temperature","value":21.5,"datetime":"2026-11-21T09:30:00.000Z"}]\n\n',
        },
      },
    },
  },
  refusals: [...ofThing, 'invalid_query', 'too_many_streams', 'draining'],
}

/** Milliseconds between keep-alives (contract §8.1). Common proxies close a connection that has been silent for 60 s. */
const keepAliveRange = { minimum: 1_000, fallback: 25_000, maximum: 600_000 }

/** `GET /v2/things/<ref>` (contract §8). @param drainTimeout milliseconds until a client that accepts no data is cut off */
export function streamRoute(
  scope: FastifyInstance,
  { access, limits, live, streamLog }: HttpThings,
  drainTimeout: number,
): void {
  const open = new OpenStreams()
  const events = new EventStreams(live)
  // In `preClose`, because `onClose` runs only after all connections are closed, and open streams keep theirs open.
  scope.addHook('preClose', done => {
    open.endAll()
    done()
  })

  scope.get<OfThing>('/things/:ref', { config: { operation: streamWrites } }, async (request, reply) => {
    const held = new Held()
    try {
      const isOpen = await openStream(request, reply, held)
      if (!isOpen) held.release()
      return reply
    } catch (error) {
      held.release()
      throw error
    }
  })

  /** @returns false if the request was answered without a stream or the client has gone */
  async function openStream(
    request: FastifyRequest<OfThing>,
    reply: FastifyReply,
    held: Held,
  ): Promise<boolean> {
    const query = new Query(request)
    const { ref } = request.params
    // A session may also be in the query, because an EventSource cannot send headers.
    const credential = credentialOf(request) ?? query.text('session')
    const watch = new CredentialWatch(access, ref, credential)
    held.add(watch.stop)
    const thingId = await access.authorise(ref, credential, 'read')
    const keepAlive = keepAliveOf(query)
    const isEvents =
      acceptedType(request, reply, ['application/json', 'text/event-stream']) === 'text/event-stream'
    if (request.method === 'HEAD') {
      // An empty stream, because Fastify would add a Content-Length header for any other body.
      reply.headers(streamHeaders(isEvents ? eventsType : chunkedJson)).send(Readable.from([]))
      return false
    }
    held.add(await enter(thingId))
    const lastEventId = lastEventIdOf(request)
    const streamed = isEvents ? await streamLog.enter(thingId, lastEventId) : undefined
    if (streamed) held.add(streamed.leave)
    if (open.isEnded) throw new ThingwireError('draining')
    if (request.raw.socket.destroyed) {
      reply.hijack()
      return false
    }
    watch.onDead(() => stream.cut())
    const form = streamed ? events.form(streamed) : chunkedJson
    const stream = new LiveStream(request, reply, form, { keepAlive, drainTimeout }, live)
    stream.onClose(() => held.release())
    open.add(stream, thingId)
    if (streamed) events.begin(stream, streamed, lastEventId)
    else streamChunks(stream, live, thingId)
    return true
  }

  /** Counts a stream of the thing. @returns a function to call when the stream ends @throws ThingwireError too_many_streams */
  async function enter(thingId: string): Promise<() => void> {
    let leave = limits.streams.enter(thingId)
    if (!leave) {
      // A page that was reloaded many times may have left half-closed streams open.
      await open.cutHalfClosed(thingId)
      leave = limits.streams.enter(thingId)
    }
    if (leave) return leave
    limits.count('too_many_streams')
    throw new ThingwireError('too_many_streams')
  }
}

/** Resources to release when a stream ends. */
class Held {
  readonly #releases: (() => void)[] = []

  add(release: () => void): void {
    this.#releases.push(release)
  }

  release(): void {
    for (const release of this.#releases.splice(0)) release()
  }
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

/** An empty id counts as no id: a client may send it before its first event. */
function lastEventIdOf(request: FastifyRequest): string | undefined {
  return request.headers['last-event-id']?.toString() || undefined
}

const nothing = Buffer.from('{}')
const subscribed = Buffer.from('{"status":"success","message":"subscribed"}')

/** One JSON document per chunk (contract §8.1). */
const chunkedJson: StreamForm = {
  contentType: 'application/json',
  keepAlive: () => nothing,
}

/** Sends all writes of a thing from now on, as the same bytes that MQTT subscribers get on `v2/things/<ref>`. */
function streamChunks(stream: LiveStream, live: Live, thingId: string): void {
  const subscriber: Subscriber = {
    deliver: write => {
      if (write.hasWhole) stream.send(write.whole(), write.committedAt)
    },
    // Chunked JSON has no way to report missed writes.
    missed: () => stream.end(),
  }
  stream.onClose(() => live.unsubscribe(thingId, subscriber))
  live.subscribe(thingId, subscriber)
  stream.send(subscribed)
}

/**
 * Watches whether the credential of a stream is revoked (contract §6). Begins before the request is authorised, so that it misses
 * no revocation. An export or a backup is not watched, so a revocation does not end it.
 */
class CredentialWatch {
  /** Ends the watch. */
  readonly stop: () => void
  readonly #ref: string
  readonly #hash: string
  #error: ThingwireError | undefined
  #onDead = () => {}

  /** @param ref thing token or thing id @param credential as in `Access.authorise` */
  constructor(access: Pick<Access, 'onRevoke'>, ref: string, credential: string | undefined) {
    this.#ref = ref
    this.#hash = hashToken(isToken(ref) ? ref : (credential ?? ''))
    this.stop = access.onRevoke(revocation => this.#look(revocation))
  }

  /** Calls `listener` when the credential is revoked. @throws ThingwireError if it has already been revoked */
  onDead(listener: () => void): void {
    if (this.#error) throw this.#error
    this.#onDead = listener
  }

  #look({ hashes, principals, all }: Revocation): void {
    if (this.#error) return
    if (hashes.has(this.#hash)) {
      this.#error = new ThingwireError(isToken(this.#ref) ? 'unknown_thing_token' : 'invalid_session')
    } else if (principals.has(principalName({ kind: 'thing', thingId: this.#ref }))) {
      this.#error = new ThingwireError('unknown_thing')
    } else if (all) {
      this.#error = new ThingwireError('store_unavailable')
    }
    if (this.#error) this.#onDead()
  }
}
