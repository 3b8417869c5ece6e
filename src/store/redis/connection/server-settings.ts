import { type Redis, ReplyError } from 'ioredis'

/** Settings of a server; a setting is undefined if the server does not reveal it. */
export interface ServerSettings {
  /** For example `7.0.15`. */
  readonly version: string | undefined
  readonly isReplica: boolean
  /** `yes` or `no`. */
  readonly appendonly: string | undefined
  /** `always`, `everysec` or `no`. */
  readonly appendfsync: string | undefined
  /** no-appendfsync-on-rewrite: `yes` or `no`. */
  readonly isFsyncOffInRewrite: string | undefined
  /** maxmemory-policy. */
  readonly policy: string | undefined
  /** Bytes; `0` if there is no limit. */
  readonly maxmemory: string | undefined
  /** Bytes. */
  readonly usedMemory: string | undefined
  readonly replicas: number | undefined
}

/** Uses CONFIG and INFO. A managed Redis may forbid CONFIG; INFO then still has some of the settings. */
export async function serverSettings(server: Redis): Promise<ServerSettings> {
  const [info, config] = await Promise.all([readInfo(server), readConfig(server)])
  const replicas = info.get('connected_slaves')
  const yesNo = { '0': 'no', '1': 'yes' }[info.get('aof_enabled') ?? '']
  return {
    version: info.get('redis_version'),
    isReplica: info.get('role') === 'slave',
    appendonly: config.get('appendonly') ?? yesNo,
    appendfsync: config.get('appendfsync'),
    isFsyncOffInRewrite: config.get('no-appendfsync-on-rewrite'),
    policy: config.get('maxmemory-policy') ?? info.get('maxmemory_policy'),
    maxmemory: config.get('maxmemory') ?? info.get('maxmemory'),
    usedMemory: info.get('used_memory'),
    replicas: replicas === undefined ? undefined : Number(replicas),
  }
}

async function readInfo(server: Redis): Promise<ReadonlyMap<string, string>> {
  const text = await unlessForbidden(server.info())
  return new Map(
    [...(text ?? '').matchAll(/^(\w+):(.*?)\r?$/gm)].map(([, name = '', value = '']) => [name, value]),
  )
}

async function readConfig(server: Redis): Promise<ReadonlyMap<string, string>> {
  const names = ['appendonly', 'appendfsync', 'no-appendfsync-on-rewrite', 'maxmemory', 'maxmemory-policy']
  const answers = await Promise.all(names.map(name => unlessForbidden(server.config('GET', name))))
  return new Map((answers as (readonly string[] | undefined)[]).flatMap(pairOf))
}

function pairOf(answer: readonly string[] | undefined): [string, string][] {
  const [name, value] = answer ?? []
  return name === undefined || value === undefined ? [] : [[name, value]]
}

/** @throws Error of the connection */
async function unlessForbidden<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof ReplyError) return undefined
    throw error
  }
}
