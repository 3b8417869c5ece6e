import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ThingwireError } from '../../errors.ts'
import { webSocketPath } from './mqtt-web-sockets.ts'
import { isWebSocketPath, UpgradableRequest } from './upgradable-request.ts'

const elsewhere = `MQTT over WebSocket is at ${webSocketPath}, not at this path`
const noUpgrade = `this path takes MQTT over WebSocket, and the request is no upgrade: if a proxy is in between, it must pass on the headers Upgrade and Connection, over HTTP/1.1`

/**
 * Tells whoever opens a WebSocket at another path, or comes to its path without one: a page or a 404 would say nothing. To be
 * called before there are routes.
 */
export function refuseWebSocketsElsewhere(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const message = problemOf(request)
    if (message === undefined) return done()
    tellUpgrade(request, reply)
    done(new ThingwireError('websocket_elsewhere', message))
  })
}

function problemOf({ raw, is404 }: FastifyRequest): string | undefined {
  if (raw instanceof UpgradableRequest && raw.isWebSocketElsewhere) return elsewhere
  return is404 && raw.method === 'GET' && isWebSocketPath(raw.url) ? noUpgrade : undefined
}

/** RFC 9110, 15.5.22. Who closes behind one request would be kept open by it. */
function tellUpgrade({ raw }: FastifyRequest, reply: FastifyReply): void {
  const isKept = raw.httpVersion === '1.1' && !/\bclose\b/i.test(raw.headers.connection ?? '')
  if (isKept) reply.headers({ upgrade: 'websocket', connection: 'Upgrade' })
}
