import { isIP } from 'node:net'
import { z } from 'zod'
import { parseRetentionRule } from '../retention/rules.ts'
import { parseRedisUrl } from '../store/redis/redis-url.ts'
import { limitDeclarations } from './limit-options.ts'
import {
  listOf,
  type OptionDeclaration,
  oneOf,
  optional,
  text,
  wholeNumber,
  yesOrNo,
} from './option-kinds.ts'

/**
 * Every option of the server, declared once (contract §10). `config/default.json` and `docs/reference/options.md` are held
 * equal to this by a test.
 */

const origin = z.string().regex(/^(\*|[a-z][a-z0-9+.-]*:\/\/[^/\s]+)$/)
/** An address of IPv4 or IPv6, or a network in CIDR notation. */
const address = z
  .string()
  .regex(/^[^/]+(\/\d{1,3})?$/)
  .refine(text => {
    const [base = '', length] = text.split('/')
    const family = isIP(base)
    return family !== 0 && (length === undefined || Number(length) <= (family === 4 ? 32 : 128))
  })

const redisUrl = z.string().refine(url => {
  try {
    return parseRedisUrl(url).length > 0
  } catch {
    return false
  }
})

/** As texts such as `debug.*=1d`; two of one pattern would leave open which counts. */
const retentionRules = listOf(
  'a list of ages such as 30d (a whole number and s, m, h or d), or of keys with an age such as debug.*=1d, each key once',
  z.string().refine(text => parseRetentionRule(text) !== undefined),
)
const retention = {
  ...retentionRules,
  schema: retentionRules.schema.refine(
    rules => new Set(rules.map(rule => parseRetentionRule(rule)?.pattern)).size === rules.length,
  ),
}

export const optionDeclarations = {
  host: {
    ...text('a host name or address'),
    default: '127.0.0.1',
    meaning: 'Address to listen on; `0.0.0.0` or `::` for all.',
    reason: 'Nobody else reaches a server that was only tried out. The container sets `0.0.0.0`.',
  },
  httpPort: {
    ...wholeNumber(0, 65_535),
    default: 8080,
    meaning: 'Port of the HTTP door; 0 takes a free one, which the ready line names.',
    reason: 'Needs no privileges.',
  },
  mqttPort: {
    ...wholeNumber(0, 65_535),
    default: 1883,
    meaning: 'Port of the MQTT door; 0 takes a free one, which a line before the ready line names.',
    reason: 'The port registered for MQTT: where clients look when they are told none.',
  },
  tlsCert: {
    ...optional(text('a path')),
    default: undefined,
    meaning:
      'File of the certificate chain (PEM). With it `https`, `wss` and `mqtts` are served, too; read again when it changes.',
    reason: 'Without a certificate there is nothing to serve.',
  },
  tlsKey: {
    ...optional(text('a path')),
    default: undefined,
    meaning: 'File of the private key of `tlsCert` (PEM).',
    reason: 'As `tlsCert`.',
  },
  tlsHost: {
    ...optional(text('a host name or address')),
    default: undefined,
    meaning: 'Address on which TLS is served, if that is not `host`.',
    reason: 'With `host` on loopback and this on all addresses, nothing crosses the network in clear.',
  },
  httpsPort: {
    ...wholeNumber(0, 65_535),
    default: 8443,
    meaning: 'Port of `https` and `wss`, with `tlsCert`.',
    reason: 'Needs no privileges.',
  },
  mqttsPort: {
    ...wholeNumber(0, 65_535),
    default: 8883,
    meaning: 'Port of `mqtts`, with `tlsCert`.',
    reason: 'The port registered for MQTT over TLS.',
  },
  lenientPort: {
    ...optional(wholeNumber(0, 65_535)),
    default: undefined,
    meaning: 'Port of one more HTTP listener, for devices that end lines with LF alone.',
    reason: 'What parses such requests leniently can be made to disagree with a proxy in front of it.',
  },
  trustedProxies: {
    ...optional(listOf('a list of addresses or networks such as 10.0.0.0/8', address)),
    default: undefined,
    meaning:
      'Load balancers whose word on the address of a client is taken: `X-Forwarded-For` over HTTP, and over MQTT the PROXY protocol, which they then have to speak.',
    reason: 'Anybody else could claim any address.',
  },
  dataDir: {
    ...text('a path'),
    default: './data',
    meaning:
      'Directory of the embedded store and the admin key; made if missing. One process at a time. Not used with `redisUrl`.',
    reason: 'Beside the place where the server is started, so that it is found again.',
  },
  redisUrl: {
    ...optional(
      text(
        '`redis://[[user]:password@]host[:port][/database]`, or `rediss://` for TLS; of a cluster one node or several, with commas between them',
        redisUrl,
      ),
    ),
    default: undefined,
    secret: true,
    meaning:
      'The Redis 7 or Redis Cluster that keeps everything, in the place of the embedded store. All servers on one Redis are nodes of one service. Needs `adminKey`.',
    reason: 'One machine needs no other engine. Secret, as it may hold a password.',
  },
  redisReplicas: {
    ...wholeNumber(0, 100),
    default: 0,
    meaning: 'How many replicas of Redis must have a write in memory before it is acknowledged (`WAIT`).',
    reason: 'A single Redis has none.',
  },
  redisReplicasFsync: {
    ...yesOrNo(),
    default: false,
    meaning: 'Whether these replicas must have it on their disks, too (`WAITAOF`, from Redis 7.2 on).',
    reason: 'Each write then waits for the disks of others.',
  },
  redisAllowUnsafe: {
    ...yesOrNo(),
    default: false,
    meaning:
      'Whether to start on a Redis that may lose or evict what was acknowledged: `appendonly no`, or a `maxmemory-policy` other than `noeviction`.',
    reason: 'An acknowledgement is a promise.',
  },
  adminKey: {
    ...optional(text('at least 32 printable characters without spaces', z.string().regex(/^[!-~]{32,}$/))),
    default: undefined,
    secret: true,
    meaning: "The operator's credential.",
    reason:
      'The first start makes one of 32 random bytes and keeps it in `<dataDir>/admin-key`. With `redisUrl` it must be set, the same on every node.',
  },
  logLevel: {
    ...oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    default: 'info',
    meaning: 'Least level that is logged (JSON lines on stderr). Each request is one line at `debug`.',
    reason: 'A line per write would wear out an SD card.',
  },
  bodyLimit: {
    ...wholeNumber(1_024, 64 * 1_048_576, 'bytes'),
    default: 1_048_576,
    meaning: 'Largest request body, inflated.',
    reason: 'Ten thousand records with position and datetime just fit in it.',
  },
  maxPacketSize: {
    ...wholeNumber(1_024, 64 * 1_048_576, 'bytes'),
    default: 1_048_576,
    meaning: 'Largest MQTT packet. One that announces more closes the connection before it is buffered.',
    reason: 'As `bodyLimit`: a write may be as large through one door as through the other.',
  },
  willGrace: {
    ...wholeNumber(0, 86_400_000, 'ms'),
    default: 30_000,
    meaning:
      'How long after a start the wills of clients that were connected before it are kept, unless they are back.',
    reason: 'Devices that lost a restarting server are back by then, and need no will.',
  },
  drainTimeout: {
    ...wholeNumber(100, 600_000, 'ms'),
    default: 5_000,
    meaning:
      'How long the socket of a subscriber may take nothing of what is sent to it before it is disconnected.',
    reason: 'Long enough for a bad link to come back, and short enough for what waits to stay small.',
  },
  storeTimeout: {
    ...wholeNumber(100, 600_000, 'ms'),
    default: 5_000,
    meaning: 'How long a write may wait for its commit before it is answered with 503.',
    reason: 'Shorter than what devices commonly wait for an answer.',
  },
  shutdownTimeout: {
    ...wholeNumber(100, 600_000, 'ms'),
    default: 10_000,
    meaning:
      'How long a stop may take. Connections still open after half of it are cut; after all of it the process ends. With `redisUrl` a quarter of it comes first, in which all is served and `/readyz` says 503.',
    reason: 'What `docker stop` waits before it kills.',
  },
  durability: {
    ...oneOf(['synced', 'written']),
    default: 'synced',
    meaning:
      '`synced`: an acknowledged write survives loss of power. `written`: only the death of the process; faster. Not used with `redisUrl`: `appendfsync` of Redis says it then.',
    reason: 'An acknowledgement is a promise.',
  },
  minFreeSpace: {
    ...wholeNumber(0, Number.MAX_SAFE_INTEGER, 'bytes'),
    default: 1_073_741_824,
    meaning:
      'Free disk below which writes are answered with 503; reads go on. Not used with `redisUrl`: `maxmemory` of Redis is the bound then.',
    reason: 'Leaves the store room to compact, and the machine room to be repaired.',
  },
  retention: {
    ...optional(retention),
    default: undefined,
    meaning:
      'How old a record may grow before it is removed; the newest of each resource stays. `*` in a key stands for any characters; of several rules for one key the one that says most of it counts, whatever their order.',
    reason: 'Nothing that was acknowledged is removed unless somebody asks for it.',
  },
  allowThingDelete: {
    ...yesOrNo(),
    default: false,
    meaning: 'Whether a thing may delete its own records with its token.',
    reason: 'A token read out of a device must not be able to wipe its history.',
  },
  allowedOrigins: {
    ...listOf('a list of origins such as https://dashboard.example, or *', origin),
    default: ['*'],
    meaning: 'Web origins whose pages may call the server; `*` is any.',
    reason: 'Credentials are never ambient: a page has only those that it was given.',
  },
  ...limitDeclarations,
} as const satisfies Record<string, OptionDeclaration>

export type OptionName = keyof typeof optionDeclarations

/** All options with their values; sizes in bytes, times in milliseconds. */
export type ServerOptions = {
  readonly [Name in OptionName]: z.output<(typeof optionDeclarations)[Name]['schema']>
}

export const optionNames = Object.keys(optionDeclarations) as readonly OptionName[]

/** The declaration of one option, without its own type: for what treats all options alike. */
export function declarationOf(name: OptionName): OptionDeclaration {
  return optionDeclarations[name]
}

/** `httpPort` → `THINGWIRE_HTTP_PORT`. */
export function environmentName(name: OptionName): string {
  return `THINGWIRE_${words(name, '_').toUpperCase()}`
}

/** `httpPort` → `http-port`. */
export function flagName(name: OptionName): string {
  return words(name, '-')
}

function words(name: string, separator: string): string {
  return name.replace(/[A-Z]/g, capital => separator + capital.toLowerCase())
}
