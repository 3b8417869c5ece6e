import { setTimeout as delay } from 'node:timers/promises'
import { Cluster, type ClusterOptions, Redis, type RedisOptions, ReplyError } from 'ioredis'
import { strikeOut } from '../../../core/refusals/redactor.ts'
import type { Client } from '../script.ts'
import { parseRedisUrl, type ServerAddress, shownAddress } from './redis-url.ts'

/** Most milliseconds that a blocking command may block: a connection that is silent for 5 s is ended. */
export const longestBlock = 2_000

/** Milliseconds. */
const connectTimeout = 2_000
/** Milliseconds that a cluster may take until it serves, at the start. */
const clusterDeadline = 15_000

/**
 * What is pending when a connection ends is rejected, since it may have happened, and nothing is ever sent twice or kept
 * back for later: whoever asked knows better whether to ask again.
 */
const rules = {
  lazyConnect: true,
  connectTimeout,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  maxLoadingRetryTime: 1_000,
  retryStrategy: reconnectDelay,
  // Redis 7.0 does not know the command that would give it.
  disableClientInfo: true,
} as const satisfies RedisOptions

/**
 * Connects to Redis, or to the Redis Cluster of which the url names a node or several. Resolves when it takes commands,
 * which after a restart of a large one is when it has loaded its data. From then on the client connects again by
 * itself, every second at the latest.
 *
 * @param url redis-url.ts
 * @throws Error for the operator, without user and password: the url is not one, Redis cannot be reached or refuses us
 */
export async function openClient(url: string): Promise<Client> {
  const addresses = parseRedisUrl(url)
  const [first, ...others] = addresses
  if (others.length > 0) return await connect(new Cluster([...addresses], clusterOptions(first)), addresses)
  const client = await connect(new Redis({ ...first, ...rules }), addresses)
  if (!(await isOfCluster(client))) return await inItsDatabase(client)
  client.disconnect()
  if (first.db !== 0) throw new Error('a Redis Cluster has no databases: leave /<number> out of its URL')
  return await connect(new Cluster([first], clusterOptions(first)), addresses)
}

/**
 * A connection of its own to the same place by the same rules, for commands that block, `longestBlock` at most.
 *
 * @throws Error as `openClient`
 */
export async function duplicateForBlocking(client: Client): Promise<Client> {
  if (client instanceof Cluster) return await connect(client.duplicate(), [client.options.redisOptions ?? {}])
  return await connect(client.duplicate(), [client.options])
}

/**
 * A connection of its own to the server that has a key. It ends when it is lost: of a cluster, another server may have the key then.
 * ioredis' own way to listen to a cluster says nothing when it has lost messages.
 *
 * @throws Error as `openClient`, or that no server has the key now
 */
export async function connectToServerOf(client: Client, key: string): Promise<Redis> {
  const asked = mastersOf(client).map(async master => {
    await master.exists(key)
    return master
  })
  const server = await Promise.any(asked)
  return await connect(server.duplicate({ retryStrategy: () => null }), [server.options])
}

/** The servers that take writes. */
export function mastersOf(client: Client): readonly Redis[] {
  return client instanceof Cluster ? client.nodes('master') : [client]
}

function clusterOptions({ username, password, tls }: ServerAddress): ClusterOptions {
  const login = {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  }
  return {
    lazyConnect: true,
    enableOfflineQueue: false,
    // What is refused with MOVED or ASK did not happen and is sent on; what was pending, or meets a hole, is not.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    clusterRetryStrategy: reconnectDelay,
    redisOptions: { ...rules, ...login, ...(tls ? { tls } : {}) },
    // A certificate names hosts.
    ...(tls ? { dnsLookup: (host, callback) => callback(null, host) } : {}),
  }
}

function reconnectDelay(attempts: number): number {
  return Math.min(50 * 2 ** (attempts - 1), 1_000)
}

async function connect<C extends Client>(client: C, addresses: readonly ServerAddress[]): Promise<C> {
  let newest: Error | undefined
  client.on('error', (error: Error & { lastNodeError?: Error }) => {
    newest = error.lastNodeError ?? error
  })
  // What a server answers says more than that another of them cannot be reached.
  let refusal: Error | undefined
  client.on('node error', (error: Error) => {
    if (error instanceof ReplyError) refusal = error
  })
  if (client instanceof Redis) endWhenSilent(client)
  else client.on('+node', endWhenSilent)
  try {
    if (client instanceof Redis) await client.connect()
    else await connectCluster(client)
    return client
  } catch (error) {
    client.disconnect()
    throw new Error(
      `cannot use Redis at ${addresses.map(shownAddress).join(', ')}: ${reasonIn(refusal ?? newest ?? error, addresses)}`,
    )
  }
}

/** Resolves when every master is connected: while one is not, the cluster refuses the second of two commands for it. */
async function connectCluster(cluster: Cluster): Promise<void> {
  const done = new AbortController()
  const late = delay(clusterDeadline, undefined, { signal: done.signal }).then(() => {
    throw new Error('the cluster does not serve all slots')
  })
  // ioredis asks a cluster that does not serve all slots again and again, and then settles this promise no more.
  const ready = new Promise<void>(resolve => cluster.once('ready', resolve))
  try {
    await Promise.race([cluster.connect(), ready, late])
    await Promise.all(mastersOf(cluster).map(master => master.ping()))
  } finally {
    done.abort()
  }
}

/** Where there is no such database, ioredis stays in another and says nothing. */
async function inItsDatabase(client: Redis): Promise<Redis> {
  const { db = 0 } = client.options
  if (db === 0) return client
  try {
    await client.select(db)
    return client
  } catch (error) {
    client.disconnect()
    throw new Error(
      `cannot use database ${db} of Redis at ${shownAddress(client.options)}: ${reasonIn(error, [client.options])}`,
    )
  }
}

async function isOfCluster(client: Redis): Promise<boolean> {
  try {
    return (await client.info('cluster')).includes('cluster_enabled:1')
  } catch {
    // INFO is forbidden to us.
    return false
  }
}

/** @param addresses whose passwords are struck from it: a server that has no such command quotes what it was sent */
function reasonIn(error: unknown, addresses: readonly ServerAddress[]): string {
  const { message, code } = error as NodeJS.ErrnoException
  if (/cluster support disabled/.test(message)) {
    return 'this Redis is not a cluster: give only one URL'
  }
  // Where a name has several addresses, and none answers, Node says so without a message.
  return addresses.reduce(
    (text, { password }) => (password ? strikeOut(password, text.replaceAll(password, '[redacted]')) : text),
    message || code || 'unknown reason',
  )
}

/** Milliseconds. */
const interval = 1_000
/** A connection over which nothing was heard for so many intervals is given up. */
const patience = 5

/**
 * Ends a connection over which nothing comes any more, so that the client makes a new one: where packets vanish, TCP
 * would go on trying for a quarter of an hour. ioredis has `socketTimeout` for it, whose timer outlives the connection
 * and then ends the one after it.
 *
 * Blocking commands may block for less than that: for 2 s.
 */
function endWhenSilent(redis: Redis): void {
  redis.on('connect', () => {
    const { stream } = redis
    // Counted, not measured: after a long pause of this process the answers are still to be read.
    let silent = 0
    const timer = setInterval(() => {
      silent++
      if (silent > patience) stream.destroy(silence())
      // Before it is ready, ioredis itself asks again and again.
      else if (redis.status === 'ready') redis.ping().catch(() => {})
    }, interval)
    stream.on('data', () => {
      silent = 0
    })
    stream.once('close', () => clearInterval(timer))
  })
}

/** As the system calls it when it gives a connection up. */
function silence(): Error {
  return Object.assign(new Error(`Redis was silent for ${patience} s`), { code: 'ETIMEDOUT' })
}
