import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Live, Outbox, type Slot } from '../../live/index.ts'

export interface StreamForm {
  readonly contentType: string
  /** Sent when nothing else may have been for a while. */
  readonly keepAlive: () => Uint8Array
}

interface StreamTimes {
  /** Between two of `StreamForm.keepAlive`, milliseconds. */
  readonly keepAlive: number
  /** How long the socket may take nothing, milliseconds. */
  readonly drainTimeout: number
}

/** What is sent as one. */
interface Piece {
  readonly bytes: Uint8Array
  /** `LiveWrite.committedAt` of its message. */
  readonly committedAt?: number | undefined
}

/** An answer without an end, sent piece by piece: each with a write, so in HTTP/1.1 a chunk, of its own. */
export class LiveStream {
  readonly #response: ServerResponse
  readonly #socket: Socket
  readonly #outbox: Outbox<Piece>
  readonly #drainTimeout: number
  readonly #keepAlive: NodeJS.Timeout

  /** Sends the head. @param live called when pieces leave */
  constructor(
    request: FastifyRequest,
    reply: FastifyReply,
    form: StreamForm,
    times: StreamTimes,
    live: Pick<Live, 'sent'>,
  ) {
    reply.headers(streamHeaders(form))
    const response = reply.hijack().raw
    const { socket } = request.raw
    socket.setNoDelay(true)
    // The host's bound on silence is shorter than what a client may ask for as keepAlive.
    socket.setTimeout(0)
    // `close` of the socket reports that the connection is gone.
    response.on('error', () => {})
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) response.setHeader(name, value)
    }
    response.writeHead(200)
    this.#response = response
    this.#socket = socket
    this.#drainTimeout = times.drainTimeout
    this.#outbox = new Outbox({
      sink: response,
      socket,
      encode: ({ bytes }) => bytes,
      weigh: ({ bytes }) => bytes.length,
      joined: 0,
      drainTimeout: times.drainTimeout,
      onSent: ({ committedAt }) => live.sent(committedAt),
      onStuck: why => {
        request.log.debug({ why }, 'live stream cut')
        this.cut()
      },
    })
    this.#keepAlive = setInterval(() => this.send(form.keepAlive()), times.keepAlive)
    this.#keepAlive.unref()
    this.onClose(() => this.#stop())
  }

  get isClosed(): boolean {
    return this.#socket.destroyed || this.#response.writableEnded
  }

  /** Whether the client has closed its half: most have left, and it takes a piece that is not answered to show it. */
  get isHalfClosed(): boolean {
    return this.#socket.readableEnded
  }

  /** @param committedAt `LiveWrite.committedAt` of the message */
  send(bytes: Uint8Array, committedAt?: number): void {
    this.#outbox.push({ bytes, committedAt })
  }

  /** A place among the pieces that is filled later. */
  openSlot(): Slot<Piece> {
    return this.#outbox.openSlot()
  }

  /** Calls `listener` when the connection is gone, whoever ended it. */
  onClose(listener: () => void): void {
    // Not of the response: one that waits for its turn on the connection emits nothing.
    this.#socket.once('close', listener)
  }

  /** Ends the answer as one that is complete. */
  end(): void {
    if (this.isClosed) return
    this.#outbox.pump()
    this.#stop()
    this.#response.end()
    const cut = setTimeout(() => this.cut(), this.#drainTimeout)
    cut.unref()
    this.onClose(() => clearTimeout(cut))
  }

  /** Breaks the answer off at once: with `end`, a client that takes nothing would stay for `drainTimeout`. */
  cut(): void {
    this.#socket.destroy()
  }

  #stop(): void {
    clearInterval(this.#keepAlive)
    this.#outbox.close()
  }
}

/** The streams of a host that are open. */
export class OpenStreams {
  /** With the thing that it is of. */
  readonly #open = new Map<LiveStream, string>()
  #isEnded = false

  /** Whether none is to be opened any more. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  add(stream: LiveStream, thingId: string): void {
    this.#open.set(stream, thingId)
    stream.onClose(() => this.#open.delete(stream))
  }

  /** Cuts the streams of a thing of which the client has closed its half. Resolves when they are closed. */
  async cutHalfClosed(thingId: string): Promise<void> {
    const left = [...this.#open].filter(([stream, itsThing]) => itsThing === thingId && stream.isHalfClosed)
    await Promise.all(
      left.map(async ([stream]) => {
        const closed = new Promise<void>(resolve => stream.onClose(resolve))
        stream.cut()
        await closed
      }),
    )
  }

  /** The host stops, and would wait for them. */
  endAll(): void {
    this.#isEnded = true
    for (const stream of this.#open.keys()) stream.end()
  }
}

/** The head of a stream. */
export function streamHeaders({ contentType }: Pick<StreamForm, 'contentType'>): Record<string, string> {
  return {
    'content-type': contentType,
    'cache-control': 'no-store',
    // nginx would hold pieces back until it has many.
    'x-accel-buffering': 'no',
    // What is asked behind a stream is never answered; and when the host stops, nobody has to wait for idle connections.
    connection: 'close',
  }
}
