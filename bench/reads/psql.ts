import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { endWithUs } from '../peers/peer.ts'
import type { Postgres } from '../peers/postgres.ts'

/** Behind each answer. */
const mark = Buffer.from('-- answered\n')
const echo = `\\echo ${mark.toString()}`

/** A session of psql, PostgreSQL's own client, over the Unix socket. Answers are CSV without a header. */
export class Psql {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #closed: Promise<void>
  #errors = ''
  #onPart: (part: Buffer) => void = () => {}
  #onEnd: () => void = () => {}
  #onError: (error: Error) => void = () => {}
  /** The end of what was received, which may be the beginning of the mark. */
  #held: Buffer = Buffer.alloc(0)

  private constructor({ programs, connectionString }: Postgres) {
    const options = ['--no-psqlrc', '--quiet', '--tuples-only', '--csv', '--set', 'ON_ERROR_STOP=1']
    this.#child = spawn(join(programs, 'psql'), [...options, connectionString], {
      env: { ...process.env, PGTZ: 'UTC' },
    })
    endWithUs(this.#child)
    this.#child.stderr.setEncoding('utf8').on('data', (part: string) => {
      this.#errors = (this.#errors + part).slice(-2_000)
    })
    this.#child.stdout.on('data', (part: Buffer) => this.#take(part))
    this.#closed = once(this.#child, 'close').then(() =>
      this.#onError(new Error(`psql ended: ${this.#errors}`)),
    )
    // `close` reports it.
    this.#child.stdin.on('error', () => {})
  }

  /** @throws Error if it cannot connect */
  static async connect(postgres: Postgres): Promise<Psql> {
    const psql = new Psql(postgres)
    const answered = psql.#answered(() => {})
    psql.#child.stdin.write(echo)
    await answered
    return psql
  }

  /** One statement at a time, without a semicolon. @throws Error if it fails */
  async run(statement: string, onPart: (part: Buffer) => void = () => {}): Promise<void> {
    const answered = this.#answered(onPart)
    this.#child.stdin.write(`${statement};\n${echo}`)
    await answered
  }

  /** @param lines of `COPY … FROM STDIN`, in pieces @throws Error if it fails */
  async copyFrom(statement: string, lines: Iterable<string>): Promise<void> {
    const answered = this.#answered(() => {})
    this.#child.stdin.write(`${statement};\n`)
    for (const piece of lines) if (!this.#child.stdin.write(piece)) await once(this.#child.stdin, 'drain')
    this.#child.stdin.write(`\\.\n${echo}`)
    await answered
  }

  async close(): Promise<void> {
    this.#child.stdin.end()
    await this.#closed
  }

  #answered(onPart: (part: Buffer) => void): Promise<void> {
    this.#onPart = onPart
    return new Promise((resolve, reject) => {
      this.#onEnd = resolve
      this.#onError = reject
    })
  }

  #take(part: Buffer): void {
    const received = this.#held.length === 0 ? part : Buffer.concat([this.#held, part])
    const kept = Math.max(0, received.length - mark.length)
    const isAnswered = received.subarray(kept).equals(mark)
    if (kept > 0) this.#onPart(received.subarray(0, kept))
    this.#held = isAnswered ? Buffer.alloc(0) : received.subarray(kept)
    if (isAnswered) this.#onEnd()
  }
}
