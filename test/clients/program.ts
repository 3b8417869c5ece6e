import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

/** Milliseconds; the programs end by themselves long before. */
const deadline = 150_000

export interface Installed {
  /** A command or the path of one. */
  readonly command: string
  /** The Debian package that it comes from. */
  readonly debianPackage: string
}

export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** stdout and stderr as they came. */
  readonly output: string
}

/** A client program that runs until it ends by itself or the test is over. */
export class Program {
  readonly ended: Promise<Ending>
  readonly #child: ChildProcess
  readonly #heard = new EventEmitter()
  #output = ''

  constructor(
    { command, debianPackage }: Installed,
    args: readonly string[],
    input: string | Uint8Array = '',
  ) {
    this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], timeout: deadline })
    const { stdin, stdout, stderr } = this.#child
    for (const stream of [stdout, stderr]) {
      stream?.setEncoding('utf8').on('data', (part: string) => {
        this.#output += part
        this.#heard.emit('output')
      })
    }
    // A program that ends before it has read all of its input is judged by its status.
    stdin?.on('error', () => {}).write(input)
    this.ended = this.#untilEnd(debianPackage)
    // Whoever waits for the end gets the error; nobody has to.
    this.ended.catch(() => {})
    onTestFinished(() => void this.#child.kill('SIGKILL'))
  }

  /** Ends the input; a program that reads lines ends then. */
  closeInput(): this {
    this.#child.stdin?.end()
    return this
  }

  /** Resolves when the output holds a match, with what it captured. @throws Error if the program ends before */
  async said(pattern: RegExp): Promise<readonly string[]> {
    const ended = this.ended.then(ending => {
      if (pattern.test(this.#output)) return
      throw new Error(`it ended without saying ${pattern}: ${JSON.stringify(ending)}`)
    })
    for (;;) {
      const match = pattern.exec(this.#output)
      if (match) return match.slice(1)
      await Promise.race([ended, once(this.#heard, 'output')])
    }
  }

  /** More input. */
  type(text: string): void {
    this.#child.stdin?.write(text)
  }

  /** Calls `listener` for every line of stdout from now on. */
  onLine(listener: (line: string) => void): void {
    if (this.#child.stdout) createInterface({ input: this.#child.stdout }).on('line', listener)
  }

  /** SIGTERM, after which a program says goodbye. */
  terminate(): void {
    this.#child.kill('SIGTERM')
  }

  /** SIGKILL: the connection breaks without a DISCONNECT. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.ended
  }

  async #untilEnd(debianPackage: string): Promise<Ending> {
    const closed = once(this.#child, 'close').catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ENOENT') throw cause
      const command = this.#child.spawnfile
      throw new Error(`${command} cannot be run: install it (apt-get install ${debianPackage})`, { cause })
    })
    const [code, signal] = (await closed) as [number | null, NodeJS.Signals | null]
    return { code, signal, output: this.#output }
  }
}
