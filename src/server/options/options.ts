import { isIP } from 'node:net'
import { z } from 'zod'
import { adminKeyRule } from '../../access/admin-key.ts'
import {
  listOf,
  type OptionDeclaration,
  oneOf,
  optional,
  text,
  wholeNumber,
  yesOrNo,
} from '../../core/options/option-kinds.ts'
import { faultOfServed } from '../../core/topics/topic-grant.ts'
import { parseTargetUrl, targetRule } from '../../forward/target.ts'
import { parseRetentionRule } from '../../retention/rules.ts'
import { levelStoreRules } from '../../store/level/database/option-rules.ts'
import { redisStoreRules } from '../../store/redis/connection/option-rules.ts'
import { limitDeclarations } from './limit-options.ts'

/** The options (contract §10). Tests compare these declarations with `config/default.json` and `docs/reference/options.md`. */

const origin = z.string().regex(/^(\*|[a-z][a-z0-9+.-]*:\/\/[^/\s]+)$/)
/** An IPv4 or IPv6 address, or a network in CIDR notation. */
const address = z
  .string()
  .regex(/^[^/]+(\/\d{1,3})?$/)
  .refine(text => {
    const [base = '', length] = text.split('/')
    const family = isIP(base)
    return family !== 0 && (length === undefined || Number(length) <= (family === 4 ? 32 : 128))
  })

/** Rules such as `debug.*=1d`. A pattern may occur only once: with two ages, it would be unclear which applies. */
const retentionRules = listOf(
  'a list of ages such as 30d (a whole number and s, m, h or d) or keys with an age such as debug.*=1d, each key once',
  z.string().refine(text => parseRetentionRule(text) !== undefined),
)
const retention = {
  ...retentionRules,
  schema: retentionRules.schema.refine(
    rules => new Set(rules.map(rule => parseRetentionRule(rule)?.pattern)).size === rules.length,
  ),
}

const optionDeclarations = {
  host: {
    ...text('a host name or address'),
    default: '127.0.0.1',
    meaning: 'Address to listen on; `0.0.0.0` or `::` for all.',
    reason: 'A first try is not open to the network. The container sets `0.0.0.0`.',
  },
  httpPort: {
    ...wholeNumber(0, 65_535),
    default: 8080,
    meaning: 'Port of HTTP; 0 chooses a free port, and the ready line shows it.',
    reason: 'Needs no privileges.',
  },
  mqttPort: {
    ...wholeNumber(0, 65_535),
    default: 1883,
    meaning: 'Port of MQTT; 0 chooses a free port, and the line before the ready line shows it.',
    reason: 'The registered port of MQTT, and the default of clients.',
  },
  tlsCert: {
    ...optional(text('a path')),
    meaning:
      'File of the certificate chain (PEM). The server then also serves `https`, `wss` and `mqtts`, and reads a changed file again.',
    reason: 'TLS needs a certificate.',
  },
  tlsKey: {
    ...optional(text('a path')),
    meaning: 'File of the private key of `tlsCert` (PEM).',
    reason: 'As `tlsCert`.',
  },
  tlsHost: {
    ...optional(text('a host name or address')),
    meaning: 'Address for TLS, if it differs from `host`.',
    reason:
      'With `host` on loopback and `tlsHost` on all addresses, nothing crosses the network in clear text.',
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
    meaning: 'Port of an extra HTTP listener for devices that end lines with LF alone.',
    reason:
      'A lenient parser and a proxy in front of it can read one request differently (request smuggling).',
  },
  trustedProxies: {
    ...optional(listOf('a list of addresses or networks such as 10.0.0.0/8', address)),
    meaning:
      'Proxies and load balancers that may state the address of a client: in `X-Forwarded-For` over HTTP, and in the PROXY protocol over MQTT, which they then must speak.',
    reason: 'Any client could claim any address.',
  },
  dataDir: {
    ...text('a path, not -', z.string().regex(/^(?!-$)/)),
    default: './data',
    meaning:
      'Directory of the embedded store and the admin key; created if missing. Only one process can use it at a time. Not used with `redisUrl`.',
    reason: 'Easy to find: below the directory of the start.',
  },
  redisUrl: {
    ...optional(redisStoreRules.url),
    secret: true,
    meaning:
      'The Redis 7 or Redis Cluster that replaces the embedded store. All servers on one Redis are nodes of one service. Needs `adminKey`.',
    reason: 'One machine needs no Redis. Secret, because it may contain a password.',
  },
  redisReplicas: {
    ...redisStoreRules.replicas,
    default: 0,
    meaning: 'Number of Redis replicas that must have a write in memory before its ack (`WAIT`).',
    reason: 'A single Redis has no replicas.',
  },
  redisReplicasFsync: {
    ...redisStoreRules.replicasFsync,
    default: false,
    meaning: 'Whether these replicas must also have the write on disk (`WAITAOF`, from Redis 7.2 on).',
    reason: 'Each write then waits for the disks of the replicas.',
  },
  redisAllowUnsafe: {
    ...redisStoreRules.allowUnsafe,
    default: false,
    meaning:
      'Whether to start on a Redis that may lose or evict acknowledged writes: `appendonly no`, or a `maxmemory-policy` other than `noeviction`.',
    reason: 'An acknowledgement is a promise.',
  },
  adminKey: {
    ...optional(adminKeyRule),
    secret: true,
    meaning: "The operator's credential.",
    reason:
      'The first start creates a key of 32 random bytes and keeps it in `<dataDir>/admin-key`. With `redisUrl` the operator must set it, the same on every node.',
  },
  logLevel: {
    ...oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    default: 'info',
    meaning:
      'Lowest level of the log on stderr: lines for people on a terminal, JSON lines elsewhere. Each request is one line at `debug`.',
    reason: 'A line for each write would wear out an SD card.',
  },
  bodyLimit: {
    ...wholeNumber(1_024, 64 * 1_048_576, 'bytes'),
    default: 1_048_576,
    meaning: 'Largest request body, after decompression.',
    reason: 'Ten thousand records with position and datetime just fit.',
  },
  maxPacketSize: {
    ...wholeNumber(1_024, 64 * 1_048_576, 'bytes'),
    default: 1_048_576,
    meaning: 'Largest MQTT packet. A larger one closes the connection before it is buffered.',
    reason: 'As `bodyLimit`: a write may be as large over MQTT as over HTTP.',
  },
  sourcePacketSize: {
    ...wholeNumber(1_024, 64 * 1_048_576, 'bytes'),
    default: 8 * 1_048_576,
    meaning: 'Largest MQTT packet of a source, once it has connected over TCP or TLS.',
    reason:
      'A gateway announces all its devices in one message; if it is closed for that, it comes again for ever.',
  },
  willGrace: {
    ...wholeNumber(0, 86_400_000, 'ms'),
    default: 30_000,
    meaning:
      'Time after a start in which clients from before can come back. Then the server writes the wills of the missing clients.',
    reason: 'Devices are back within this time after a restart of the server.',
  },
  drainTimeout: {
    ...wholeNumber(100, 600_000, 'ms'),
    default: 5_000,
    meaning: 'Time for which the socket of a subscriber may accept no data before the server disconnects it.',
    reason: 'Long enough for a bad link to recover, short enough to keep the waiting messages few.',
  },
  storeTimeout: {
    ...wholeNumber(100, 600_000, 'ms'),
    default: 5_000,
    meaning: 'Time for which a write may wait for its commit before it gets a 503.',
    reason: 'Devices commonly wait longer for an answer.',
  },
  shutdownTimeout: {
    ...wholeNumber(100, 600_000, 'ms'),
    default: 10_000,
    meaning:
      'Time that a stop may take. After half of it the server cuts the open connections; after all of it the process ends. With `redisUrl` the server first keeps serving for a quarter of it, and `/readyz` answers 503.',
    reason: '`docker stop` waits as long before it kills.',
  },
  durability: {
    ...levelStoreRules.durability,
    default: 'synced',
    meaning:
      '`synced`: an acknowledged write survives loss of power. `written`: it survives the death of the process only; faster. Not used with `redisUrl`: there `appendfsync` of Redis decides.',
    reason: 'An acknowledgement is a promise.',
  },
  minFreeSpace: {
    ...levelStoreRules.minFreeSpace,
    default: 1_073_741_824,
    meaning:
      'Free disk space below which writes get a 503; reads and removals continue. Not used with `redisUrl`: there `maxmemory` of Redis is the limit.',
    reason: 'The store can still compact, and the operator can still work on the machine.',
  },
  retention: {
    ...optional(retention),
    meaning:
      'Age at which a record is removed; the newest record of each resource stays. `*` in a key stands for any characters. If several rules match a key, the most specific rule applies, in any order of the list.',
    reason: 'An acknowledged record is removed only on request.',
  },
  topics: {
    ...optional(
      listOf(
        'a list of topic filters such as tele/# whose first level is not a wildcard, things or v2, and does not begin with $',
        z.string().refine(filter => faultOfServed(filter) === undefined),
      ),
    ),
    faultOf: faultOfTopics,
    default: undefined,
    meaning:
      'Topics besides those of things that the server relays, for the sessions and things that are given them (contract §7.10).',
    reason: 'A server for readings alone has nothing more to protect.',
  },
  allowThingDelete: {
    ...yesOrNo(),
    default: false,
    meaning: 'Whether a thing may delete its own records with its token.',
    reason: 'A token that was read out of a device cannot delete its history.',
  },
  allowedOrigins: {
    ...listOf('a list of origins such as https://dashboard.example, or *', origin),
    default: ['*'],
    meaning: 'Web origins whose pages may call the server; `*` allows all.',
    reason: 'There are no cookies: a page has only the credentials that it was given.',
  },
  publicMetrics: {
    ...yesOrNo(),
    default: false,
    meaning: 'Whether `/metrics` needs no admin key from anywhere.',
    reason:
      'The figures show how much a service is used. A Prometheus on the same machine needs no key anyway.',
  },
  forward: {
    ...optional(
      text(
        targetRule,
        z.string().refine(url => parseTargetUrl(url) !== undefined),
      ),
    ),
    meaning:
      'Central server to which the records of the things of `forwardThings` are forwarded, such as `mqtts://central.example`. Needs the embedded store.',
    reason: 'Records leave the machine only on request.',
  },
  forwardThings: {
    ...optional(text('a path')),
    meaning:
      'File (JSON, mode 0600) with the token at the central server for each thing that is forwarded. The server reads a changed file again.',
    reason: 'There is no forwarding without tokens.',
  },
  forwardCa: {
    ...optional(text('a path')),
    meaning:
      'File of the certificates (PEM) by which the central server is recognised, in place of those of the system.',
    reason: 'Most central servers have a certificate of a public authority.',
  },
  forwardBytesPerSecond: {
    ...optional(wholeNumber(100, 1_000_000_000, 'bytes')),
    meaning: 'Bytes of writes that are sent to the central server a second.',
    reason: 'A backlog is sent as fast as the link and the central server allow.',
  },
  forwardLogLimit: {
    ...wholeNumber(1_048_576, Number.MAX_SAFE_INTEGER, 'bytes'),
    default: 4_294_967_296,
    meaning:
      'Bytes of records that may wait for the central server. Beyond that the oldest are no longer forwarded: the log, the metrics and `thingwire doctor` say so. They stay in the store.',
    reason:
      'Ten records a second fit for several weeks, and an outage that does not end does not fill the disk.',
  },
  ...limitDeclarations,
} as const satisfies Record<string, OptionDeclaration>

function faultOfTopics(value: unknown): string | undefined {
  if (!Array.isArray(value)) return undefined
  return value.map(item => (typeof item === 'string' ? faultOfServed(item) : undefined)).find(fault => fault)
}

export type OptionName = keyof typeof optionDeclarations

/** All options with their values; sizes in bytes, times in milliseconds. */
export type ServerOptions = {
  readonly [Name in OptionName]: z.output<(typeof optionDeclarations)[Name]['schema']>
}

export const optionNames = Object.keys(optionDeclarations) as readonly OptionName[]

/** The declaration of an option, for code that treats all options alike. */
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

/** One line for each option in `thingwire --help`. */
export function optionsHelp(): string {
  return optionNames
    .filter(name => !declarationOf(name).secret)
    .map(name => `  --${flagName(name).padEnd(20)} ${plain(name)}`)
    .join('\n')
}

function plain(name: OptionName): string {
  const { meaning, unit, default: value } = declarationOf(name)
  const text = meaning.replaceAll('`', '')
  return value === undefined ? text : `${text} Default ${value}${unit ? ` ${unit}` : ''}.`
}
