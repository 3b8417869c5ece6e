import { setTimeout as delay } from 'node:timers/promises'
import { Cluster, type ClusterOptions, Redis, type RedisOptions, ReplyError } from 'ioredis'
import { strikeOut } from '../../../core/refusals/redactor.ts'
import type { Client } from '../script.ts'
import { escapes, parseRedisUrl, type ServerAddress, shownAddress } from './redis-url.ts'

/** Maximum milliseconds for which a command may block, since a connection that is silent for 5 s is closed. */
export const longestBlock = 2_000

/** Milliseconds. */
const connectTimeout = 2_000
/** Milliseconds within which a cluster must serve all slots when the client first connects. */
const clusterDeadline = 15_000

/** A command that is in flight when the connection ends is rejected. The client never resends it, since it may have run. */
const rules = {
  lazyConnect: true,
  connectTimeout,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  maxLoadingRetryTime: 1_000,
  retryStrategy: reconnectDelay,
  // Redis 7.0 does not have the command that ioredis would send (CLIENT SETINFO).
  disableClientInfo: true,
} as const satisfies RedisOptions

/**
 * Connects to Redis, or to the Redis Cluster with the nodes that the URL names. Resolves when Redis has loaded its data and accepts
 * commands. From then on the client reconnects by itself, and tries at least every second.
 *
 * @param url URL in the format that redis-url.ts describes
 * @throws Error for the operator, without user and password: the url is invalid, Redis cannot be reached or refuses the client
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

/** A second connection with the same options, for commands that block up to `longestBlock`. @throws Error like `openClient` */
export async function duplicateForBlocking(client: Client): Promise<Client> {
  if (client instanceof Cluster) return await connect(client.duplicate(), [client.options.redisOptions ?? {}])
  return await connect(client.duplicate(), [client.options])
}

/**
 * A second connection to the server that has a key. It does not reconnect after it has ended, since another server of the cluster
 * may have the key then. (The cluster subscriber of ioredis is not used because it does not report lost messages.)
 *
 * @throws Error like `openClient`, or if no server has the key now
 */
export async function connectToServerOf(client: Client, key: string): Promise<Redis> {
  const asked = mastersOf(client).map(async master => {
    await master.exists(key)
    return master
  })
  const server = await Promise.any(asked)
  return await connect(server.duplicate({ retryStrategy: () => null }), [server.options])
}

/** The servers that accept writes. */
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
    // ioredis resends only commands that were refused with MOVED or ASK. These commands have not run.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    clusterRetryStrategy: reconnectDelay,
    redisOptions: { ...rules, ...login, ...(tls ? { tls } : {}) },
    // Keeps host names instead of resolving them, since a certificate is for host names.
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
  // Prefers an error reply of one server to the failure to reach another server, since the reply says more.
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

/** Resolves when every master is connected. Until then, the client accepts one command for a master, and refuses the next. */
async function connectCluster(cluster: Cluster): Promise<void> {
  const done = new AbortController()
  const late = delay(clusterDeadline, undefined, { signal: done.signal }).then(() => {
    throw new Error('the cluster does not serve all slots')
  })
  // If a cluster does not serve all slots, ioredis keeps retrying, and the promise of `connect` never settles.
  const ready = new Promise<void>(resolve => cluster.once('ready', resolve))
  try {
    await Promise.race([cluster.connect(), ready, late])
    await Promise.all(mastersOf(cluster).map(master => master.ping()))
  } finally {
    done.abort()
  }
}

/** Selects the database explicitly: if it does not exist, ioredis would use another database without an error. */
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
    // The user lacks the permission for INFO.
    return false
  }
}

/** @param addresses servers whose passwords are redacted: a server that does not know AUTH quotes the command in its error */
function reasonIn(error: unknown, addresses: readonly ServerAddress[]): string {
  const { message, code } = error as NodeJS.ErrnoException
  if (/cluster support disabled/.test(message)) {
    return 'this Redis is not a cluster: give only one URL'
  }
  if (message?.startsWith('NOAUTH')) {
    return 'it requires a password: give it in the URL, redis://:password@host:port'
  }
  if (message?.startsWith('WRONGPASS')) {
    return `it refuses the user or the password of the URL: redis://:password@host has a colon before the password; ${escapes}`
  }
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND') {
    return `${message || code}: does Redis run there, and is its URL (redisUrl, THINGWIRE_REDIS_URL) right?`
  }
  if (code === 'ETIMEDOUT' && addresses.some(({ tls }) => tls)) {
    return `${message}: does Redis use TLS on this port? Without TLS the URL begins with redis://`
  }
  // The message of ioredis for a connection that Redis has closed before its first command.
  if (message?.startsWith("Stream isn't writeable")) {
    return 'it closed the connection: are the user and the password of the URL right?'
  }
  // Node's error has no message if a host name resolves to several addresses and none of them answers.
  return addresses.reduce(
    (text, { password }) => (password ? strikeOut(password, text.replaceAll(password, '[redacted]')) : text),
    message || code || 'unknown reason',
  )
}

/** Milliseconds. */
const interval = 1_000
/** Number of silent intervals after which a connection is closed. */
const patience = 5

/**
 * Closes a silent connection, so that the client reconnects. Otherwise TCP would resend lost packets for a quarter of an hour.
 * The `socketTimeout` of ioredis is not used because its timer outlives the connection and then closes the next connection.
 * Blocking commands block for at most 2 s (`longestBlock`), which is less than `patience`.
 */
function endWhenSilent(redis: Redis): void {
  redis.on('connect', () => {
    const { stream } = redis
    // Counts intervals instead of time: after a long pause of this process, there may be replies that are not read yet.
    let silent = 0
    const timer = setInterval(() => {
      silent++
      if (silent > patience) {
        const text = `Redis was silent for ${patience} s`
        stream.destroy(Object.assign(new Error(text), { code: 'ETIMEDOUT' }))
      }
      // Before the connection is ready, ioredis itself sends commands.
      else if (redis.status === 'ready') redis.ping().catch(() => {})
    }, interval)
    stream.on('data', () => {
      silent = 0
    })
    stream.once('close', () => clearInterval(timer))
  })
}
