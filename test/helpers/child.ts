import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Changes } from './changes.ts'

interface Output {
  readonly stdout: string
  readonly stderr: string
  /** Both as they came. */
  readonly output: string
}

export interface Exit extends Output {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface ChildOptions extends Omit<SpawnOptions, 'stdio'> {
  /** What its stdin gives it. Default: it has none. */
  readonly input?: string | Uint8Array | undefined
  /** Whether stdin stays open behind the input. */
  readonly isInputOpen?: boolean | undefined
  /** What has to be installed where there is no such program. */
  readonly debianPackage?: string
}

/** A process that this one has started, and what it has written so far. Whoever starts it ends it. */
export class Child {
  readonly process: ChildProcess
  /** Resolves when the process is gone and its output is complete. @throws Error if there is no such program */
  readonly exited: Promise<Exit>
  readonly #output = { stdout: '', stderr: '', output: '' }
  readonly #changes = new Changes()
  #hasExited = false

  constructor(
    file: string,
    args: readonly string[],
    { input, isInputOpen = false, debianPackage, ...options }: ChildOptions = {},
  ) {
    this.process = spawn(file, args, {
      ...options,
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    })
    const { stdin } = this.process
    // A program that ends before it has read all of its input is judged by its status.
    stdin?.on('error', () => {}).write(input ?? '')
    if (!isInputOpen) stdin?.end()
    for (const name of ['stdout', 'stderr'] as const) {
      this.process[name]?.setEncoding('utf8').on('data', (part: string) => {
        this.#output[name] += part
        this.#output.output += part
        this.#changes.tell()
      })
    }
    const closed = once(this.process, 'close').finally(() => {
      this.#hasExited = true
      this.#changes.tell()
    })
    this.exited = closed.then(
      ([code, signal]): Exit => ({ code, signal, ...this.#output }),
      (cause: NodeJS.ErrnoException) => {
        if (cause.code !== 'ENOENT' || debianPackage === undefined) throw cause
        throw new Error(`${file} cannot be run: apt-get install ${debianPackage}`, { cause })
      },
    )
    // Whoever waits for the end gets the error; nobody has to.
    this.exited.catch(() => {})
  }

  /**
   * Resolves with the first match when that is written.
   *
   * @param time for which to wait, milliseconds; default: as long as it takes
   * @throws Error with the output if it is not in time, or the process ends before
   */
  async until(name: keyof Output, pattern: RegExp, time?: number): Promise<RegExpExecArray> {
    const match = () => pattern.exec(this.#output[name])
    await this.#changes.until(() => match() !== null || this.#hasExited, time)
    const found = match()
    if (found) return found
    if (this.#hasExited) await this.exited
    const { exitCode: code, signalCode: signal } = this.process
    const { stdout, stderr } = this.#output
    throw new Error(
      `${pattern} was not written to ${name}: ${JSON.stringify({ code, signal, stdout, stderr })}`,
    )
  }

  end(signal: NodeJS.Signals): Promise<Exit> {
    this.process.kill(signal)
    return this.exited
  }
}
