import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Live, Outbox, type Slot } from '../../live/index.ts'

export interface StreamForm {
  readonly contentType: string
  /** Makes a piece that keeps a silent connection open. */
  readonly keepAlive: () => Uint8Array
}

interface StreamTimes {
  /** Milliseconds between the pieces that keep the connection open. */
  readonly keepAlive: number
  /** Milliseconds after which the stream ends if the socket accepts no data. */
  readonly drainTimeout: number
}

interface Piece {
  readonly bytes: Uint8Array
  /** `LiveWrite.committedAt` of the message in the piece. */
  readonly committedAt?: number | undefined
}

/** An endless answer in pieces. Each piece is one `write` of the response, which is one chunk in HTTP/1.1. */
export class LiveStream {
  readonly #response: ServerResponse
  readonly #socket: Socket
  readonly #outbox: Outbox<Piece>
  readonly #drainTimeout: number
  readonly #keepAlive: NodeJS.Timeout

  /** Prepares the head, which is sent with the first piece. @param live notified when pieces have been sent */
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
    // Disables the host's idle timeout, which may be shorter than the interval between keep-alives.
    socket.setTimeout(0)
    // Ignored, because `close` of the socket reports a lost connection.
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

  /** Whether the client has closed its half of the connection. Most such clients have gone, but only a failed send proves it. */
  get isHalfClosed(): boolean {
    return this.#socket.readableEnded
  }

  /** @param committedAt `LiveWrite.committedAt` of the message */
  send(bytes: Uint8Array, committedAt?: number): void {
    this.#outbox.push({ bytes, committedAt })
  }

  /** Opens a place in the order of pieces, to be filled later. */
  openSlot(): Slot<Piece> {
    return this.#outbox.openSlot()
  }

  /** Calls `listener` when the connection has ended, whichever side ended it. */
  onClose(listener: () => void): void {
    // Not `close` of the response: a pipelined response that still waits for its turn does not emit `close`.
    this.#socket.once('close', listener)
  }

  /** Ends the answer normally. */
  end(): void {
    if (this.isClosed) return
    this.#outbox.pump()
    this.#stop()
    this.#response.end()
    const cut = setTimeout(() => this.cut(), this.#drainTimeout)
    cut.unref()
    this.onClose(() => clearTimeout(cut))
  }

  /** Closes the connection immediately. `end` would wait `drainTimeout` for a client that accepts no data. */
  cut(): void {
    this.#socket.destroy()
  }

  #stop(): void {
    clearInterval(this.#keepAlive)
    this.#outbox.close()
  }
}

export class OpenStreams {
  /** Thing ids by stream. */
  readonly #open = new Map<LiveStream, string>()
  #isEnded = false

  /** Whether no more streams may be opened. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  add(stream: LiveStream, thingId: string): void {
    this.#open.set(stream, thingId)
    stream.onClose(() => this.#open.delete(stream))
  }

  /** Cuts the half-closed streams of a thing. Resolves when these streams are closed. */
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

  /** Ends all streams, because a host that shuts down would otherwise wait for them. */
  endAll(): void {
    this.#isEnded = true
    for (const stream of this.#open.keys()) stream.end()
  }
}

export function streamHeaders({ contentType }: Pick<StreamForm, 'contentType'>): Record<string, string> {
  return {
    'content-type': contentType,
    'cache-control': 'no-store',
    // Without this header, nginx would buffer pieces.
    'x-accel-buffering': 'no',
    // Another request on this connection would never be answered, and a connection kept open would delay shutdown.
    connection: 'close',
  }
}
