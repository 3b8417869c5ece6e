import { IncomingMessage, type Server } from 'node:http'

const urlForm = /^\/+mqtt\/*(?:\?|$)/

/**
 * A request that is an upgrade only if it asks for a WebSocket at `/mqtt` or is a CONNECT. Node would emit 'upgrade' for any
 * Upgrade header. Other Upgrade headers are ignored (RFC 9110, 7.8), because proxies may add `h2c`.
 */
export class UpgradableRequest extends IncomingMessage {
  declare private upgradeAsked: boolean | null

  get upgrade(): boolean | null {
    return this.upgradeAsked && (this.method === 'CONNECT' || asksForMqtt(this))
  }

  /** Set by the parser of Node. */
  set upgrade(asked: boolean | null) {
    this.upgradeAsked = asked
  }

  /** Whether the request asks for an upgrade that is ignored. */
  get isUpgradeIgnored(): boolean {
    return this.upgradeAsked === true && !this.upgrade
  }

  /** Whether the request asks for a WebSocket at a path other than `/mqtt`. */
  get isWebSocketElsewhere(): boolean {
    return this.isUpgradeIgnored && asksForWebSocket(this)
  }
}

export function isWebSocketPath(url = ''): boolean {
  return urlForm.test(url)
}

function asksForMqtt(request: IncomingMessage): boolean {
  return asksForWebSocket(request) && isWebSocketPath(request.url)
}

function asksForWebSocket({ method, headers, httpVersion }: IncomingMessage): boolean {
  // An Upgrade in HTTP/1.0 must be ignored (RFC 9110, 7.8).
  return method === 'GET' && httpVersion === '1.1' && headers.upgrade?.toLowerCase() === 'websocket'
}

/**
 * Refuses a request with an ignored upgrade if the client closes its half of the connection before the end of the body. Node's
 * parser does not refuse such a request: after an Upgrade header, it takes bytes that are not HTTP for another protocol.
 *
 * @param server emits 'clientError'
 */
export function refuseCutUpgrade(server: Server, request: IncomingMessage): void {
  if (!(request instanceof UpgradableRequest && request.isUpgradeIgnored)) return
  const { socket } = request
  const ended = () => {
    if (!request.complete) server.emit('clientError', cutError(), socket)
  }
  socket.once('end', ended)
  request.once('close', () => socket.off('end', ended))
}

/** The same error that Node's parser reports if a request without an Upgrade header is cut off. */
function cutError(): Error {
  return Object.assign(new Error('the body was cut off'), { code: 'HPE_INVALID_EOF_STATE' })
}
