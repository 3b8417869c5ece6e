import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { type Service, startService } from '../doors/service.ts'

export interface DocumentedServer extends Service {
  /** Every route that it has, HEAD left out. */
  readonly routes: readonly RouteOptions[]
}

/** A ready server on an empty store. Whoever opens it closes it. */
export async function openDocumentedServer(): Promise<DocumentedServer> {
  const routes: RouteOptions[] = []
  // Fastify tells of each instance that is made, before it has routes.
  const collect = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', route => {
      if (route.method !== 'HEAD') routes.push(route)
    })
  }
  subscribe('fastify.initialization', collect)
  const service = await startService({ logLevel: 'silent', failedCredentialsPerMinute: 10_000 }).finally(() =>
    unsubscribe('fastify.initialization', collect),
  )
  return { ...service, routes }
}
