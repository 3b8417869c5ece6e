import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Changes } from './changes.ts'

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** A process that this one has started, and what it has written so far. Whoever starts it ends it. */
export class Child {
  readonly process: ChildProcess
  /** Resolves when the process is gone and its output is complete. */
  readonly exited: Promise<Exit>
  readonly #output = { stdout: '', stderr: '' }
  readonly #changes = new Changes()
  #hasExited = false

  constructor(
    file: string,
    args: readonly string[],
    options: Omit<SpawnOptions, 'stdio'> = {},
    input?: string,
  ) {
    this.process = spawn(file, args, {
      ...options,
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    })
    this.process.stdin?.end(input)
    for (const name of ['stdout', 'stderr'] as const) {
      this.process[name]?.setEncoding('utf8').on('data', (part: string) => {
        this.#output[name] += part
        this.#changes.tell()
      })
    }
    const closed = once(this.process, 'close').finally(() => {
      this.#hasExited = true
      this.#changes.tell()
    })
    this.exited = closed.then(([code, signal]): Exit => ({ code, signal, ...this.#output }))
  }

  /**
   * Resolves with the first match when that is written.
   *
   * @param time for which to wait, milliseconds; default: as long as it takes
   * @throws Error with the output if it is not in time, or the process ends before
   */
  async until(name: 'stdout' | 'stderr', pattern: RegExp, time?: number): Promise<RegExpExecArray> {
    const match = () => pattern.exec(this.#output[name])
    await this.#changes.until(() => match() !== null || this.#hasExited, time)
    const found = match()
    if (found) return found
    const { exitCode, signalCode } = this.process
    const told = { code: exitCode, signal: signalCode, ...this.#output }
    throw new Error(`${pattern} was not written to ${name}: ${JSON.stringify(told)}`)
  }

  end(signal: NodeJS.Signals): Promise<Exit> {
    this.process.kill(signal)
    return this.exited
  }
}
