import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { Child, type Exit } from '../helpers/child.ts'

/** Milliseconds; the programs end by themselves long before. */
const deadline = 150_000

export interface Installed {
  /** A command or the path of one. */
  readonly command: string
  /** The Debian package that it comes from. */
  readonly debianPackage: string
}

/** A client program that runs until it ends by itself or the test is over. */
export class Program {
  /** @throws Error how to install it where there is none */
  readonly ended: Promise<Exit>
  readonly #child: Child

  constructor(
    { command, debianPackage }: Installed,
    args: readonly string[],
    input: string | Uint8Array = '',
  ) {
    this.#child = new Child(command, args, { timeout: deadline, input, isInputOpen: true })
    this.ended = this.#child.exited.catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ENOENT') throw cause
      throw new Error(`${command} cannot be run: install it (apt-get install ${debianPackage})`, { cause })
    })
    // Whoever waits for the end gets the error; nobody has to.
    this.ended.catch(() => {})
    onTestFinished(() => void this.#child.process.kill('SIGKILL'))
  }

  /** Ends the input; a program that reads lines ends then. */
  closeInput(): this {
    this.#child.process.stdin?.end()
    return this
  }

  /** Resolves when the output holds a match, with what it captured. @throws Error if the program ends before */
  async said(pattern: RegExp): Promise<readonly string[]> {
    const match = await this.#child.until('output', pattern).catch(async error => {
      await this.ended
      throw error
    })
    return match.slice(1)
  }

  /** More input. */
  type(text: string): void {
    this.#child.process.stdin?.write(text)
  }

  /** Calls `listener` for every line of stdout from now on. */
  onLine(listener: (line: string) => void): void {
    const { stdout } = this.#child.process
    if (stdout) createInterface({ input: stdout }).on('line', listener)
  }

  /** SIGTERM, at which a program disconnects. */
  terminate(): void {
    this.#child.process.kill('SIGTERM')
  }

  /** SIGKILL: the connection breaks without a DISCONNECT. */
  async kill(): Promise<void> {
    this.#child.process.kill('SIGKILL')
    await this.ended
  }
}
