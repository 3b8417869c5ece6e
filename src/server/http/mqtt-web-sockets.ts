import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws'
import { ThingwireError } from '../../errors.ts'
import type { ArrivingStream } from '../../mqtt/connection/connection.ts'
import { probeAfter } from '../connections/listening.ts'
import { refuse } from '../connections/refuse.ts'

/** Where MQTT over WebSocket is on the HTTP port, from the root of the service. */
export const webSocketPath = '/mqtt'

const subprotocols: readonly string[] = ['mqtt', 'mqttv3.1']

interface MqttWebSocketsParts {
  /** Of the pages that may open one; `*` is any. */
  readonly allowedOrigins: readonly string[]
  /** Bytes. */
  readonly maxPacketSize: number
  /** Between two pings of a WebSocket, milliseconds. */
  readonly ping: number
  /** Takes the bytes of a client, with the request that it began as. */
  handle(stream: Duplex & ArrivingStream, request: IncomingMessage): void
  /** Called with the reason why a WebSocket was broken off. */
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
      // A message may hold several packets, or parts of them, and is buffered as a whole.
      maxPayload: 2 * parts.maxPacketSize,
      handleProtocols: offered => [...offered].find(name => subprotocols.includes(name)) ?? false,
    })
    // What is wrong with the handshake itself.
    this.#server.on('wsClientError', (_error, socket) => refuse(socket, new ThingwireError('bad_request')))
  }

  /** Why an upgrade is to be refused. */
  problemOf({ headers }: IncomingMessage): ThingwireError | undefined {
    const { allowedOrigins } = this.#parts
    const { origin } = headers
    const mayCall = origin === undefined || allowedOrigins.includes('*') || allowedOrigins.includes(origin)
    if (!mayCall) return new ThingwireError('forbidden', 'the origin of the page is not in allowedOrigins')
    // Whoever is in between may take it for a body, and we would take it for frames.
    if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0)
      return new ThingwireError('bad_request', 'an upgrade request must have no body')
    const offered = headers['sec-websocket-protocol']?.split(',').map(name => name.trim()) ?? []
    if (offered.some(name => subprotocols.includes(name))) return undefined
    return new ThingwireError('bad_request', `the WebSocket subprotocol must be ${subprotocols.join(' or ')}`)
  }

  /** Upgrades a request that has no problem. @param socket whose errors are ignored by the caller with `ignore` until now */
  take(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    request.socket.setKeepAlive(true, probeAfter)
    this.#server.handleUpgrade(request, socket, head, webSocket => {
      socket.off('error', ignore)
      this.#open.add(webSocket)
      webSocket.once('close', () => this.#open.delete(webSocket))
      // Its reason to close is on its way. What the peer goes on sending would be read for nothing.
      webSocket.on('error', ({ message }) => {
        this.#parts.onBroken?.(message)
        request.socket.destroySoon()
      })
      keepAlive(webSocket, this.#parts.ping)
      this.#parts.handle(streamOf(webSocket), request)
    })
  }

  /** Cuts those that are open. */
  cut(): void {
    for (const webSocket of this.#open) webSocket.terminate()
  }
}

/** Lets no proxy in between take silence for the end. */
function keepAlive(webSocket: WebSocket, ping: number): void {
  const pings = setInterval(() => webSocket.ping(), ping)
  pings.unref()
  webSocket.once('close', () => clearInterval(pings))
}

/** The bytes of the binary messages. Reading slowly slows down the socket. Of a message that is begun it says how far it has come. */
function streamOf(webSocket: WebSocket): Duplex & ArrivingStream {
  const stream = createWebSocketStream(webSocket, {
    // What is corked together is a packet, or several: in one message, since small clients take one for the other.
    writev(chunks, callback) {
      this._write(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), 'binary', callback)
    },
  })
  const write = stream._write
  // A peer that has closed takes nothing more, but what it sent before is still to be read: the stream ends behind that.
  stream._write = (chunk, encoding, done) => write.call(stream, chunk, encoding, () => done())
  // Before the stream takes the message.
  webSocket.prependListener('message', (_data, isBinary) => {
    if (!isBinary) stream.destroy() // MQTT-6.0.0-1
  })
  stream.on('error', ignore)
  const arriving = { unfinishedBytes: { get: () => unfinishedBytesOf(webSocket) } }
  return Object.defineProperties(stream, arriving) as Duplex & ArrivingStream
}

export function ignore(): void {}

/** Fields of a WebSocket of ws 8 that are not documented API: `test/server/http/unfinished-message.test.ts` holds what is relied on. */
interface ReceiverInternals {
  /** 0: between two frames. */
  readonly _state: number
  /** 0: between two messages. */
  readonly _fragmented: number
  /** Bytes received that no frame was made of yet. */
  readonly _bufferedBytes: number
  /** Bytes of the message in frames that are whole. */
  readonly _messageLength: number
}

/** Bytes of the frame or message that is begun; undefined if none is. */
function unfinishedBytesOf(webSocket: WebSocket): number | undefined {
  const { _receiver: receiver } = webSocket as unknown as { _receiver: ReceiverInternals }
  const { _state, _fragmented, _bufferedBytes, _messageLength } = receiver
  const isBegun = _state !== 0 || _fragmented !== 0 || _bufferedBytes > 0
  return isBegun ? _messageLength + _bufferedBytes : undefined
}
