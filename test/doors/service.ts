import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { createToken } from '../../src/core/token.ts'
import { createServer, type ServerOptions } from '../../src/server/index.ts'
import type { ServerAddress } from '../helpers/http-client.ts'
import { startRedisCluster } from '../helpers/redis-cluster.ts'
import { startRedis } from '../helpers/redis-server.ts'

/** The ready server on a store that keeps, with every door on a socket. */
export interface Service extends ServerAddress {
  /** `mqtt://<host>:<port>` */
  readonly mqttUrl: string
  /** `ws://<host>:<port>/mqtt` */
  readonly webSocketUrl: string
  close(): Promise<void>
}

/** What a service keeps everything in. Whoever opens it removes it. */
export interface Place {
  readonly options: Pick<ServerOptions, 'dataDir'> | Pick<ServerOptions, 'redisUrl' | 'adminKey'>
  remove(): Promise<void>
}

/** Starts it on the store of the project that the test runs in (vitest.config.ts). */
export async function startService(): Promise<Service> {
  const place = await openPlace()
  try {
    const server = await createServer({
      ...place.options,
      httpPort: 0,
      mqttPort: 0,
      minFreeSpace: 0,
      logLevel: 'error',
      shutdownTimeout: 1_000,
    })
    return {
      url: server.url,
      mqttUrl: server.mqttUrl,
      webSocketUrl: server.webSocketUrl,
      adminKey: server.adminKey.key,
      close: async () => {
        await server.close()
        await place.remove()
      },
    }
  } catch (error) {
    await place.remove()
    throw error
  }
}

/** An empty one of the project's store. */
export async function openPlace(): Promise<Place> {
  if (inject('store') === 'embedded') {
    const dataDir = await mkdtemp(join(tmpdir(), 'thingwire-doors-'))
    return { options: { dataDir }, remove: () => rm(dataDir, { recursive: true, force: true }) }
  }
  const redis = inject('store') === 'redis' ? await startRedis() : await startRedisCluster()
  return { options: { redisUrl: redis.url, adminKey: createToken() }, remove: () => redis.end() }
}
