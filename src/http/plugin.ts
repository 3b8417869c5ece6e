import type {
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  preHandlerHookHandler,
  RegisterOptions,
} from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { z } from 'zod'
import { assertOptions } from '../core/options/given-options.ts'
import { aFunction, ifGiven, ofFastify, wholeNumber, yesOrNo } from '../core/options/option-kinds.ts'
import { type Pluggable, partsOf } from '../core/options/things-parts.ts'
import type { Redactor } from '../core/refusals/redactor.ts'
import { isToken } from '../core/token.ts'
import { ThingwireError } from '../errors.ts'
import type { HttpThings } from './http-things.ts'
import type { CredentialKind, Operation } from './operation/operation.ts'
import { replyError } from './reply/reply-error.ts'
import { intervalHeader } from './reply/reply-intervals.ts'
import { replyJson } from './reply/reply-json.ts'
import { takeBodiesAsBytes } from './request/body-bytes.ts'
import { credentialOf } from './request/credential.ts'
import { JsonBodies } from './request/json-bodies.ts'
import { Query } from './request/query.ts'
import { isBodyAnnounced } from './request/request-body.ts'
import { activateThing, activationRoute } from './routes/activation.ts'
import { adminActivationCodeRoutes } from './routes/admin-activation-codes.ts'
import { adminForwardRoute } from './routes/admin-forward.ts'
import { adminSessionRoutes } from './routes/admin-sessions.ts'
import { adminSourceRoutes } from './routes/admin-sources.ts'
import { adminThingRoutes } from './routes/admin-things.ts'
import { adminTokenRoutes } from './routes/admin-tokens.ts'
import { aggregatesRoute } from './routes/aggregates.ts'
import { backupRoute } from './routes/backup.ts'
import { dateRoute } from './routes/date.ts'
import { deleteRoute } from './routes/delete.ts'
import { healthRoutes } from './routes/health.ts'
import { principalRoute } from './routes/principal.ts'
import { readRoute } from './routes/read.ts'
import { refusedWritesRoute } from './routes/refused-writes.ts'
import { resourceRoutes } from './routes/resources.ts'
import { streamRoute } from './routes/stream.ts'
import { thingSessionRoute } from './routes/thing-sessions.ts'
import { visibleThingsRoute } from './routes/visible-things.ts'
import { writeRecords, writeRoute } from './routes/write.ts'
import { influxRoutes } from './sources/influx.ts'
import { postToSource, postToSourceRoute } from './sources/post-to-source.ts'

export interface ThingsHttpOptions {
  /** The result of `createThings`. The plugin does not close it. */
  readonly things: Pluggable<HttpThings>
  /** Maximum body size in bytes, both before and after inflating. Default: the host's `bodyLimit`, which is 1 MiB by default. */
  readonly bodyLimit?: number
  /** Web origins whose pages may read the answers. Default: `*`, which allows any origin. */
  readonly allowedOrigins?: readonly string[] | undefined
  /** Whether the host is stopping; `/readyz` then answers 503. Default: never. */
  readonly isDraining?: () => boolean
  /** Milliseconds after which a client of a live stream is disconnected if it accepts no data. Default 5,000. */
  readonly drainTimeout?: number
  /**
   * Whether the plugin answers errors and unknown paths of the app, wrong methods on routes added later, and what clients of InfluxDB
   * ask. Default false.
   */
  readonly ownsApp?: boolean
}

export const httpPluginName = 'thingwire-http'

const optionRules = {
  things: { schema: z.unknown(), rule: 'what createThings gives' },
  bodyLimit: ifGiven(wholeNumber(1, Number.MAX_SAFE_INTEGER, 'bytes')),
  allowedOrigins: ifGiven({
    schema: z.array(z.string()),
    rule: 'a list of origins such as https://dashboard.example, or *',
  }),
  isDraining: ifGiven(aFunction()),
  drainTimeout: ifGiven(wholeNumber(1, 2_147_483_647, 'ms')),
  ownsApp: ifGiven(yesOrNo()),
} as const satisfies Record<keyof ThingsHttpOptions, unknown>

/**
 * The HTTP door (contract §6): `/v2`, `/healthz` and `/readyz`. Without `ownsApp`, it does not change the routes, parsers, hooks
 * or error handler of the host. Create the host with `hostOptions`.
 *
 * @throws TypeError, on registration, if an option is missing, wrong or unknown
 */
export const thingsHttp: FastifyPluginAsync<ThingsHttpOptions> = fastifyPlugin(
  async (app: FastifyInstance, options: ThingsHttpOptions) => {
    assertOptions('thingsHttp', { ...optionRules, ...ofFastify }, options, '{ things }')
    const things = partsOf('thingsHttp', options.things)
    const paths = new KnownPaths()
    const { ownsApp = false } = options
    if (ownsApp) {
      app.setErrorHandler(replyError)
      paths.watch(app)
      // A hook is used, because the not-found handler would run only after the body is parsed, and a route for each method and
      // path would make the start 20 ms slower.
      app.addHook('onRequest', (request, reply, done) => {
        if (request.is404) paths.refuse(request, reply).catch(done)
        else done()
      })
      // This handler is called if a route calls callNotFound(). Fastify's default handler would echo the path.
      app.setNotFoundHandler(paths.refuse)
    }
    await app.register(
      async scope => {
        if (!ownsApp) paths.watch(scope)
        await registerDoor(scope, { ...options, things }, paths)
      },
      { logSerializers },
    )
  },
  { name: httpPluginName, fastify: '5.x' },
)

async function registerDoor(
  scope: FastifyInstance,
  options: ThingsHttpOptions & { readonly things: HttpThings },
  paths: KnownPaths,
): Promise<void> {
  const { things, isDraining = () => false, allowedOrigins = ['*'], drainTimeout = 5_000 } = options
  const bodyLimit = options.bodyLimit ?? scope.initialConfig.bodyLimit ?? 1024 * 1024
  const { redactor } = things.access
  const bodies = new JsonBodies(bodyLimit, redactor)
  scope.setErrorHandler(replyError)
  takeBodiesAsBytes(scope, bodyLimit)
  healthRoutes(scope, things, isDraining)
  paths.refuseRest(scope, '/healthz')
  paths.refuseRest(scope, '/readyz')
  // Another app may have paths such as `/health` itself.
  if (options.ownsApp) influxRoutes(scope, things, bodyLimit, () => things.isReady() && !isDraining())
  await scope.register(
    async v2 => {
      allowOrigins(v2, allowedOrigins)
      keepOutOfCaches(v2)
      refuseUnknown(v2, bodies, redactor)
      v2.setErrorHandler((error, request, reply) => {
        const counted =
          error instanceof ThingwireError ? things.limits.countFailure(error, request.ip ?? '') : error
        return replyError(counted, request, reply)
      })
      baseRoute(v2)
      writeRoute(v2, things, bodyLimit)
      readRoute(v2, things)
      aggregatesRoute(v2, things)
      resourceRoutes(v2, things)
      streamRoute(v2, things, drainTimeout)
      deleteRoute(v2, things)
      refusedWritesRoute(v2, things)
      dateRoute(v2, things)
      principalRoute(v2, things)
      visibleThingsRoute(v2, things)
      activationRoute(v2, things, bodies)
      thingSessionRoute(v2, things, bodies)
      postToSourceRoute(v2, things, bodyLimit)
      await v2.register(async admin => adminRoutes(admin, things, bodies), { prefix: '/admin' })
      paths.refuseRest(v2, '/')
      paths.refuseRest(v2, '/*')
    },
    { prefix: '/v2' },
  )
}

/**
 * Adds `no-store`, because an answer may contain a credential. A cache recognises a credential in the
 * header Authorization, but not in a path. The ack of a write does not get `no-store`, so that the ack stays small.
 */
function keepOutOfCaches(v2: FastifyInstance): void {
  v2.addHook('onRoute', route => {
    if (route.config?.operation !== writeRecords) route.onRequest = [noStore, route.onRequest ?? []].flat()
  })
}

const noStore: onRequestHookHandler = (_request, reply, done) => {
  reply.header('cache-control', 'no-store')
  done()
}

function adminRoutes(admin: FastifyInstance, things: HttpThings, bodies: JsonBodies): void {
  admin.addHook('onRequest', async request => await things.access.authoriseAdmin(credentialOf(request)))
  adminThingRoutes(admin, things, bodies)
  adminTokenRoutes(admin, things)
  adminActivationCodeRoutes(admin, things, bodies)
  adminSessionRoutes(admin, things, bodies)
  adminSourceRoutes(admin, things, bodies)
  adminForwardRoute(admin, things)
  backupRoute(admin, things)
}

/** Logs the pattern of a path, because the path may contain a thing token or an activation code (contract §1.1). */
export const logSerializers = {
  req: (request: FastifyRequest) => ({
    method: request.method,
    url: request.routeOptions.url,
    remoteAddress: request.ip,
  }),
  // Fastify's types require a serializer to return a string, but Fastify's own returns an object, as pino expects.
} as unknown as NonNullable<RegisterOptions['logSerializers']>

export const refuseBase: Operation = {
  id: 'refuseBase',
  group: 'Service',
  summary: 'Check that the service answers',
  description: 'Some clients use this path as a test. The answer is always 401.',
  credential: 'none',
  answers: {},
  refusals: ['invalid_session'],
}

/** `GET /v2/`: some clients test here whether the service answers. The answer is always 401. */
function baseRoute(scope: FastifyInstance): void {
  // The error is not thrown, because the error handler would count it as a failed credential.
  scope.get('/', { config: { operation: refuseBase } }, (request, reply) => {
    return replyError(new ThingwireError('invalid_session', 'Invalid session token'), request, reply)
  })
}

const headerNames = /^[A-Za-z0-9-]+( *, *[A-Za-z0-9-]+)*$/

/**
 * Allows pages of `allowedOrigins`, or of any origin for `*`, and answers their preflights (contract §6). Any origin is safe,
 * because no browser adds a credential by itself. @fastify/cors is not used: it would send `Vary` to every device, and would answer
 * preflights without a body.
 */
function allowOrigins(scope: FastifyInstance, allowedOrigins: readonly string[]): void {
  const any = allowedOrigins.includes('*')
  scope.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers
    if (origin !== undefined) {
      if (!any) reply.header('vary', 'Origin')
      if (any || allowedOrigins.includes(origin)) {
        reply.header('access-control-allow-origin', any ? '*' : origin)
        reply.header('access-control-expose-headers', `Date, Link, Retry-After, ${intervalHeader}`)
      }
    }
    if (request.method !== 'OPTIONS') return done()
    const wanted = request.headers['access-control-request-headers']
    reply.header('access-control-allow-methods', 'GET, HEAD, POST, PATCH, DELETE')
    if (wanted !== undefined && headerNames.test(wanted)) reply.header('access-control-allow-headers', wanted)
    reply.header('access-control-max-age', 86_400)
    replyJson(reply, 200, '{}')
  })
}

/** Operations that ignore unknown parameters and members, because firmware may add some (contract §3). */
const tolerant = [writeRecords, activateThing, postToSource]

/**
 * Makes every operation that is not `tolerant` refuse query parameters that it does not declare, and a body if it declares none.
 * Otherwise, a DELETE with a misspelled `startDate`, or with `startDate` in the body, would remove everything.
 */
function refuseUnknown(v2: FastifyInstance, bodies: JsonBodies, redactor: Redactor): void {
  v2.addHook('onRoute', route => {
    const { operation } = route.config ?? {}
    if (!operation || tolerant.includes(operation)) return
    const { credential, parameters = [], body } = operation
    const names = parameters.flatMap(each => (each.in === 'query' ? each.name : []))
    if (credential === 'stream') names.push('session')
    if (credential === 'token') names.push('thingToken')
    const refuse: preHandlerHookHandler = (request, _reply, done) => {
      const hasQuery = request.raw.url?.includes('?') === true
      const hasStrayBody = !body && isBodyAnnounced(request)
      // A missing credential is reported first.
      if (!(hasQuery || hasStrayBody) || !isGiven(credential, request)) return done()
      if (hasQuery) new Query(request).refuseOthers(names, redactor)
      if (hasStrayBody) bodies.refuse(request, names).then(() => done(), done)
      else done()
    }
    route.preHandler = [route.preHandler ?? [], refuse].flat()
  })
}

function isGiven(credential: CredentialKind, request: FastifyRequest): boolean {
  const { ref = '' } = request.params as { readonly ref?: string }
  if (credential === 'token' || credential === 'none' || isToken(ref)) return true
  return credentialOf(request) !== undefined || (credential === 'stream' && new Query(request).has('session'))
}

/** The known paths, to distinguish a wrong method (405) from an unknown path (404). */
class KnownPaths {
  readonly #methods = new Map<string, Set<string>>()

  /** Records every route that is registered in the scope from now on. */
  watch(scope: FastifyInstance): void {
    scope.addHook('onRoute', ({ url, method, handler }) => {
      if (handler === this.refuse) return
      const pattern = normalise(url)
      const methods = this.#methods.get(pattern) ?? new Set()
      for (const name of [method].flat()) methods.add(name)
      this.#methods.set(pattern, methods)
    })
  }

  /** Makes `refuse` answer every method that has no route at `url`. @param url may end in a wildcard */
  refuseRest(scope: FastifyInstance, url: string): void {
    const known = this.#methods.get(normalise(scope.prefix + url))
    const method = scope.supportedMethods.filter(name => !known?.has(name))
    // `refuse` is also in onRequest, so that it runs before the body is read.
    scope.route({ method, url, onRequest: this.refuse, handler: this.refuse })
  }

  /** Refuses a request without echoing its path. @throws ThingwireError not_found, or method_not_allowed with the header `Allow` */
  readonly refuse = async (request: FastifyRequest, reply: FastifyReply): Promise<never> => {
    const parts = normalise(request.raw.url ?? '').split('/')
    for (const [pattern, methods] of this.#methods) {
      // If a matching route has the method, the router rejected the path because a part is too long: the answer is not_found.
      if (methods.has(request.method) || !matches(pattern.split('/'), parts)) continue
      reply.header('allow', [...methods].sort().join(', '))
      throw new ThingwireError('method_not_allowed')
    }
    throw new ThingwireError('not_found')
  }
}

function matches(pattern: readonly string[], parts: readonly string[]): boolean {
  if (pattern.length !== parts.length) return false
  return pattern.every((part, place) => (part.startsWith(':') ? parts[place] !== '' : part === parts[place]))
}

/** The path as the router with `hostOptions` matches it: without query, repeated slashes and trailing slash. */
function normalise(url: string): string {
  const [path = ''] = url.split('?', 1)
  return path.replaceAll(/\/+/g, '/').replace(/(?<=.)\/$/, '')
}
