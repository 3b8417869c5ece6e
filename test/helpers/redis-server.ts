import type { ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Child } from './child.ts'

/** Below those that systems hand out, and above those that services are known by. */
const reservedPorts = { first: 20_000, last: 32_000 }

export interface RedisSetup {
  /** Directives of redis.conf, on top of: every write in the append-only file before it is answered. */
  readonly config?: Readonly<Record<string, string>>
  /** Absent: a free one. */
  readonly port?: number
  /** Where it keeps its files. Absent: one of its own, which `end` removes. */
  readonly directory?: string
}

/** A redis-server of one's own on 127.0.0.1. Whoever starts it ends it. */
export interface RedisServer {
  readonly url: string
  readonly port: number
  readonly directory: string
  /** The one that was started last. */
  readonly process: ChildProcess
  /** SIGTERM; resolves when it is gone. What is stored stays for `restart`. */
  stop(): Promise<void>
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
  /** Starts it again, on the same port and files, once it is gone (SIGTERM); resolves when it answers. */
  restart(): Promise<void>
  /** SIGKILL, and its own directory is removed. */
  end(): Promise<void>
}

/**
 * Starts redis-server and waits until it answers.
 *
 * @throws Error with its output if it ends before that, or how to install it where there is none
 */
export async function startRedis({ config = {}, port, directory }: RedisSetup = {}): Promise<RedisServer> {
  const home = directory ?? (await mkdtemp(join(tmpdir(), 'thingwire-redis-')))
  const removeHome = async () => {
    if (directory === undefined) await rm(home, { recursive: true, force: true })
  }
  const chosen = port ?? (await freePort())
  const place = { bind: '127.0.0.1', port: String(chosen), dir: home }
  const launchAgain = () =>
    launch({ ...place, appendonly: 'yes', appendfsync: 'always', save: '', ...config })
  let launched: Child
  try {
    launched = await launchAgain()
  } catch (error) {
    await removeHome()
    // Somebody else has taken the port since it was free.
    if (port === undefined && `${error}`.includes('Address already in use'))
      return await startRedis({ config, ...(directory === undefined ? {} : { directory }) })
    throw error
  }
  const end = async (signal: NodeJS.Signals) => {
    launched.process.kill(signal)
    // One that was stopped (SIGSTOP) takes no other signal but this and SIGKILL.
    launched.process.kill('SIGCONT')
    // Its own children have its output open, too: one that rewrites a file outlives SIGKILL.
    await launched.exited
  }
  return {
    url: `redis://127.0.0.1:${chosen}`,
    port: chosen,
    directory: home,
    get process() {
      return launched.process
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    restart: async () => {
      await end('SIGTERM')
      launched = await launchAgain()
    },
    end: async () => {
      await end('SIGKILL')
      await removeHome()
    },
  }
}

/** Whether nothing listens at a port of 127.0.0.1. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}

/**
 * A port that is free, and that the system gives to nobody who asks it for any: what listens there can be restarted
 * while others come and go.
 */
export async function freePort(): Promise<number> {
  const { first, last } = reservedPorts
  const port = randomInt(first, last + 1)
  return (await isFree(port)) ? port : await freePort()
}

async function launch(config: Readonly<Record<string, string>>): Promise<Child> {
  const args = Object.entries(config).flatMap(([name, value]) => [`--${name}`, value])
  const child = new Child('redis-server', args, { debianPackage: 'redis-server' })
  const killWithUs = () => void child.process.kill('SIGKILL')
  process.once('exit', killWithUs)
  child.process.once('exit', () => void process.off('exit', killWithUs))
  // Its log says so, whatever password or certificate a connection would need.
  await child.until('output', /Ready to accept connections/)
  return child
}
