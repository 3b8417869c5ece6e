import { randomBytes } from 'node:crypto'
import { Cluster, type Redis } from 'ioredis'
import type { Observer } from '../../core/observer.ts'
import { assertOptions } from '../../core/options/given-options.ts'
import { keptRefusals } from '../../core/refusals/refused-write.ts'
import { ThingwireError } from '../../errors.ts'
import type { RefusedWrite, RefusedWrites, StoreDriver, StoreSize } from '../contract.ts'
import { connectToServerOf, duplicateForBlocking, mastersOf, openClient } from './connection/connection.ts'
import { RedisDatabase, storeError } from './connection/database.ts'
import { checkDurability, type DurabilityOptions } from './connection/durability.ts'
import { formatVersion, openFormat } from './connection/format.ts'
import { NumberedWrites } from './connection/numbered-writes.ts'
import { givenRedisStoreRules } from './connection/option-rules.ts'
import { shownAddress } from './connection/redis-url.ts'
import { waitingForReplicas } from './connection/replicas.ts'
import { serverSettings } from './connection/server-settings.ts'
import type { Statement } from './connection/statement.ts'
import { createDocuments } from './documents.ts'
import { type Keys, redisKeys } from './keys.ts'
import { Follower } from './log/follower.ts'
import { RedisLocks } from './nodes/locks.ts'
import { NodeMessages } from './nodes/messages.ts'
import { RedisNodes } from './nodes/nodes.ts'
import { RedisReceipts } from './nodes/receipt-clock.ts'
import { RedisClock } from './nodes/redis-clock.ts'
import { createRecords } from './records.ts'
import { newestWriteNumber } from './removals.ts'
import { type Client, Script } from './script.ts'

export interface RedisStoreOptions extends DurabilityOptions {
  /** `redis://[[user]:password@]host[:port][/database]`, or `rediss://` for TLS. URLs of a cluster are separated by commas. */
  readonly url: string
  /** Prefix of the names of all keys. Default `thingwire`. */
  readonly prefix?: string
  /** Its `committed` is called after each commit. Default: none. */
  readonly observer?: Pick<Observer, 'committed'>
  /** Called with lines for the operator, for example how durable an ack is; must not throw. Default: none. */
  readonly onStatement?: (statement: Statement) => void
}

/** The store for several nodes, not yet open: Redis 7 or Redis Cluster. @throws TypeError for a missing, wrong or unknown option */
export function createRedisStore(options: RedisStoreOptions): StoreDriver {
  assertOptions('createRedisStore', givenRedisStoreRules, options, "{ url: 'redis://127.0.0.1' }")
  const { url, prefix = 'thingwire', onStatement = () => {} } = options
  let parts: Awaited<ReturnType<typeof openParts>> | undefined
  const opened = () => {
    if (!parts) throw new ThingwireError('store_unavailable', 'the store is not open')
    return parts
  }
  return {
    capabilities: { durable: true, shared: true, backup: false },
    async open() {
      const client = await openClient(url)
      try {
        const { statements, warnings } = await checkDurability(client, options)
        for (const text of statements) onStatement({ level: 'info', text })
        for (const text of warnings) onStatement({ level: 'warn', text })
        const before = await openFormat(client, prefix)
        if (before !== undefined) {
          onStatement({
            level: 'info',
            text: `the store was upgraded from format ${before} to format ${formatVersion}: older versions can no longer open it`,
          })
        }
        parts = await openParts(client, redisKeys(prefix), options)
      } catch (error) {
        client.disconnect()
        throw error
      }
    },
    get records() {
      return opened().records
    },
    get documents() {
      return opened().documents
    },
    get refused() {
      return opened().refused
    },
    get nodes() {
      return opened().nodes
    },
    get locks() {
      return opened().locks
    },
    get clock() {
      return opened().clock
    },
    backup() {
      throw new ThingwireError(
        'not_found',
        'a store in Redis has no backup command: see docs/use/several-nodes.md',
      )
    },
    isReady: () => opened().client.status === 'ready',
    size: () => memorySize(opened().client),
    async close() {
      const { nodes, messages, follower, clients, stopReportingOutages } = opened()
      await nodes.close()
      messages.close()
      await follower.close()
      stopReportingOutages()
      for (const client of clients) client.disconnect()
    },
  }
}

async function openParts(client: Client, keys: Keys, options: RedisStoreOptions) {
  const { onStatement = () => {} } = options
  const clients = [client]
  const another = async () => {
    const opened = await duplicateForBlocking(client)
    clients.push(opened)
    return opened
  }
  try {
    const node = randomBytes(12).toString('base64url')
    const database = new RedisDatabase(keys, node, client)
    const durable = options.replicas
      ? new RedisDatabase(keys, node, waitingForReplicas(await another(), options))
      : database
    const clock = new RedisClock()
    const writes = new NumberedWrites(durable, clock)
    const follower = new Follower(await another(), keys, node)
    const { records, commits } = createRecords(database, durable, writes, follower, options.observer)
    const locks = new RedisLocks(database, follower, (change, ticket) => commits.push({ change, ticket }))
    const receipts = new RedisReceipts(clock, follower.listeners)
    const messages = new NodeMessages(database, key => connectToServerOf(client, key))
    const { listeners } = follower
    const nodes = new RedisNodes(database, listeners, clock, receipts, locks, messages, onStatement)
    const documents = createDocuments(database, writes, {
      put: (encoded, ticket, lock) => commits.push({ change: { documents: encoded, lock }, ticket }),
      alone: task => commits.alone(task),
    })
    await nodes.open()
    follower.start(await newestWriteNumber(database))
    return {
      client,
      clients,
      follower,
      records,
      documents,
      refused: createRefusedWrites(database),
      nodes,
      messages,
      locks,
      clock: receipts,
      stopReportingOutages: reportOutages(client, onStatement),
    }
  } catch (error) {
    for (const opened of clients) opened.disconnect()
    throw error
  }
}

const addRefusedWrite = new Script('add-refused-write')

export function createRefusedWrites(database: RedisDatabase): RefusedWrites {
  return {
    async add(thingId, refused) {
      await database.run(addRefusedWrite, database.node, thingId, JSON.stringify(refused), keptRefusals)
    },
    async list(thingId, limit) {
      const newest = await database.call('LRANGE', database.keys.refused(thingId), 0, keptRefusals - 1)
      return (newest as readonly Buffer[])
        .slice(0, limit)
        .map(text => JSON.parse(text.toString()) as RefusedWrite)
    },
  }
}

/**
 * The memory that Redis uses, including memory for data of other programs. In a cluster, only the master that uses the most memory
 * counts, since it probably has the store.
 *
 * @throws ThingwireError store_unavailable
 */
async function memorySize(client: Client): Promise<StoreSize> {
  try {
    const settings = await Promise.all(mastersOf(client).map(serverSettings))
    const sizes = settings.map(({ usedMemory, maxmemory }) =>
      sizeOf(Number(usedMemory ?? 0), Number(maxmemory)),
    )
    return sizes.reduce((most, size) => (size.bytes > most.bytes ? size : most), { bytes: 0 })
  } catch (error) {
    throw storeError(error)
  }
}

function sizeOf(bytes: number, maxmemory: number): StoreSize {
  return maxmemory > 0 ? { bytes, limit: maxmemory } : { bytes }
}

/**
 * Reports once that a connection to Redis is lost, and once that Redis is connected again, however often the client tries to
 * reconnect. In a cluster, the new connection may be to any server, since another server takes over in a failover.
 *
 * @param client a connected client
 * @returns a function that ends the reports
 */
function reportOutages(client: Client, say: (statement: Statement) => void): () => void {
  let isLost = false
  let isStopped = false
  const report = (level: Statement['level'], text: string) => {
    if (!isStopped) say({ level, text })
  }
  const watch = (redis: Redis) => {
    const address = shownAddress(redis.options)
    let isConnected = redis.status === 'ready'
    let newest: NodeJS.ErrnoException | undefined
    redis.on('error', error => {
      newest = error
    })
    redis.on('close', () => {
      if (isConnected)
        report('warn', `the connection to Redis at ${address} is lost: ${newest?.code ?? 'closed'}`)
      isLost ||= isConnected
      isConnected = false
    })
    redis.on('ready', () => {
      if (isLost) report('info', `connected to Redis again, at ${address}`)
      isLost = false
      isConnected = true
      newest = undefined
    })
  }
  if (client instanceof Cluster) {
    for (const redis of client.nodes()) watch(redis)
    client.on('+node', watch)
  } else watch(client)
  return () => {
    isStopped = true
  }
}
