import { createServer, type RequestListener, type Server } from 'node:http'
import { hostOptions } from '../../http/index.ts'
import { refuseCutUpgrade, UpgradableRequest } from './upgradable-request.ts'

/** Milliseconds. A device on GPRS must get a body through; one that holds a socket and says nothing must not last. */
export interface HttpTimeouts {
  /** From the connection, or the answer before, to the end of a request's head. */
  readonly headers: number
  /** To the end of its body. */
  readonly request: number
  /** How often Node looks at the two above; between looks they are not enforced. */
  readonly check: number
  readonly keepAlive: number
  /** Between two pings of a WebSocket. */
  readonly ping: number
  /** Nothing moved in either direction. */
  readonly idle: number
}

/** @param storeTimeout what a write may wait for the store, ms */
export function httpTimeouts(storeTimeout: number): HttpTimeouts {
  return {
    headers: 30_000,
    request: 120_000,
    check: 2_000,
    // Longer than the minute for which load balancers keep a connection, so that they are the ones to close it.
    keepAlive: 75_000,
    // As the sign of life of a live stream. Common proxies cut after 60 s of silence, and a keep-alive of MQTT may be as long.
    ping: 25_000,
    idle: storeTimeout + 120_000,
  }
}

/**
 * A server of Node as each of ours is: its timeouts, and its tolerance of simple clients.
 *
 * @param insecureHTTPParser docs/use/tls.md says what it takes that it should not
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
    // In one listener: Node copies the list of several for each request.
    (request, response) => {
      refuseCutUpgrade(server, request)
      listener(request, response)
    },
  )
  server.setTimeout(timeouts.idle)
  // A client that closes its half right after the request, as `nc` does, still wants the answer. Not in Node's types.
  Object.assign(server, { httpAllowHalfOpen: true })
  // An expectation that Node does not know would get an empty 417; a server may ignore it (RFC 9110, 10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  // A client that sends Expect: 100-continue is refused before it sends a body that is too large.
  server.on('checkContinue', (request, response) => {
    if (Number(request.headers['content-length'] ?? 0) > bodyLimit) response.shouldKeepAlive = false
    else response.writeContinue()
    server.emit('request', request, response)
  })
  return server
}
