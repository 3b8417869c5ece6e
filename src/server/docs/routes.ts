import type { AddressInfo } from 'node:net'
import fastifySwagger from '@fastify/swagger'
import fastifySwaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Operation } from '../../http/operation/operation.ts'
import { replyJson } from '../../http/reply/reply-json.ts'
import { acceptedType } from '../../http/request/accepted.ts'
import { asyncApi } from './asyncapi.ts'
import { asyncApiPage, pageStyleHash } from './asyncapi-page.ts'
import { groups, introduction, operationObject, securitySchemes } from './openapi.ts'
import { Schemas } from './schemas.ts'

interface DocsParts {
  readonly version: string
  readonly mqttPort: number
  /** Port of MQTT over TLS; undefined without TLS, like `httpsPort`. */
  readonly mqttsPort: number | undefined
  readonly httpsPort: number | undefined
}

/** The policy for Swagger UI, whose script sets styles and whose icons are data URLs. */
const uiPolicy = policy("script-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self' data:")
/** Hides the top bar of Swagger UI. The bar lets the user choose a document, but there is only one. */
const withoutTopBar = { filename: 'page.css', content: '.swagger-ui .topbar { display: none }\n' }
const pagePolicy = policy(`style-src 'sha256-${pageStyleHash}'`)

/**
 * Serves OpenAPI as an interactive page at `/docs` and as JSON at `/docs/json`, and AsyncAPI 3 as a page or as JSON at
 * `/docs/asyncapi`. No credential is needed: the documents reveal only the version and the ports of the server.
 */
export async function docsRoutes(app: FastifyInstance, parts: DocsParts): Promise<void> {
  const { version, mqttPort, mqttsPort, httpsPort } = parts
  await app.register(fastifySwaggerUi, {
    routePrefix: '/docs',
    // Makes the addresses in the page relative to `/docs`.
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

/** Redirects `/docs/` to `/docs`: at `/docs/`, the relative addresses in the page would be wrong. */
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

/** Makes `app.swagger()` return OpenAPI 3.1 with all routes that have an `Operation` and are registered after this call. */
export async function collectOperations(app: FastifyInstance, version: string): Promise<void> {
  const schemas = new Schemas('draft-2020-12')
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Thingwire', version, description: introduction },
      // Relative to `/docs/json`, because a proxy may serve the app under a prefix.
      servers: [{ url: '..' }],
      tags: Object.entries(groups).map(([name, description]) => ({ name, description })),
      components: { securitySchemes },
    },
    // The plugin lists the routes. The operations are added here, because the plugin would copy only parts of them.
    transform: ({ route, url, ...documents }) => {
      if ('openapiObject' in documents) addOperation(documents.openapiObject, route, schemas)
      return { schema: { hide: true }, url }
    },
  })
}

interface Documented {
  readonly url: string
  readonly method: RouteOptions['method']
  readonly config?: { readonly operation?: Operation } | undefined
}

function addOperation(
  document: { paths?: object; components?: object },
  { url, method, config }: Documented,
  schemas: Schemas,
): void {
  if (!config?.operation) return
  const path = url.replaceAll(/:(\w+)/g, '{$1}').replace('*', '{format}')
  const operation = operationObject(config.operation, schemas)
  const methods = [method].flat().map(name => [name.toLowerCase(), operation])
  const paths: Record<string, object | undefined> = { ...document.paths }
  document.paths = { ...paths, [path]: { ...paths[path], ...Object.fromEntries(methods) } }
  document.components = { ...document.components, schemas: schemas.components }
}
