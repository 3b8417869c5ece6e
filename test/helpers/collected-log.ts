import { type Logger, pino } from 'pino'
import { Changes } from './changes.ts'

/** A log whose lines stay in memory. */
export class CollectedLog {
  readonly logger: Logger
  readonly #changes = new Changes()
  readonly #lines: string[] = []

  constructor(level = 'debug') {
    const write = (line: string) => {
      this.#lines.push(line)
      this.#changes.tell()
    }
    this.logger = pino({ level }, { write })
  }

  /** From a level on, as pino numbers them: 30 is `info`, 40 is `warn`, 50 is `error`. */
  lines(level = 0): string[] {
    return this.#lines.filter(line => (JSON.parse(line) as { level: number }).level >= level)
  }

  /** Resolves with the first line that matches and is not among the first `after`. */
  async until(pattern: RegExp, after = 0): Promise<string> {
    const found = () => this.#lines.slice(after).find(line => pattern.test(line))
    await this.#changes.until(() => found() !== undefined)
    return found() ?? ''
  }
}
