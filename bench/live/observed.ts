import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { preload } from '../../test/helpers/preload.ts'
import { noRateLimits, type ServerProcess, startServer } from '../../test/helpers/server-process.ts'
import type { EventLoopDelay } from './observer.ts'

/** A process of which the event loop is watched from inside. */
export interface Observed {
  /** What was seen since the last call. */
  eventLoopDelay(): Promise<EventLoopDelay>
  stop(): Promise<unknown>
}

export interface ObservedServer extends Observed {
  readonly server: ServerProcess
  /** Resident memory now, bytes; Linux only. */
  residentMemory(): number
}

/** The server as users run it, watched. */
export async function startObservedServer(dataDir: string, adminKey: string): Promise<ObservedServer> {
  const socketPath = join(dataDir, 'server.sock')
  const server = await startServer({
    dataDir,
    environment: { ...environmentOf(socketPath), ...noRateLimits, THINGWIRE_ADMIN_KEY: adminKey },
  })
  return {
    server,
    eventLoopDelay: () => ask(socketPath),
    residentMemory: () => {
      const status = readFileSync(`/proc/${server.process.pid}/status`, 'utf8')
      return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) * 1024
    },
    stop: () => server.stop(),
  }
}

/** A process that does nothing, watched in the same way: what the machine itself costs in the same minute. */
export async function startIdleProcess(dataDir: string): Promise<Observed> {
  const socketPath = join(dataDir, `idle-${randomUUID()}.sock`)
  const child = fork(fileURLToPath(new URL('idle.ts', import.meta.url)), {
    execArgv: ['--import', import.meta.resolve('tsx')],
    env: { ...process.env, ...environmentOf(socketPath) },
  })
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the idle process ended')))
  await Promise.race([once(child, 'message'), ended])
  ended.catch(() => {})
  return {
    eventLoopDelay: () => ask(socketPath),
    stop: async () => {
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
    },
  }
}

function environmentOf(socketPath: string): NodeJS.ProcessEnv {
  return { ...preload(new URL('observer.ts', import.meta.url)), BENCH_OBSERVER: socketPath }
}

async function ask(path: string): Promise<EventLoopDelay> {
  return JSON.parse(await text(connect(path))) as EventLoopDelay
}
