import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { isLoopback } from '../../access/limits/address-key.ts'
import { ThingwireError } from '../../errors.ts'
import { hostOptions, thingsHttp } from '../../http/index.ts'
import { refusalReason } from '../../http/reply/reply-error.ts'
import type { ThingsParts } from '../../things.ts'
import { ConnectionLimit } from '../connections/connection-limit.ts'
import { Descriptors } from '../connections/descriptors.ts'
import {
  backlog,
  endpointOf,
  listen,
  listenProblem,
  outliveAcceptErrors,
  urlOf,
} from '../connections/listening.ts'
import { logRejected } from '../connections/log-rejected.ts'
import { refuse } from '../connections/refuse.ts'
import { TrustedProxies } from '../connections/trusted-proxies.ts'
import { collectOperations, docsRoutes } from '../docs/routes.ts'
import { LogOfRequest, RequestLog, requestIdOf } from '../log/log.ts'
import { Observations } from '../metrics/observations.ts'
import { metricsRoute } from '../metrics/route.ts'
import type { MqttServer } from '../mqtt-server.ts'
import type { ServerOptions } from '../options/options.ts'
import type { ServedCertificate } from '../tls/served-certificate.ts'
import { openTlsListener } from '../tls/tls-listener.ts'
import { readVersion } from '../version.ts'
import { dashboardRoutes } from './dashboard.ts'
import { createHttpServer, type HttpTimeouts, httpTimeouts } from './http-server.ts'
import { ignore, MqttWebSockets, webSocketPath } from './mqtt-web-sockets.ts'
import { isWebSocketPath, UpgradableRequest } from './upgradable-request.ts'

export interface HttpDoor {
  /** Address of the plain listener. */
  readonly address: AddressInfo
  /** URL of the plain listener, such as `http://127.0.0.1:8080`. */
  readonly url: string
  /** URL of the TLS listener, such as `https://127.0.0.1:8443`; undefined without a certificate. */
  readonly secureUrl: string | undefined
  /** URL of the listener for requests with bare LF; undefined without `lenientPort`. */
  readonly lenientUrl: string | undefined
  /** Makes `/readyz` answer 503 from now on. All other requests are served as before. */
  leave(): void
  /** Stops listening and resolves when the last connection is closed. */
  close(): Promise<void>
}

interface HttpDoorParts {
  readonly timeouts?: HttpTimeouts
  /** Observations for the metrics. Default: a new instance. */
  readonly observations?: Observations
  /** Descriptors of the process, shared with the MQTT door. Default: a new instance. */
  readonly descriptors?: Descriptors
}

/**
 * Opens the HTTP door (contract §6), with MQTT over WebSocket on its ports.
 *
 * @param mqtt serves the WebSockets; the caller closes it
 * @param stopping aborted when the server begins to stop
 * @param certificate if absent, TLS is not served
 * @param parts `timeouts` is given only by a test
 * @throws Error with one line for the operator if the server cannot listen
 */
export async function openHttpDoor(
  things: ThingsParts,
  mqtt: MqttServer,
  options: ServerOptions,
  log: FastifyBaseLogger,
  stopping: AbortSignal,
  certificate?: ServedCertificate,
  {
    timeouts = httpTimeouts(options.storeTimeout),
    observations = new Observations(),
    descriptors = new Descriptors(log),
  }: HttpDoorParts = {},
): Promise<HttpDoor> {
  const proxies = new TrustedProxies(options.trustedProxies)
  const limit = new ConnectionLimit(things.limits, proxies, descriptors)
  const { redactor } = things.access
  const app: FastifyInstance = fastify({
    ...hostOptions,
    loggerInstance: log,
    logController: new RequestLog(log, redactor),
    childLoggerFactory: (logger, bindings, options) => new LogOfRequest(logger, bindings, options),
    genReqId: request => requestIdOf(request, redactor),
    bodyLimit: options.bodyLimit,
    trustProxy: address => proxies.trusts(address),
    serverFactory: listener =>
      createHttpServer(listener, timeouts, { insecureHTTPParser: false, bodyLimit: options.bodyLimit }),
    // A request that arrives while the server stops is still served, as the last request of its connection.
    return503OnClosing: false,
  })
  const version = await readVersion()
  const mqttPort = mqtt.address.port
  const mqttsPort = mqtt.secureUrl === undefined ? undefined : Number(new URL(mqtt.secureUrl).port)
  await collectOperations(app, version)
  let isLeaving = false
  if (options.trustedProxies) countForwarded(app, proxies, limit)
  refuseWebSocketsElsewhere(app)
  await app.register(thingsHttp, {
    things,
    allowedOrigins: options.allowedOrigins.includes('*') ? undefined : options.allowedOrigins,
    isDraining: () => isLeaving || stopping.aborted || !mqtt.isListening(),
    drainTimeout: options.drainTimeout,
    ownsApp: true,
  })
  watchRefusals(app, observations)
  metricsRoute(app, { things, observations, options, version })
  const isTlsLoopback = !certificate || isLoopback(endpointOf(options, 'mqttsPort').host)
  const isMqttLoopback = isLoopback(mqtt.address.address) && isTlsLoopback
  await dashboardRoutes(app, { version, mqttPort, mqttsPort, isMqttLoopback })
  await docsRoutes(app, { version, mqttPort, mqttsPort, httpsPort: certificate && options.httpsPort })
  const lenient = createHttpServer(app.routing, timeouts, {
    insecureHTTPParser: true,
    bodyLimit: options.bodyLimit,
  })
  lenient.on('clientError', hostOptions.clientErrorHandler)
  const servers = [app.server, lenient]
  for (const server of servers) {
    limit.guard(server)
    acceptWebSockets(server, mqtt, limit, options, log, stopping, timeouts.ping)
  }
  closeConnectionsWhen(() => stopping.aborted, app, servers)

  const closing: (() => Promise<void>)[] = [() => app.close()]
  const close = async () => {
    const cut = setTimeout(() => {
      log.warn('cutting the connections that are still open')
      for (const server of servers) server.closeAllConnections()
    }, options.shutdownTimeout / 2)
    await Promise.all(closing.map(part => part())).finally(() => clearTimeout(cut))
  }
  try {
    const address = await listenWith(app, options)
    outliveAcceptErrors(app.server, log)
    let secureUrl: string | undefined
    if (certificate) {
      const secure = await openTlsListener({
        certificate,
        endpoint: endpointOf(options, 'httpsPort'),
        allowHalfOpen: true,
        admit: (socket, next) => limit.admit(socket, next),
        // Passes TLS connections to the plain server, which parses their requests, times them out and closes them.
        accept: socket => app.server.emit('connection', socket),
        log,
      })
      closing.push(secure.close)
      secureUrl = urlOf('https', secure.address)
    }
    let lenientUrl: string | undefined
    if (options.lenientPort !== undefined) {
      lenientUrl = urlOf('http', await listen(lenient, endpointOf(options, 'lenientPort'), log))
      closing.push(() => new Promise(resolve => lenient.close(() => resolve())))
    }
    const leave = () => {
      isLeaving = true
    }
    return { address, url: urlOf('http', address), secureUrl, lenientUrl, leave, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function listenWith(app: FastifyInstance, options: ServerOptions): Promise<AddressInfo> {
  const endpoint = endpointOf(options, 'httpPort')
  await app.listen({ host: endpoint.host, port: endpoint.port, backlog }).catch((cause: unknown) => {
    throw new Error(listenProblem(cause as NodeJS.ErrnoException, endpoint), { cause })
  })
  return app.server.address() as AddressInfo
}

/** Counts refused requests, and logs rejected clients. */
function watchRefusals(app: FastifyInstance, observations: Observations): void {
  app.addHook('onResponse', (request, reply, done) => {
    const reason = refusalReason(reply)
    if (reason !== undefined) {
      observations.httpErrors.add(reason)
      if (reason !== 'not_found') logRejected(request.log, reason, { address: request.ip })
    }
    done()
  })
}

/** Counts each request from a trusted proxy as a connection of the client, since clients share the proxy's connections. */
function countForwarded(app: FastifyInstance, proxies: TrustedProxies, limit: ConnectionLimit): void {
  app.addHook('onRequest', async ({ raw: request }, reply) => {
    if (!limit.enterForwarded(request, reply.raw)) throw new ThingwireError('too_many_connections')
    // Fastify takes `request.ip` from X-Forwarded-For, without checking that it is an address.
    if (proxies.forwards(request)) request.headers['x-forwarded-for'] = proxies.clientOf(request)
  })
}

/** While draining, closes connections as they become idle. Node closes idle connections only once, when it stops listening. */
function closeConnectionsWhen(
  draining: () => boolean,
  app: FastifyInstance,
  servers: readonly Server[],
): void {
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (draining()) reply.header('connection', 'close')
    done()
  })
  app.addHook('onResponse', (_request, _reply, done) => {
    if (draining()) {
      setImmediate(() => {
        for (const server of servers) server.closeIdleConnections()
      })
    }
    done()
  })
}

const elsewhere = `MQTT over WebSocket is at ${webSocketPath}, not at this path`
const noUpgrade = `this path accepts MQTT over WebSocket, but the request is not an upgrade: a proxy in between must pass on the headers Upgrade and Connection, over HTTP/1.1`

/** Refuses a WebSocket at a path other than `/mqtt`, and a GET of `/mqtt` without an upgrade. Call this before adding routes. */
function refuseWebSocketsElsewhere(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const message = problemOf(request)
    if (message === undefined) return done()
    logUpgrade(request, reply)
    done(new ThingwireError('websocket_elsewhere', message))
  })
}

function problemOf({ raw, is404 }: FastifyRequest): string | undefined {
  if (raw instanceof UpgradableRequest && raw.isWebSocketElsewhere) return elsewhere
  return is404 && raw.method === 'GET' && isWebSocketPath(raw.url) ? noUpgrade : undefined
}

/** Adds the headers of a 426 (RFC 9110, 15.5.22), unless the client wants the connection closed: they would keep it open. */
function logUpgrade({ raw }: FastifyRequest, reply: FastifyReply): void {
  const isKept = raw.httpVersion === '1.1' && !/\bclose\b/i.test(raw.headers.connection ?? '')
  if (isKept) reply.headers({ upgrade: 'websocket', connection: 'Upgrade' })
}

/**
 * Passes WebSockets to the MQTT door (contract §7). A refusal has the same shape as any HTTP error.
 *
 * @param server created with `UpgradableRequest`
 * @param limit counts WebSockets that come through trusted proxies; other connections were counted when they were accepted
 * @param stopping aborted when the server begins to stop: from then on upgrades get 503
 * @param ping milliseconds between pings
 */
function acceptWebSockets(
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
    onBroken: message => log.debug({ message }, 'WebSocket interrupted'),
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Until the WebSocket exists, there is no other listener for errors.
    socket.on('error', ignore)
    const problem = stopping.aborted ? new ThingwireError('draining') : webSockets.problemOf(request)
    if (problem) return refuse(socket, problem)
    if (!limit.enterForwarded(request, socket))
      return refuse(socket, new ThingwireError('too_many_connections'))
    webSockets.take(request, socket, head)
  })
}
