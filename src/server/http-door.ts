import type { AddressInfo } from 'node:net'
import fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { hostOptions, thingsHttp } from '../http/index.ts'
import type { Things } from '../things.ts'
import { listenProblem, urlOf } from './listening.ts'
import { RequestLog } from './log.ts'
import type { MqttDoor } from './mqtt-door.ts'
import type { ServerOptions } from './options.ts'
import { acceptWebSockets, UpgradableRequest } from './websocket.ts'

export interface HttpDoor {
  readonly address: AddressInfo
  readonly url: string
  /** Stops listening and resolves when the last connection is closed. */
  close(): Promise<void>
}

/** Milliseconds. A device on GPRS must get a body through; one that holds a socket and says nothing must not last. */
const timeouts = {
  headers: 30_000,
  request: 120_000,
  /** How often Node looks at the two above; between looks they are not enforced. */
  check: 5_000,
  /** Longer than the minute for which load balancers keep a connection, so that they are the ones to close it. */
  keepAlive: 75_000,
  /** Nothing moved in either direction, on top of the time that a write may wait for the store. */
  idle: 120_000,
}

/**
 * Opens the HTTP door (contract §6), with MQTT over WebSocket on its port.
 *
 * @param mqtt where the WebSockets go; closing it is left to the caller
 * @param stopping aborted when the server begins to stop
 * @throws Error with one line for the operator if it cannot listen
 */
export async function openHttpDoor(
  things: Things,
  mqtt: MqttDoor,
  options: ServerOptions,
  log: FastifyBaseLogger,
  stopping: AbortSignal,
): Promise<HttpDoor> {
  const app: FastifyInstance = fastify({
    ...hostOptions,
    loggerInstance: log,
    logController: new RequestLog(),
    bodyLimit: options.bodyLimit,
    requestTimeout: timeouts.request,
    keepAliveTimeout: timeouts.keepAlive,
    connectionTimeout: options.storeTimeout + timeouts.idle,
    http: {
      ...hostOptions.http,
      headersTimeout: timeouts.headers,
      connectionsCheckingInterval: timeouts.check,
      IncomingMessage: UpgradableRequest,
    },
    // A request that is already on its way when the server stops is served, and is the last of its connection.
    return503OnClosing: false,
  })
  await app.register(thingsHttp, {
    things,
    allowedOrigins: options.allowedOrigins.includes('*') ? undefined : options.allowedOrigins,
    isDraining: () => stopping.aborted || !mqtt.isListening(),
    drainTimeout: options.drainTimeout,
    ownsApp: true,
  })
  // A client that closes its half right after the request, as `nc` does, still wants the answer. Not in Node's types.
  Object.assign(app.server, { httpAllowHalfOpen: true })
  // An expectation that Node does not know would get an empty 417; a server may ignore it (RFC 9110, 10.1.1).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  acceptWebSockets(app.server, mqtt, options, log, stopping)
  closeConnectionsWhen(() => stopping.aborted, app)
  await app.listen({ host: options.host, port: options.httpPort }).catch((cause: unknown) => {
    const problem = listenProblem(cause as NodeJS.ErrnoException, options.host, 'httpPort', options.httpPort)
    throw new Error(problem, { cause })
  })
  const address = app.server.address() as AddressInfo
  return {
    address,
    url: urlOf('http', address),
    close: async () => {
      const cut = setTimeout(() => {
        log.warn('cutting the connections that are still open')
        app.server.closeAllConnections()
      }, options.shutdownTimeout / 2)
      await app.close().finally(() => clearTimeout(cut))
    },
  }
}

/** Node closes idle connections once, when it stops listening: those that become idle later would last for `keepAlive`. */
function closeConnectionsWhen(draining: () => boolean, app: FastifyInstance): void {
  app.addHook('onSend', async (_request, reply) => {
    if (draining()) reply.header('connection', 'close')
  })
  app.addHook('onResponse', async () => {
    if (draining()) setImmediate(() => app.server.closeIdleConnections())
  })
}
