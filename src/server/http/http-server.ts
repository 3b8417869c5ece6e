import { createServer, type RequestListener, type Server } from 'node:http'
import { hostOptions } from '../../http/index.ts'
import { refuseCutUpgrade, UpgradableRequest } from './upgradable-request.ts'

/** Milliseconds. Long enough for a body over GPRS, short enough to drop clients that hold a socket and send nothing. */
export interface HttpTimeouts {
  /** Maximum time from the connection, or the previous answer, to the end of the head of a request. */
  readonly headers: number
  /** Maximum time from the same moment to the end of the body. */
  readonly request: number
  /** Time between the checks in which Node enforces the two timeouts above. */
  readonly check: number
  readonly keepAlive: number
  /** Time between pings of a WebSocket. */
  readonly ping: number
  /** Maximum time without data in either direction. */
  readonly idle: number
}

/** @param storeTimeout milliseconds that a write may wait for the store */
export function httpTimeouts(storeTimeout: number): HttpTimeouts {
  return {
    headers: 30_000,
    request: 120_000,
    check: 2_000,
    // Longer than the minute for which load balancers keep a connection, so that the load balancer closes it, not the server.
    keepAlive: 75_000,
    // As for a live stream: common proxies cut after 60 s of silence, and the keep-alive of an MQTT client may be longer.
    ping: 25_000,
    idle: storeTimeout + 120_000,
  }
}

/**
 * Makes a Node server that tolerates simple clients, with the given timeouts.
 *
 * @param insecureHTTPParser accepts malformed requests: docs/use/tls.md lists the risks
 * @param bodyLimit bytes
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
  // A client such as `nc` closes its half after the request and still waits for the answer. The field is not in Node's types.
  Object.assign(server, { httpAllowHalfOpen: true })
  // Node would answer an unknown expectation with an empty 417; a server may ignore it (RFC 9110, 10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  // A client that sends Expect: 100-continue is refused before it sends a body that is too large.
  server.on('checkContinue', (request, response) => {
    if (Number(request.headers['content-length'] ?? 0) > bodyLimit) response.shouldKeepAlive = false
    else response.writeContinue()
    server.emit('request', request, response)
  })
  return server
}
