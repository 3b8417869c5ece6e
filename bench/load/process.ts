import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'

/** The commands of a process that drives a load, so that its cost can be told from the cost of what it drives. */

interface Command {
  readonly name: string
  readonly argument?: unknown
}

type Answer = { readonly value: unknown } | { readonly failed: string }

export class LoadProcess {
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  /** Only ever rejects. */
  readonly #failed: Promise<never>

  /** @param program the address of a file that calls `answerCommands` */
  constructor(program: URL) {
    this.#child = fork(program, { execArgv: ['--import', import.meta.resolve('tsx')] })
    this.#exited = once(this.#child, 'exit')
    this.#failed = new Promise((_, reject) => {
      this.#child.on('message', (answer: Answer) => {
        if ('failed' in answer) reject(new Error(answer.failed))
      })
      // Not its exit, which may be seen before its last message.
      this.#child.once('disconnect', () => reject(new Error(`${program.pathname} ended`)))
    })
    this.#failed.catch(() => {})
  }

  /** One command at a time. @throws Error with what went wrong in the process */
  async ask<Value>(name: string, argument?: unknown): Promise<Value> {
    const answered = once(this.#child, 'message')
    if (this.#child.connected) this.#child.send({ name, argument } satisfies Command)
    const [answer] = await Promise.race([answered, this.#failed])
    if ('failed' in answer) return await this.#failed
    return answer.value as Value
  }

  /** @throws Error if the process fails meanwhile */
  async wait(seconds: number): Promise<void> {
    const ending = new AbortController()
    const waited = delay(seconds * 1_000, undefined, { signal: ending.signal })
    waited.catch(() => {})
    await Promise.race([waited, this.#failed]).finally(() => ending.abort())
  }

  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect()
    await this.#exited
  }
}

/**
 * Carries out the commands of the process that started this one. Whatever is thrown anywhere, in the callback of a socket too,
 * goes to that process and ends this one.
 */
export function answerCommands(commands: Readonly<Record<string, (argument: never) => unknown>>): void {
  const send = (answer: Answer, onSent = () => {}) => process.send?.(answer, onSent)
  process.on('message', async ({ name, argument }: Command) => {
    const command = commands[name]
    if (command === undefined) throw new Error(`there is no command ${name}`)
    send({ value: await command(argument as never) })
  })
  process.on('uncaughtException', error => {
    send({ failed: error.message }, () => process.exit(1))
  })
  process.once('disconnect', () => process.exit())
}
