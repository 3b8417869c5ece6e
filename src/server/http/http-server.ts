import { createServer, type RequestListener, type Server } from 'node:http'
import { hostOptions } from '../../http/index.ts'
import { refuseCutUpgrade, UpgradableRequest } from './upgradable-request.ts'

/** Milliseconds. Long enough for a body over GPRS, short enough to drop clients that open a connection and send no request. */
export interface HttpTimeouts {
  /** Maximum time until the head of a request is complete, counted from the connection or from the previous answer. */
  readonly headers: number
  /** Maximum time until the body is complete, counted from the same moment as `headers`. */
  readonly request: number
  /** Time between Node's checks of `headers` and `request`. */
  readonly check: number
  readonly keepAlive: number
  /** Time between pings of a WebSocket. */
  readonly ping: number
  /** Maximum time without data in either direction. */
  readonly idle: number
}

/** @param storeTimeout milliseconds for which a write may wait for the store */
export function httpTimeouts(storeTimeout: number): HttpTimeouts {
  return {
    headers: 30_000,
    request: 120_000,
    check: 2_000,
    // Load balancers close an idle connection after a minute. If the server closed it first, a request on its way would be lost.
    keepAlive: 75_000,
    // Common proxies cut a connection after 60 s of silence, and the keep-alive of an MQTT client may be longer.
    ping: 25_000,
    idle: storeTimeout + 120_000,
  }
}

/**
 * Creates a Node server that tolerates simple clients.
 *
 * @param insecureHTTPParser accepts malformed requests: docs/use/tls.md lists the risks
 * @param bodyLimit maximum size of a body, bytes
 */
export function createHttpServer(
  listener: RequestListener,
  timeouts: HttpTimeouts,
  { insecureHTTPParser, bodyLimit }: { readonly insecureHTTPParser: boolean; readonly bodyLimit: number },
): Server {
  const server: Server = createServer(
    {
      ...hostOptions.http,
      headersTimeout: timeouts.headers,
      requestTimeout: timeouts.request,
      connectionsCheckingInterval: timeouts.check,
      keepAliveTimeout: timeouts.keepAlive,
      IncomingMessage: UpgradableRequest,
      insecureHTTPParser,
    },
    // One listener for both calls, because Node copies a list of several listeners for each request.
    (request, response) => {
      refuseCutUpgrade(server, request)
      listener(request, response)
    },
  )
  server.setTimeout(timeouts.idle)
  // Lets a client such as `nc` close its half of the connection before the answer. Node's types lack `httpAllowHalfOpen`.
  Object.assign(server, { httpAllowHalfOpen: true })
  // Node would answer an unknown `Expect` with an empty 417. A server may ignore the header (RFC 9110, 10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  // Refuses a body that is too large before a client with `Expect: 100-continue` sends it.
  server.on('checkContinue', (request, response) => {
    if (Number(request.headers['content-length'] ?? 0) > bodyLimit) response.shouldKeepAlive = false
    else response.writeContinue()
    server.emit('request', request, response)
  })
  return server
}
