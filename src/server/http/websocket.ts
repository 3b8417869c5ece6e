import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyBaseLogger } from 'fastify'
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws'
import { ThingwireError } from '../../errors.ts'
import type { ArrivingStream } from '../../mqtt/connection/connection.ts'
import type { ConnectionLimit } from '../connections/connection-limit.ts'
import { probeAfter } from '../connections/listening.ts'
import { refuse } from '../connections/refuse.ts'
import type { MqttServer } from '../mqtt-door.ts'
import type { ServerOptions } from '../options/options.ts'
import { unfinishedBytesOf } from './unfinished-message.ts'

/** Where MQTT over WebSocket is on the HTTP port. */
export const webSocketPath = '/mqtt'

const subprotocols: readonly string[] = ['mqtt', 'mqttv3.1']

/**
 * Hands WebSockets to the MQTT door (contract §7). Refusals are answered like every other HTTP error.
 *
 * @param server made with `UpgradableRequest`
 * @param limit met by what trusted proxies forward; other connections are counted when they are opened
 * @param stopping aborted when the server begins to stop: from then on upgrades are answered with 503
 * @param ping between two pings of a WebSocket, milliseconds
 */
export function acceptWebSockets(
  server: Server,
  mqtt: MqttServer,
  limit: ConnectionLimit,
  { allowedOrigins, maxPacketSize }: ServerOptions,
  log: FastifyBaseLogger,
  stopping: AbortSignal,
  ping: number,
): void {
  const webSockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    // A message may hold several packets, or parts of them, and is buffered as a whole.
    maxPayload: 2 * maxPacketSize,
    handleProtocols: offered => [...offered].find(name => subprotocols.includes(name)) ?? false,
  })
  // What is wrong with the handshake itself.
  webSockets.on('wsClientError', (_error, socket) => refuse(socket, new ThingwireError('bad_request')))
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Until the WebSocket listens for it, nobody does.
    socket.on('error', ignore)
    const problem = stopping.aborted ? new ThingwireError('draining') : problemOf(request, allowedOrigins)
    if (problem) return refuse(socket, problem)
    if (!limit.enterForwarded(request, socket))
      return refuse(socket, new ThingwireError('too_many_connections'))
    request.socket.setKeepAlive(true, probeAfter)
    webSockets.handleUpgrade(request, socket, head, webSocket => {
      socket.off('error', ignore)
      // Its reason to close is on its way. What the peer goes on sending would be read for nothing.
      webSocket.on('error', ({ message }) => {
        log.debug({ message }, 'WebSocket broken off')
        request.socket.destroySoon()
      })
      keepAlive(webSocket, ping)
      mqtt.handle(streamOf(webSocket), request)
    })
  })
}

function problemOf(
  { headers }: IncomingMessage,
  allowedOrigins: readonly string[],
): ThingwireError | undefined {
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

function ignore(): void {}
