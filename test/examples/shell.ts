import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { onTestFinished } from 'vitest'

/** How long is waited for what a command says, milliseconds. */
const deadline = 20_000

/** A shell into which a test pastes what a document says; gone at the end of the test, with all that it has started. */
export class Shell {
  readonly #child
  readonly #heard = new EventEmitter()
  #output = ''
  #complaints = ''
  #hasEnded = false

  constructor() {
    // By lines, so that what a program says is heard when it says it; in a process group of its own.
    this.#child = spawn('stdbuf', ['-oL', 'bash', '-e'], { detached: true })
    this.#child.stdout.setEncoding('utf8').on('data', (part: string) => {
      this.#output += part
      this.#heard.emit('change')
    })
    this.#child.stderr.setEncoding('utf8').on('data', (part: string) => {
      this.#complaints += part
    })
    this.#child.once('exit', () => {
      this.#hasEnded = true
      this.#heard.emit('change')
    })
    onTestFinished(() => {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGKILL')
    })
  }

  /**
   * Pastes commands, and resolves when the last one has ended.
   *
   * @returns what was said meanwhile
   * @throws Error as `said`
   */
  async paste(commands: string): Promise<string> {
    const before = this.#output.length
    this.#child.stdin.write(`${commands}\necho "[done]"\n`)
    await this.said(/\[done\]\n/, before)
    const said = this.#output.slice(before).replace('[done]\n', '')
    this.#output = this.#output.slice(0, before) + said
    return said
  }

  /**
   * Resolves when there is a match in what was said.
   *
   * @param from place in the output; default: everything
   * @throws Error past the deadline, or at the end of the shell, which a command that fails ends
   */
  async said(pattern: RegExp, from = 0): Promise<void> {
    const signal = AbortSignal.timeout(deadline)
    while (!pattern.test(this.#output.slice(from))) {
      const isOver = this.#hasEnded || signal.aborted
      if (isOver) throw new Error(`not said: ${pattern}, but: ${this.#output}\n${this.#complaints}`)
      await once(this.#heard, 'change', { signal }).catch(() => {})
    }
  }
}
