import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyBaseLogger } from 'fastify'
import { ThingwireError } from '../../errors.ts'
import type { ConnectionLimit } from '../connections/connection-limit.ts'
import { refuse } from '../connections/refuse.ts'
import type { MqttServer } from '../mqtt-door.ts'
import type { ServerOptions } from '../options/options.ts'
import { ignore, MqttWebSockets } from './mqtt-web-sockets.ts'

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
  const webSockets = new MqttWebSockets({
    ...{ allowedOrigins, maxPacketSize, ping },
    handle: (stream, request) => mqtt.handle(stream, request),
    onBroken: message => log.debug({ message }, 'WebSocket broken off'),
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Until the WebSocket listens for it, nobody does.
    socket.on('error', ignore)
    const problem = stopping.aborted ? new ThingwireError('draining') : webSockets.problemOf(request)
    if (problem) return refuse(socket, problem)
    if (!limit.enterForwarded(request, socket))
      return refuse(socket, new ThingwireError('too_many_connections'))
    webSockets.take(request, socket, head)
  })
}
