import { IncomingMessage, type Server } from 'node:http'

const urlForm = /^\/+mqtt\/*(?:\?|$)/

/**
 * The `IncomingMessage` of an HTTP server for which a request is an upgrade only if it asks for a WebSocket at `/mqtt`. Other
 * Upgrade headers are ignored (RFC 9110, 7.8), so that devices behind `h2c` proxies are served. Node would emit 'upgrade' for all.
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

  /** Whether it asks for an upgrade that it does not get. */
  get isUpgradeIgnored(): boolean {
    return this.upgradeAsked === true && !this.upgrade
  }

  /** Whether it asks for a WebSocket at another path. */
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
 * Refuses a request with an ignored upgrade if its client closes its half before the end of the body. The parser of Node does
 * not, because it takes unreadable bytes behind an Upgrade header for another protocol.
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

/** The error that the parser of Node makes for other requests. */
function cutError(): Error {
  return Object.assign(new Error('the body was cut off'), { code: 'HPE_INVALID_EOF_STATE' })
}
