import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws'
import { ThingwireError } from '../../errors.ts'
import type { ArrivingStream } from '../../mqtt/connection/connection.ts'
import { probeAfter } from '../connections/listening.ts'
import { refuse } from '../connections/refuse.ts'

/** The path of MQTT over WebSocket on the HTTP port. */
export const webSocketPath = '/mqtt'

const subprotocols: readonly string[] = ['mqtt', 'mqttv3.1']

interface MqttWebSocketsParts {
  /** Origins of the pages that may open a WebSocket; `*` allows any origin. */
  readonly allowedOrigins: readonly string[]
  /** Maximum size of an MQTT packet, bytes. */
  readonly maxPacketSize: number
  /** Milliseconds between pings. */
  readonly ping: number
  /** Serves a client. `request` is the request that opened its WebSocket. */
  handle(stream: Duplex & ArrivingStream, request: IncomingMessage): void
  /** Called with the reason when a WebSocket fails. */
  readonly onBroken?: (message: string) => void
}

/** WebSockets that carry MQTT (contract §7.9). */
export class MqttWebSockets {
  readonly #parts: MqttWebSocketsParts
  readonly #server: WebSocketServer
  readonly #open = new Set<WebSocket>()

  constructor(parts: MqttWebSocketsParts) {
    this.#parts = parts
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      // A message may hold several packets, so it may be larger than one. It is limited, because ws buffers the whole message.
      maxPayload: 2 * parts.maxPacketSize,
      handleProtocols: offered => [...offered].find(name => subprotocols.includes(name)) ?? false,
    })
    // Emitted for a malformed handshake.
    this.#server.on('wsClientError', (_error, socket) => refuse(socket, new ThingwireError('bad_request')))
  }

  /** Why an upgrade must be refused; undefined if it can be accepted. */
  problemOf({ headers }: IncomingMessage): ThingwireError | undefined {
    const { allowedOrigins } = this.#parts
    const { origin } = headers
    const mayCall = origin === undefined || allowedOrigins.includes('*') || allowedOrigins.includes(origin)
    if (!mayCall) return new ThingwireError('forbidden', 'the origin of the page is not in allowedOrigins')
    // A proxy may treat the bytes after the head as a body, but the server would treat them as frames (request smuggling).
    if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0)
      return new ThingwireError('bad_request', 'an upgrade request must have no body')
    const offered = headers['sec-websocket-protocol']?.split(',').map(name => name.trim()) ?? []
    if (offered.some(name => subprotocols.includes(name))) return undefined
    return new ThingwireError('bad_request', `the WebSocket subprotocol must be ${subprotocols.join(' or ')}`)
  }

  /** Upgrades a request for which `problemOf` returns undefined. @param socket has `ignore` as its listener for errors */
  take(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    request.socket.setKeepAlive(true, probeAfter)
    this.#server.handleUpgrade(request, socket, head, webSocket => {
      socket.off('error', ignore)
      this.#open.add(webSocket)
      webSocket.once('close', () => this.#open.delete(webSocket))
      // ws has sent the close frame; later bytes from the peer need not be read.
      webSocket.on('error', ({ message }) => {
        this.#parts.onBroken?.(message)
        request.socket.destroySoon()
      })
      keepAlive(webSocket, this.#parts.ping)
      this.#parts.handle(streamOf(webSocket), request)
    })
  }

  /** Destroys every open WebSocket, without a close frame. */
  cut(): void {
    for (const webSocket of this.#open) webSocket.terminate()
  }
}

/** Sends pings, so that no proxy closes a silent connection. */
function keepAlive(webSocket: WebSocket, ping: number): void {
  const pings = setInterval(() => webSocket.ping(), ping)
  pings.unref()
  webSocket.once('close', () => clearInterval(pings))
}

/** A stream of the bytes in binary messages, with back pressure. `unfinishedBytes`: received bytes of an incomplete message. */
function streamOf(webSocket: WebSocket): Duplex & ArrivingStream {
  const stream = createWebSocketStream(webSocket, {
    // Corked chunks add up to whole packets. They are sent as one message, because small clients expect whole packets in a message.
    writev(chunks, callback) {
      this._write(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), 'binary', callback)
    },
  })
  const write = stream._write
  // Ignores write errors: after the peer has closed, the stream must still deliver the bytes that the peer sent.
  stream._write = (chunk, encoding, done) => write.call(stream, chunk, encoding, () => done())
  // Prepended, so that the stream is destroyed before it reads the message.
  webSocket.prependListener('message', (_data, isBinary) => {
    if (!isBinary) stream.destroy() // MQTT-6.0.0-1
  })
  stream.on('error', ignore)
  const arriving = { unfinishedBytes: { get: () => unfinishedBytesOf(webSocket) } }
  return Object.defineProperties(stream, arriving) as Duplex & ArrivingStream
}

export function ignore(): void {}

/** Undocumented fields of ws 8. `test/server/http/unfinished-message.test.ts` checks that they work. */
interface ReceiverInternals {
  /** 0 between frames. */
  readonly _state: number
  /** 0 between messages. */
  readonly _fragmented: number
  /** Number of received bytes of the incomplete frame. */
  readonly _bufferedBytes: number
  /** Number of bytes in the complete frames of the incomplete message. */
  readonly _messageLength: number
}

/** Number of received bytes of an incomplete frame or message; undefined if there is none. */
function unfinishedBytesOf(webSocket: WebSocket): number | undefined {
  const { _receiver: receiver } = webSocket as unknown as { _receiver: ReceiverInternals }
  const { _state, _fragmented, _bufferedBytes, _messageLength } = receiver
  const isBegun = _state !== 0 || _fragmented !== 0 || _bufferedBytes > 0
  return isBegun ? _messageLength + _bufferedBytes : undefined
}
