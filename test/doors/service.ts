import { inject } from 'vitest'
import { createToken } from '../../src/core/token.ts'
import { createServer, type ServerOptions } from '../../src/server/index.ts'
import type { ServerAddress } from '../helpers/http-client.ts'
import { startRedisCluster } from '../helpers/redis-cluster.ts'
import { startRedis } from '../helpers/redis-server.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

/** The ready server on a store that keeps, with every door on a socket. */
export interface Service extends ServerAddress {
  /** `mqtt://<host>:<port>` */
  readonly mqttUrl: string
  /** `ws://<host>:<port>/mqtt` */
  readonly webSocketUrl: string
  /** Removes what it has stored, too. */
  close(): Promise<void>
}

/** Starts it on the store of the project that the test runs in (vitest.config.ts). Whoever starts it closes it. */
export async function startService(given: Partial<ServerOptions> = {}): Promise<Service> {
  const ends: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const end of ends) await end()
  }
  const openPlace = async () => {
    if (inject('store') === 'embedded') return { dataDir: await temporaryDirectory(end => ends.push(end)) }
    const redis = inject('store') === 'redis' ? await startRedis() : await startRedisCluster()
    ends.push(() => redis.end())
    return { redisUrl: redis.url, adminKey: createToken() }
  }
  const ports = { httpPort: 0, mqttPort: 0, minFreeSpace: 0 }
  const options = { ...(await openPlace()), ...ports, logLevel: 'error', shutdownTimeout: 1_000 } as const
  const server = await createServer({ ...options, ...given }).catch(async (error: unknown) => {
    await close()
    throw error
  })
  ends.unshift(() => server.close())
  const { url, mqttUrl, webSocketUrl, adminKey } = server
  return { url, mqttUrl, webSocketUrl, adminKey: adminKey.key, close }
}
