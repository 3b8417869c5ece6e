import { join, resolve } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { type AdminKey, loadAdminKey } from '../../access/admin-key.ts'
import { makeDirectory } from '../../core/files/make-directory.ts'
import type { Observer } from '../../core/observer.ts'
import type { StoreDriver } from '../../store/contract.ts'
import { createLevelStore } from '../../store/level/index.ts'
import type { ServerOptions } from '../options/options.ts'
import { assertNotLost, assertNotMoved } from './marks.ts'

export interface Keeping {
  /** The chosen store, which is not open yet. */
  readonly store: StoreDriver
  /** Whether the store was created when it was opened. */
  readonly isNew: () => boolean
  readonly adminKey: AdminKey
}

/** The path of the store in a data directory. */
export function storeLocation(dataDir: string): string {
  return join(resolve(dataDir), 'store')
}

/**
 * Chooses the embedded store in `dataDir` or, if `redisUrl` is set, Redis. The Redis store logs how durable its acks are.
 *
 * @param onLost called once if the embedded store is lost
 * @throws Error with one line for the operator: the data directory or its admin key cannot be used, its store was moved
 * into Redis or has disappeared, or `redisUrl` is set without `adminKey`
 */
export async function chooseStore(
  options: ServerOptions,
  log: FastifyBaseLogger,
  observer: Observer,
  onLost: (error: Error) => void = () => {},
): Promise<Keeping> {
  const { dataDir, durability, minFreeSpace, redisUrl, adminKey } = options
  if (redisUrl !== undefined) {
    if (adminKey === undefined) {
      throw new Error(
        'redisUrl is set but not adminKey: set THINGWIRE_ADMIN_KEY to the same key on every node',
      )
    }
    return {
      store: await redisStore(redisUrl, options, log, observer),
      isNew: () => false,
      adminKey: { key: adminKey, created: false },
    }
  }
  await assertNotMoved(dataDir)
  const location = storeLocation(dataDir)
  await assertNotLost(dataDir, location)
  await makeDataDir(dataDir)
  let isNew = false
  return {
    store: createLevelStore({
      ...{ location, durability, minFreeSpace, observer, onLost },
      onCreated: () => {
        isNew = true
      },
      onNewFormat: ({ before, now }) =>
        log.info(
          `the store was upgraded from format ${before} to format ${now}: older versions can no longer open it`,
        ),
    }),
    isNew: () => isNew,
    adminKey: await loadAdminKey({ configured: adminKey, file: join(resolve(dataDir), 'admin-key') }),
  }
}

async function redisStore(
  url: string,
  options: ServerOptions,
  log: FastifyBaseLogger,
  observer: Observer,
): Promise<StoreDriver> {
  // Imported only here, which saves 8 MB of memory on servers without Redis.
  const { createRedisStore } = await import('../../store/redis/index.ts')
  return createRedisStore({
    url,
    replicas: options.redisReplicas,
    replicasFsync: options.redisReplicasFsync,
    allowUnsafe: options.redisAllowUnsafe,
    observer,
    onStatement: ({ level, text }) => log[level](text),
  })
}

async function makeDataDir(dataDir: string): Promise<void> {
  try {
    await makeDirectory(dataDir, 0o700)
  } catch (cause) {
    throw new Error(`cannot create the data directory ${dataDir}: ${(cause as Error).message}`, { cause })
  }
}
