import { IncomingMessage, type Server } from 'node:http'

const urlForm = /^\/+mqtt\/*(?:\?|$)/

/**
 * A request that is an upgrade only if it asks for a WebSocket at `/mqtt`. A server may ignore every other Upgrade
 * header (RFC 9110, 7.8), and devices behind `h2c` proxies are served; Node would hand over all of them as soon as
 * there is a listener for 'upgrade'. Give it to the HTTP server as its `IncomingMessage`.
 */
export class UpgradableRequest extends IncomingMessage {
  declare private upgradeAsked: boolean | null

  get upgrade(): boolean | null {
    return this.upgradeAsked && (this.method === 'CONNECT' || asksForMqtt(this))
  }

  /** Node's parser says here what the request asks for. */
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

/** Whether a URL is that of MQTT over WebSocket. */
export function isWebSocketPath(url = ''): boolean {
  return urlForm.test(url)
}

function asksForMqtt(request: IncomingMessage): boolean {
  return asksForWebSocket(request) && isWebSocketPath(request.url)
}

function asksForWebSocket({ method, headers, httpVersion }: IncomingMessage): boolean {
  // One in HTTP/1.0 has to be ignored (RFC 9110, 7.8).
  return method === 'GET' && httpVersion === '1.1' && headers.upgrade?.toLowerCase() === 'websocket'
}

/**
 * Refuses a request whose upgrade is ignored when its client has closed its half before the end of the body. Node's
 * parser does not: it takes what it cannot read behind an Upgrade header for another protocol.
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

/** As Node's parser makes it. */
function cutError(): Error {
  return Object.assign(new Error('the body was cut off'), { code: 'HPE_INVALID_EOF_STATE' })
}
