import type { AddressInfo } from 'node:net'
import fastifySwaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { replyJson } from '../../http/reply/reply-json.ts'
import { acceptedType } from '../../http/request/accepted.ts'
import { asyncApi } from './asyncapi.ts'
import { asyncApiPage, pageStyleHash } from './asyncapi-page.ts'

interface DocsParts {
  readonly version: string
  readonly mqttPort: number
  /** Where the listeners with TLS are; undefined: there are none. */
  readonly mqttsPort: number | undefined
  readonly httpsPort: number | undefined
}

/** The UI sets styles of elements from script, and draws its icons from data. */
const uiPolicy = policy("script-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self' data:")
/** Which is for choosing another document. */
const withoutTopBar = { filename: 'page.css', content: '.swagger-ui .topbar { display: none }\n' }
const pagePolicy = policy(`style-src 'sha256-${pageStyleHash}'`)

/**
 * `/docs`: what `collectOperations` has collected, as a page to try it on (`/docs/json` for programs), and
 * `/docs/asyncapi`: AsyncAPI 3, a page for browsers and JSON for programs. No credential is needed: of the server they tell
 * its version and ports alone.
 */
export async function docsRoutes(app: FastifyInstance, parts: DocsParts): Promise<void> {
  const { version, mqttPort, mqttsPort, httpsPort } = parts
  await app.register(fastifySwaggerUi, {
    routePrefix: '/docs',
    // Its addresses are then relative to `/docs`.
    indexPrefix: '.',
    staticCSP: uiPolicy,
    uiHooks: { onRequest: leaveSlash },
    theme: { title: 'Thingwire', css: [withoutTopBar] },
  })
  app.get('/docs/asyncapi', async (request, reply) => {
    const http = (app.server.address() as AddressInfo).port
    const places = { mqtt: mqttPort, mqtts: mqttsPort, http, https: httpsPort }
    const document = asyncApi({ version, places })
    const type = acceptedType(request, reply, ['application/json', 'text/html'])
    if (type === 'application/json') return replyJson(reply, 200, JSON.stringify(document))
    return sendPage(reply, asyncApiPage(document))
  })
}

/** The page is at `/docs` alone: relative addresses would lead elsewhere from `/docs/`. */
function leaveSlash(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  if (!/^\/docs\/(?:\?|$)/.test(request.raw.url ?? '')) done()
  else replyJson(reply.header('location', '../docs'), 308, JSON.stringify({ status: 'moved' }))
}

function sendPage(reply: FastifyReply, page: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').header('content-security-policy', pagePolicy).send(page)
}

function policy(...allowed: readonly string[]): string {
  const always = ["default-src 'none'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'"]
  return [...always, "frame-ancestors 'none'", ...allowed].join('; ')
}
