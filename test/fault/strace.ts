import { Child } from '../helpers/child.ts'
import type { ServerProcess } from '../helpers/server-process.ts'

/** An strace on all threads of a process that runs already. */
export class Strace {
  readonly #child: Child

  private constructor(child: Child) {
    this.#child = child
  }

  /**
   * Resolves when it is attached.
   *
   * @param options without `-o`, what is traced is thrown away
   * @throws Error if there is no strace, or it may not trace
   */
  static async attach(processId: number, options: readonly string[]): Promise<Strace> {
    const args = ['-f', '-o', '/dev/null', ...options, '-p', String(processId)]
    const child = new Child('strace', args, { debianPackage: 'strace' })
    await child.until('stderr', /^strace: Process \d+ attached/m)
    return new Strace(child)
  }

  /** Resolves when the process runs freely again and what was traced is written, or the process is gone. */
  async detach(): Promise<void> {
    await this.#child.end('SIGINT')
  }

  /** Resolves when the traced process is gone. */
  async ended(): Promise<void> {
    await this.#child.exited
  }
}

/** @param what of each fsync, such as `error=EIO` */
export function injectIntoSyncs({ process }: ServerProcess, what: string): Promise<Strace> {
  const options = ['-e', 'trace=fdatasync,fsync', '-e', `inject=fdatasync,fsync:${what}`]
  return Strace.attach(Number(process.pid), options)
}
