import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { ThingwireError } from '../errors.ts'
import { activationRoute } from './activation.ts'
import { adminActivationCodeRoutes } from './admin-activation-codes.ts'
import { adminSessionRoutes } from './admin-sessions.ts'
import { adminThingRoutes } from './admin-things.ts'
import { adminTokenRoutes } from './admin-tokens.ts'
import { backupRoute } from './backup.ts'
import { takeBodiesAsBytes } from './body-bytes.ts'
import { credentialOf } from './credential.ts'
import { allowOrigins } from './cross-origin.ts'
import { dateRoute } from './date.ts'
import { deleteRoute } from './delete.ts'
import { healthRoutes } from './health.ts'
import { KnownPaths } from './known-paths.ts'
import { logSerializers } from './log-serializers.ts'
import { refuseBase } from './operations/service.ts'
import { principalRoute } from './principal.ts'
import { readRoute } from './read.ts'
import { refusedWritesRoute } from './refused-writes.ts'
import { replyError } from './reply-error.ts'
import { resourceRoutes } from './resources.ts'
import { sessionRoute } from './sessions.ts'
import { streamRoute } from './stream.ts'
import type { HttpThings } from './things.ts'
import { visibleThingsRoute } from './visible-things.ts'
import { writeRoute } from './write.ts'

export interface ThingsHttpOptions {
  /** What `createThings` gives. The plugin does not close it. */
  readonly things: HttpThings
  /** Most bytes of a body, before and after inflating. Default: the host's `bodyLimit`, which is 1 MiB by default. */
  readonly bodyLimit?: number
  /** Web origins whose pages may read the answers; `*` is any, and the default. */
  readonly allowedOrigins?: readonly string[] | undefined
  /** Whether the host is stopping: `/readyz` then answers 503. Default: never. */
  readonly isDraining?: () => boolean
  /** How long a client of a live stream may take nothing before it is cut, milliseconds. Default 5,000. */
  readonly drainTimeout?: number
  /**
   * Whether errors of the whole app, unknown paths, and wrong methods on the paths that come after the plugin, are answered
   * in the shape of `/v2`. Default false.
   */
  readonly ownsApp?: boolean
}

/**
 * The HTTP door (contract §6): `/v2`, `/healthz` and `/readyz`. Leaves the host's own routes, parsers, error handler
 * and hooks as they are. Create the host with `hostOptions`.
 */
export const thingsHttp: FastifyPluginAsync<ThingsHttpOptions> = fastifyPlugin(
  async (app: FastifyInstance, options: ThingsHttpOptions) => {
    const paths = new KnownPaths()
    const { ownsApp = false } = options
    if (ownsApp) {
      app.setErrorHandler(replyError)
      paths.watch(app)
      // Not as the handler of what is not found: that comes after the body was parsed. Nor as routes: one for each
      // method and path took 20 ms of each start.
      app.addHook('onRequest', (request, reply, done) => {
        if (request.is404) paths.refuse(request, reply).catch(done)
        else done()
      })
      // For routes that find nothing: Fastify would echo the path.
      app.setNotFoundHandler(paths.refuse)
    }
    await app.register(
      async scope => {
        if (!ownsApp) paths.watch(scope)
        await registerDoor(scope, options, paths)
      },
      { logSerializers },
    )
  },
  { name: 'thingwire-http', fastify: '5.x' },
)

async function registerDoor(
  scope: FastifyInstance,
  options: ThingsHttpOptions,
  paths: KnownPaths,
): Promise<void> {
  const { things, isDraining = () => false, allowedOrigins = ['*'], drainTimeout = 5_000 } = options
  const bodyLimit = options.bodyLimit ?? scope.initialConfig.bodyLimit ?? 1024 * 1024
  scope.setErrorHandler(replyError)
  takeBodiesAsBytes(scope, bodyLimit)
  healthRoutes(scope, things, isDraining)
  paths.refuseRest(scope, '/healthz')
  paths.refuseRest(scope, '/readyz')
  await scope.register(
    async v2 => {
      allowOrigins(v2, allowedOrigins)
      v2.setErrorHandler((error, request, reply) => {
        const judged =
          error instanceof ThingwireError ? things.limits.judge(error, addressOf(request)) : error
        return replyError(judged, request, reply)
      })
      // Not thrown: it is no credential that has failed.
      v2.get('/', { config: { operation: refuseBase } }, (request, reply) => {
        return replyError(new ThingwireError('invalid_session', 'Invalid session token'), request, reply)
      })
      writeRoute(v2, things, bodyLimit)
      readRoute(v2, things)
      resourceRoutes(v2, things)
      streamRoute(v2, things, drainTimeout)
      deleteRoute(v2, things)
      refusedWritesRoute(v2, things)
      dateRoute(v2, things)
      principalRoute(v2, things)
      visibleThingsRoute(v2, things)
      activationRoute(v2, things, bodyLimit)
      sessionRoute(v2, things, bodyLimit)
      await v2.register(async admin => adminRoutes(admin, things, bodyLimit), { prefix: '/admin' })
      paths.refuseRest(v2, '/')
      paths.refuseRest(v2, '/*')
    },
    { prefix: '/v2' },
  )
}

/** Of the client; empty if the connection is gone. */
function addressOf({ ip }: { readonly ip: string | undefined }): string {
  return ip ?? ''
}

function adminRoutes(admin: FastifyInstance, things: HttpThings, bodyLimit: number): void {
  admin.addHook('onRequest', async request => await things.access.authoriseAdmin(credentialOf(request)))
  adminThingRoutes(admin, things, bodyLimit)
  adminTokenRoutes(admin, things)
  adminActivationCodeRoutes(admin, things, bodyLimit)
  adminSessionRoutes(admin, things, bodyLimit)
  backupRoute(admin, things)
}
