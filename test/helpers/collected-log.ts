import { EventEmitter, once } from 'node:events'
import { type Logger, pino } from 'pino'

/** A log whose lines stay in memory. */
export class CollectedLog {
  readonly logger: Logger
  readonly #written = new EventEmitter()
  readonly #lines: string[] = []

  constructor(level = 'debug') {
    const write = (line: string) => {
      this.#lines.push(line)
      this.#written.emit('line')
    }
    this.logger = pino({ level }, { write })
  }

  /** From a level on, as pino numbers them: 30 is `info`, 40 is `warn`, 50 is `error`. */
  lines(level = 0): string[] {
    return this.#lines.filter(line => (JSON.parse(line) as { level: number }).level >= level)
  }

  /** Resolves with the first line that matches and is not among the first `after`. */
  async until(pattern: RegExp, after = 0): Promise<string> {
    for (;;) {
      const line = this.#lines.slice(after).find(written => pattern.test(written))
      if (line !== undefined) return line
      await once(this.#written, 'line')
    }
  }
}
