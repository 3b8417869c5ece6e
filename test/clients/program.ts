import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { Child } from '../helpers/child.ts'

/** Milliseconds; the programs end by themselves long before. */
const deadline = 150_000

/** A command or the path of one, and the Debian package that it comes from. */
export type Installed = Readonly<Record<'command' | 'debianPackage', string>>

/** A client program that runs until it ends by itself or the test is over. */
export class Program extends Child {
  constructor(
    { command, debianPackage }: Installed,
    args: readonly string[],
    input: string | Uint8Array = '',
  ) {
    super(command, args, { timeout: deadline, input, isInputOpen: true, debianPackage })
    onTestFinished(() => void this.process.kill('SIGKILL'))
  }

  /** Ends the input; a program that reads lines ends then. */
  closeInput(): this {
    this.process.stdin?.end()
    return this
  }

  /** Resolves when the output holds a match, with what it captured. @throws Error if the program ends before */
  async said(pattern: RegExp): Promise<readonly string[]> {
    return (await this.until('output', pattern)).slice(1)
  }

  /** Calls `listener` for every line of stdout from now on. */
  onLine(listener: (line: string) => void): void {
    const { stdout } = this.process
    if (stdout) createInterface({ input: stdout }).on('line', listener)
  }
}
