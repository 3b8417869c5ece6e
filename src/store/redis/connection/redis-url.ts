import type { RedisOptions } from 'ioredis'

export type ServerAddress = Pick<RedisOptions, 'host' | 'port' | 'username' | 'password' | 'db' | 'tls'>

const defaultPort = 6379

/** Passwords of `openssl rand -base64` contain `/`. */
export const escapes =
  'in user and password, write % as %25, / as %2F, @ as %40, : as %3A, # as %23, ? as %3F'

/**
 * Parses `redis://[[user]:password@]host[:port][/database]`, or `rediss://` for TLS. Several URLs, separated by commas,
 * name nodes of one cluster, which have the same user and password.
 *
 * @throws Error for the operator, which does not quote the text, since it may contain a password
 */
export function parseRedisUrl(text: string): readonly [ServerAddress, ...ServerAddress[]] {
  const [first = '', ...others] = text.split(',').map(part => part.trim())
  const addresses = [parseOne(first), ...others.map(parseOne)] as const
  if (others.length > 0 && addresses.some(({ db }) => db !== 0)) {
    throw new Error('a Redis Cluster has no databases: leave /<number> out of its URLs')
  }
  return addresses
}

/** The address without user and password. */
export function shownAddress({ host, port }: ServerAddress): string {
  return `${host?.includes(':') ? `[${host}]` : host}:${port}`
}

function parseOne(text: string): ServerAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const database = /^\/?(\d{0,5})$/.exec(url?.pathname ?? '/')?.[1]
  const isRedis = url?.protocol === 'redis:' || url?.protocol === 'rediss:'
  if (!url || !isRedis || url.hostname === '' || database === undefined || url.search + url.hash !== '') {
    throw new Error(
      `the URL of Redis must be redis://[[user]:password@]host[:port][/database] (or rediss://); ${escapes}`,
    )
  }
  return {
    // Removes the brackets of an IPv6 address.
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? defaultPort : Number(url.port),
    db: Number(database),
    ...(url.username === '' ? {} : { username: decode(url.username) }),
    ...(url.password === '' ? {} : { password: decode(url.password) }),
    ...(url.protocol === 'rediss:' ? { tls: {} } : {}),
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new Error(`the user or password in the URL of Redis has a % without two digits: ${escapes}`)
  }
}
