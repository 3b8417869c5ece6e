import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { ServerProcess } from '../helpers/server-process.ts'

const attached = /^strace: Process \d+ attached/m

/** An strace on all threads of a process that runs already. */
export class Strace {
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>

  private constructor(child: ChildProcess) {
    this.#child = child
    this.#ended = once(child, 'close')
  }

  /**
   * Resolves when it is attached.
   *
   * @param options without `-o`, what is traced is thrown away
   * @throws Error if there is no strace, or it may not trace
   */
  static async attach(processId: number, options: readonly string[]): Promise<Strace> {
    const child = spawn('strace', ['-f', '-o', '/dev/null', ...options, '-p', String(processId)], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const strace = new Strace(child)
    let said = ''
    child.stderr.setEncoding('utf8')
    const isAttached = new Promise<void>((resolve, reject) => {
      child.once('error', cause => {
        reject(new Error('strace cannot be run: install it (apt-get install strace)', { cause }))
      })
      child.once('close', () => reject(new Error(`strace did not attach: ${said}`)))
      child.stderr.on('data', (part: string) => {
        said += part
        if (attached.test(said)) resolve()
      })
    })
    await isAttached
    return strace
  }

  /** Resolves when the process runs freely again and what was traced is written, or the process is gone. */
  async detach(): Promise<void> {
    this.#child.kill('SIGINT')
    await this.#ended
  }

  /** Resolves when the traced process is gone. */
  async ended(): Promise<void> {
    await this.#ended
  }
}

/** @param what of each fsync, such as `error=EIO` */
export function injectIntoSyncs({ process }: ServerProcess, what: string): Promise<Strace> {
  const options = ['-e', 'trace=fdatasync,fsync', '-e', `inject=fdatasync,fsync:${what}`]
  return Strace.attach(Number(process.pid), options)
}
