import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { built } from './built.ts'
import { Child, type Exit } from './child.ts'

export type { Exit } from './child.ts'

const ownCommand = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const tsx = import.meta.resolve('tsx')
const readyLines = /^MQTT at (\S+), over WebSocket at (\S+)\nThingwire is ready at (\S+)$/m

/** The environment of a server that takes from one thing whatever it can: the limits are on, and above any load. */
export const noRateLimits = {
  THINGWIRE_WRITES_PER_SECOND: '1000000',
  THINGWIRE_RECORDS_PER_SECOND: '100000000',
} as const

export interface CliSetup {
  /** Command line after `thingwire`. */
  readonly args?: readonly string[]
  /** Variables on top of this process's own, of which none named THINGWIRE_ is passed on. */
  readonly environment?: NodeJS.ProcessEnv
  /** What is run instead of the command: a file, in TypeScript, that takes the same arguments. */
  readonly program?: string
  /** The built command, `dist/cli/main.js` of some tree. Default: that of this one. */
  readonly command?: string | undefined
  /** How many descriptors the process may have. Default: as many as this one. */
  readonly descriptors?: number
}

export interface ServerSetup extends CliSetup {
  /** Absent where the environment has a Redis and an admin key. */
  readonly dataDir?: string
  /** Of the command. Default: `start`. */
  readonly subcommand?: 'start' | 'forward'
}

export interface ServerProcess {
  /** Without a slash at its end. */
  readonly url: string
  readonly mqttUrl: string
  readonly webSocketUrl: string
  readonly adminKey: string
  readonly process: ChildProcess
  /** Resolves when the process is gone and its output is complete. */
  readonly exited: Promise<Exit>
  /** Resolves with the first match when stderr, the log, holds one. */
  logged(pattern: RegExp): Promise<RegExpExecArray>
  /** SIGTERM. */
  stop(): Promise<Exit>
  /** SIGKILL. */
  kill(): Promise<Exit>
}

/** Runs the command to its end. */
export async function runCli(setup: CliSetup): Promise<Exit> {
  await built()
  return await launch(setup).exited
}

/**
 * Starts the server as a process of its own, on free ports, and waits until it is ready. Whoever starts it ends it.
 *
 * @throws Error with the output if it ends before it is ready
 */
export async function startServer({
  dataDir,
  args = [],
  environment = {},
  subcommand = 'start',
  ...setup
}: ServerSetup): Promise<ServerProcess> {
  await built()
  const place = dataDir === undefined ? [] : ['--data-dir', dataDir]
  const child = launch({
    ...setup,
    args: [subcommand, ...place, '--http-port', '0', '--mqtt-port', '0', ...args],
    environment: { THINGWIRE_MIN_FREE_SPACE: '0', ...environment },
  })
  const [, mqttUrl = '', webSocketUrl = '', url = ''] = await child.until('stdout', readyLines)
  return {
    url,
    mqttUrl,
    webSocketUrl,
    adminKey:
      environment.THINGWIRE_ADMIN_KEY ?? (await readFile(join(dataDir ?? '', 'admin-key'), 'utf8')).trim(),
    process: child.process,
    exited: child.exited,
    logged: pattern => child.until('stderr', pattern),
    stop: () => child.end('SIGTERM'),
    kill: () => child.end('SIGKILL'),
  }
}

function launch({
  args = [],
  environment = {},
  program,
  command = ownCommand,
  descriptors,
}: CliSetup): Child {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('THINGWIRE_'))
  const run = program === undefined ? [command] : ['--import', tsx, program]
  const started = firstLineOf(command)
  const flags = started.filter(word => word.startsWith('--'))
  const node = [process.execPath, ...flags, ...run, ...args]
  const limited = ['sh', '-c', `ulimit -n ${descriptors} && exec "$0" "$@"`, ...node]
  const [file = '', ...rest] = descriptors === undefined ? node : limited
  const own = started
    .filter(word => word.includes('=') && !word.startsWith('--'))
    .map(word => word.split('='))
  const env = { ...Object.fromEntries([...inherited, ...own]), ...environment }
  return new Child(file, rest, { env })
}

/** What its first line says to `env -S`, as `npm start` does (docs/inside/decisions/product.md, decision 36). */
function firstLineOf(command: string): string[] {
  const [firstLine = ''] = readFileSync(command, 'utf8').split('\n', 1)
  return firstLine.split(' ')
}
