import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { ServerProcess } from '../helpers/server-process.ts'

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
/** How long is waited for what a command says, milliseconds. */
const deadline = 90_000

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunningCommand {
  readonly process: ChildProcess
  readonly ended: Promise<Ended>
  /** Resolves when stdout holds a match. @throws Error if it ends before, or is silent for long */
  said(pattern: RegExp): Promise<void>
  /** As `said`, of stderr. */
  told(pattern: RegExp): Promise<void>
}

export interface CommandSetup {
  /** Its URL and admin key are in the environment. */
  readonly server?: Pick<ServerProcess, 'url'> & { readonly adminKey?: string }
  readonly environment?: NodeJS.ProcessEnv
  readonly input?: string
}

/** Starts `thingwire` as a user would; ended with the test at the latest. */
export function startCommand(args: readonly string[], setup: CommandSetup = {}): RunningCommand {
  const { server, environment = {}, input } = setup
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('THINGWIRE_'))
  const child = spawn(process.execPath, [program, ...args], {
    env: {
      ...Object.fromEntries(inherited),
      ...(server ? { THINGWIRE_URL: server.url } : {}),
      ...(server?.adminKey === undefined ? {} : { THINGWIRE_ADMIN_KEY: server.adminKey }),
      ...environment,
    },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  child.stdin?.end(input)
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (part: string) => {
      output[name] += part
    })
  }
  const ended = once(child, 'close').then(([code]): Ended => ({ code, ...output }))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const until = async (name: 'stdout' | 'stderr', pattern: RegExp) => {
    const signal = AbortSignal.timeout(deadline)
    const isOver = () => signal.aborted || child.exitCode !== null
    while (!pattern.test(output[name])) {
      if (isOver()) throw new Error(`it did not say ${pattern}: ${JSON.stringify(output)}`)
      await Promise.race([once(child[name] ?? child, 'data', { signal }).catch(() => {}), ended])
    }
  }
  return {
    process: child,
    ended,
    said: pattern => until('stdout', pattern),
    told: pattern => until('stderr', pattern),
  }
}

/** Runs `thingwire` to its end. */
export function runCommand(args: readonly string[], setup: CommandSetup = {}): Promise<Ended> {
  return startCommand(args, setup).ended
}

/** The JSON that a command says with `--json`. @throws Error with what it said if it fails */
export async function jsonOf<Answer>(args: readonly string[], setup: CommandSetup = {}): Promise<Answer> {
  const { code, stdout, stderr } = await runCommand([...args, '--json'], setup)
  if (code !== 0) throw new Error(`exit status ${code}: ${stderr}`)
  return JSON.parse(stdout) as Answer
}
