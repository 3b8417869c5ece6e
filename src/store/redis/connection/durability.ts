import type { Client } from '../script.ts'
import { mastersOf } from './connection.ts'
import { shownAddress } from './redis-url.ts'
import { type ServerSettings, serverSettings } from './server-settings.ts'

export interface DurabilityOptions {
  /** Whether to accept, with a warning, a Redis that may lose or evict acknowledged writes. Default false. */
  readonly allowUnsafe?: boolean
  /** How many replicas must have a write before it is acknowledged. Default 0. */
  readonly replicas?: number
  /** Whether these replicas must also have the write on disk; needs Redis 7.2 or later. Default false. */
  readonly replicasFsync?: boolean
}

/**
 * Checks whether the server, or in a cluster every master, keeps acknowledged writes.
 *
 * @returns lines for the operator: how durable an acknowledged write is, and warnings about unsafe or unknown settings
 * @throws Error for the operator: Redis is older than 7.0 or, with `replicasFsync`, than 7.2; it is a replica; or, unless
 * `allowUnsafe` is set, it has no append-only file or may evict keys
 */
export async function checkDurability(client: Client, options: DurabilityOptions) {
  const statements = new Set<string>()
  const warnings = new Set<string>()
  for (const master of mastersOf(client)) {
    const settings = await serverSettings(master)
    const name = `Redis at ${shownAddress(master.options)}`
    const say: Say = {
      state: text => void statements.add(text),
      warn: text => void warnings.add(`${name}: ${text}`),
      refuse: text => {
        throw new Error(`${name}: ${text}`)
      },
      unsafe: text => {
        if (options.allowUnsafe) say.warn(`UNSAFE, but allowed by redisAllowUnsafe: ${text}`)
        else say.refuse(text)
      },
    }
    for (const check of checks) check(settings, options, say)
  }
  return { statements: [...statements], warnings: [...warnings] }
}

interface Say {
  state(text: string): void
  warn(text: string): void
  refuse(text: string): never
  /** Refuses the server, or with `allowUnsafe` only warns. */
  unsafe(text: string): void
}

type Check = (settings: ServerSettings, options: DurabilityOptions, say: Say) => void

const checkVersion: Check = ({ version }, { replicasFsync }, { refuse, warn }) => {
  if (version === undefined)
    return warn('the version could not be checked, because INFO is forbidden: it must be 7.0 or later')
  if (isOlder(version, 7, 0)) refuse(`it is Redis ${version}, but it must be 7.0 or later`)
  if (replicasFsync && isOlder(version, 7, 2)) {
    refuse(`redisReplicasFsync (WAITAOF) needs Redis 7.2 or later, but it is ${version}`)
  }
}

const checkRole: Check = ({ isReplica }, _options, { refuse }) => {
  if (isReplica) refuse('it is a replica and accepts no writes: use the URL of its master')
}

const checkAppendOnly: Check = ({ appendonly }, _options, { warn, unsafe }) => {
  if (appendonly === undefined) warn('appendonly could not be checked: it must be yes')
  else if (appendonly !== 'yes')
    unsafe('appendonly is no: Redis loses acknowledged writes when it stops. Set appendonly yes')
}

const checkFsync: Check = ({ appendonly, appendfsync, isFsyncOffInRewrite }, options, say) => {
  if (appendonly === 'no') return
  const replicas = ofReplicas(options)
  if (appendfsync === 'always')
    say.state(`an ack means: the write is on the disk of Redis (appendfsync always)${replicas}`)
  else if (appendfsync === 'everysec' || appendfsync === 'no') {
    const lost = appendfsync === 'everysec' ? 'the last second or two' : 'the last half minute or so'
    say.warn(
      `an ack means: Redis has the write, but loss of power can lose ${lost} (appendfsync ${appendfsync})${replicas}`,
    )
  } else
    say.warn(
      `appendfsync could not be checked: unless it is always, loss of power loses acknowledged writes${replicas}`,
    )
  if (appendfsync === 'always' && isFsyncOffInRewrite === 'yes') {
    say.warn(
      'no-appendfsync-on-rewrite is yes: while Redis rewrites its file, loss of power can lose acknowledged writes',
    )
  }
}

const checkEviction: Check = ({ policy, maxmemory }, _options, { warn, unsafe }) => {
  if (policy === undefined) warn('maxmemory-policy could not be checked: it must be noeviction')
  else if (policy !== 'noeviction') {
    const advice = 'Set maxmemory-policy noeviction'
    unsafe(`maxmemory-policy is ${policy}: Redis may evict acknowledged writes. ${advice}`)
  }
  if (maxmemory === '0') warn('maxmemory is 0: Redis uses memory until the system kills it. Set a limit')
}

const checkReplicas: Check = ({ replicas: there }, { replicas: wanted = 0 }, { warn }) => {
  if (there === undefined || there >= wanted) return
  warn(`${there} replicas are connected, but redisReplicas is ${wanted}: no write will be acknowledged`)
}

const checks = [checkVersion, checkRole, checkAppendOnly, checkFsync, checkEviction, checkReplicas]

function ofReplicas({ replicas = 0, replicasFsync }: DurabilityOptions): string {
  if (replicas === 0) return ''
  const where = replicasFsync ? 'on the disks' : 'in the memory'
  return `, and ${where} of ${replicas} ${replicas === 1 ? 'replica' : 'replicas'}`
}

function isOlder(version: string, major: number, minor: number): boolean {
  const [itsMajor = 0, itsMinor = 0] = version.split('.').map(Number)
  return itsMajor < major || (itsMajor === major && itsMinor < minor)
}
