import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { Child, type ChildOptions, type Exit } from '../helpers/child.ts'
import type { ServerProcess } from '../helpers/server-process.ts'

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
/** How long is waited for what a command says, milliseconds. */
const deadline = 90_000

export interface RunningCommand {
  readonly process: ChildProcess
  readonly ended: Promise<Exit>
  /** Resolves when stdout holds a match. @throws Error if it ends before, or is silent for long */
  said(pattern: RegExp): Promise<unknown>
  /** As `said`, of stderr. */
  told(pattern: RegExp): Promise<unknown>
}

export interface CommandSetup extends Pick<ChildOptions, 'input' | 'isInputOpen'> {
  /** Its URL and admin key are in the environment. */
  readonly server?: Pick<ServerProcess, 'url'> & { readonly adminKey?: string }
  readonly environment?: NodeJS.ProcessEnv
}

/** Starts `thingwire` as a user would; ended with the test at the latest. */
export function startCommand(args: readonly string[], setup: CommandSetup = {}): RunningCommand {
  const { server, environment = {}, input, isInputOpen } = setup
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('THINGWIRE_'))
  const env = {
    ...Object.fromEntries(inherited),
    ...(server ? { THINGWIRE_URL: server.url } : {}),
    ...(server?.adminKey === undefined ? {} : { THINGWIRE_ADMIN_KEY: server.adminKey }),
    ...environment,
  }
  const child = new Child(process.execPath, [program, ...args], { env, input, isInputOpen })
  onTestFinished(async () => void (await child.end('SIGKILL')))
  return {
    process: child.process,
    ended: child.exited,
    said: pattern => child.until('stdout', pattern, deadline),
    told: pattern => child.until('stderr', pattern, deadline),
  }
}

/** Runs `thingwire` to its end. */
export function runCommand(args: readonly string[], setup: CommandSetup = {}): Promise<Exit> {
  return startCommand(args, setup).ended
}

/** The JSON that a command says with `--json`. @throws Error with what it said if it fails */
export async function jsonOf<Answer>(args: readonly string[], setup: CommandSetup = {}): Promise<Answer> {
  const { code, stdout, stderr } = await runCommand([...args, '--json'], setup)
  if (code !== 0) throw new Error(`exit status ${code}: ${stderr}`)
  return JSON.parse(stdout) as Answer
}
