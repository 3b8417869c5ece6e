import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

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
  const launchAgain = () => launch({ ...directives(home, chosen), ...config })
  let launched: Launched
  try {
    launched = await launchAgain()
  } catch (error) {
    await removeHome()
    // Somebody else has taken the port since it was free.
    if (port === undefined && isPortTaken(error))
      return await startRedis({ config, ...(directory === undefined ? {} : { directory }) })
    throw error
  }
  const end = async (signal: NodeJS.Signals) => {
    const { child, closed } = launched
    child.kill(signal)
    // One that was stopped (SIGSTOP) takes no other signal but this and SIGKILL.
    child.kill('SIGCONT')
    await closed
  }
  return {
    url: `redis://127.0.0.1:${chosen}`,
    port: chosen,
    directory: home,
    get process() {
      return launched.child
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

function isPortTaken(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Address already in use')
}

/**
 * A port that is free, and that the system gives to nobody who asks it for any: what listens there can be restarted
 * while others come and go.
 */
export async function freePort(): Promise<number> {
  const { first, last } = reservedPorts
  const port = randomInt(first, last + 1)
  const server = createServer().listen(port, '127.0.0.1')
  const isFree = await once(server, 'listening').then(
    () => true,
    () => false,
  )
  if (!isFree) return await freePort()
  server.close()
  await once(server, 'close')
  return port
}

function directives(directory: string, port: number): Record<string, string> {
  return {
    bind: '127.0.0.1',
    port: String(port),
    dir: directory,
    appendonly: 'yes',
    appendfsync: 'always',
    save: '',
  }
}

interface Launched {
  readonly child: ChildProcess
  /** Resolves when its own children, which have its output open, too, are gone: one that rewrites a file outlives SIGKILL. */
  readonly closed: Promise<unknown>
}

async function launch(config: Readonly<Record<string, string>>): Promise<Launched> {
  const args = Object.entries(config).flatMap(([name, value]) => [`--${name}`, value])
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const killWithUs = () => void child.kill('SIGKILL')
  process.once('exit', killWithUs)
  child.once('exit', () => void process.off('exit', killWithUs))
  const closed = once(child, 'close')
  // One that was not found is told of below.
  closed.catch(() => {})
  await answering(child)
  return { child, closed }
}

/** Its log says so, whatever password or certificate a connection would need. */
function answering(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = ''
    const read = (part: Buffer) => {
      if (output.includes('Ready to accept connections')) return
      output += part.toString()
      if (output.includes('Ready to accept connections')) resolve()
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('error', (error: NodeJS.ErrnoException) => {
      const missing = 'redis-server is not installed: apt install redis-server'
      reject(error.code === 'ENOENT' ? new Error(missing) : error)
    })
    child.once('exit', () => reject(new Error(`redis-server ended before it was ready:\n${output}`)))
  })
}
