import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { host, ProgramMissing } from './peer.ts'

export interface ProgramSetup {
  readonly command: string
  readonly args: readonly string[]
  /** What to install where the command is missing, as in `apt install <aptPackage>`. */
  readonly aptPackage?: string
  /** As whom it runs. Default: as this process. */
  readonly user?: { readonly uid: number; readonly gid: number }
}

/** Debian has mosquitto where only root looks for programs. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }
/** Milliseconds. */
const startDeadline = 30_000

/** A process that this one has started, and that ends with it. */
export class Program {
  readonly #child: ChildProcess
  readonly #name: string
  #lines: string[] = []
  #errors = ''

  private constructor(child: ChildProcess, name: string) {
    this.#child = child
    this.#name = name
    child.stdout?.setEncoding('utf8').on('data', (part: string) => this.#read(part))
    child.stderr?.setEncoding('utf8').on('data', (part: string) => {
      this.#errors = (this.#errors + part).slice(-2_000)
    })
  }

  /** Called with each line of its standard output. */
  onLine: (line: string) => void = line => this.#lines.push(line)

  /** @throws ProgramMissing */
  static async start({ command, args, aptPackage, user = undefined }: ProgramSetup): Promise<Program> {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env, ...user })
    const program = new Program(child, command)
    endWithUs(child)
    try {
      await once(child, 'spawn')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || aptPackage === undefined) throw error
      throw new ProgramMissing(`${command} is not installed: apt install ${aptPackage}`)
    }
    return program
  }

  get processId(): number {
    return this.#child.pid ?? 0
  }

  /** The first line that it writes to its standard output. */
  async firstLine(): Promise<string> {
    for (const end = performance.now() + startDeadline; this.#lines.length === 0; ) {
      this.#check(end)
      await delay(10)
    }
    return this.#lines.shift() ?? ''
  }

  /** Resolves when somebody can connect to the port. */
  async listening(port: number): Promise<void> {
    for (const end = performance.now() + startDeadline; !(await canConnect(port)); ) {
      this.#check(end)
      await delay(20)
    }
  }

  /** Resolves with its exit code. */
  async ended(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit')
    return this.#child.exitCode
  }

  /** What it has written to its standard error, the end of it. */
  get errors(): string {
    return this.#errors
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.#child.kill(signal)
    await this.ended()
  }

  #check(end: number): void {
    const { exitCode, signalCode } = this.#child
    if (exitCode !== null || signalCode !== null)
      throw new Error(
        `${this.#name} ended with ${exitCode ?? signalCode} before it was ready: ${this.#errors}`,
      )
    if (performance.now() > end) throw new Error(`${this.#name} is not ready after ${startDeadline} ms`)
  }

  #rest = ''
  #read(part: string): void {
    const lines = (this.#rest + part).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.onLine(line)
  }
}

/** Kills a child when this process ends, however it does. */
export function endWithUs(child: ChildProcess): void {
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => void process.off('exit', kill))
}

async function canConnect(port: number): Promise<boolean> {
  const socket = connect(port, host)
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return isOpen
}

/** A TypeScript file of this directory, with no flags for Node but what TypeScript needs. */
export async function startChild(file: string): Promise<Program> {
  return await startProgram(new URL(file, import.meta.url), [])
}

/** A TypeScript file, likewise. */
export async function startProgram({ pathname }: URL, args: readonly string[]): Promise<Program> {
  return await Program.start({
    command: process.execPath,
    args: ['--import', import.meta.resolve('tsx'), pathname, ...args],
  })
}
