import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { createServer, type Server } from '../../src/server/index.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

export interface DocumentedServer {
  readonly server: Server
  readonly url: string
  readonly adminKey: string
  /** Every route that it has, HEAD left out. */
  readonly routes: readonly RouteOptions[]
  close(): Promise<void>
}

/** A ready server on an empty store. Whoever opens it closes it. */
export async function openDocumentedServer(): Promise<DocumentedServer> {
  const ended: (() => Promise<void>)[] = []
  const dataDir = await temporaryDirectory(remove => ended.push(remove))
  const routes: RouteOptions[] = []
  // Fastify tells of each instance that is made, before it has routes.
  const collect = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', route => {
      if (route.method !== 'HEAD') routes.push(route)
    })
  }
  subscribe('fastify.initialization', collect)
  const server = await createServer({
    dataDir,
    httpPort: 0,
    mqttPort: 0,
    minFreeSpace: 0,
    logLevel: 'silent',
    shutdownTimeout: 1_000,
    failedCredentialsPerMinute: 10_000,
  }).finally(() => unsubscribe('fastify.initialization', collect))
  return {
    server,
    url: server.url,
    adminKey: server.adminKey.key,
    routes,
    close: async () => {
      await server.close()
      for (const end of ended) await end()
    },
  }
}
