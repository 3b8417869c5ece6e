import { isOutage } from '../../core/outage.ts'
import type { ThingwireError } from '../../errors.ts'

/** Time between attempts while the store is unavailable, milliseconds. */
const retryInterval = 200

/** Retries tasks that failed in an outage. Tries one task at a time, and all other tasks as soon as one succeeds. */
export class StoreRetries {
  readonly #onOutage: (error: ThingwireError) => void
  #waiting: (() => void)[] = []
  #timer: NodeJS.Timeout | undefined
  #isAway = false
  #isClosed = false

  /** @param onOutage called with the first failure of each outage */
  constructor(onOutage: (error: ThingwireError) => void) {
    this.#onOutage = onOutage
  }

  /** Runs a task until it succeeds. @throws errors of the task, except outages before `close` */
  async run(task: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        await task()
        this.#isAway = false
        this.#tryAll()
        return
      } catch (error) {
        if (!isOutage(error) || this.#isClosed) throw error
        await this.#wait(error)
      }
    }
  }

  /** Tries all waiting tasks once more. */
  close(): void {
    this.#isClosed = true
    this.#tryAll()
  }

  #wait(error: ThingwireError): Promise<void> {
    if (!this.#isAway) this.#onOutage(error)
    this.#isAway = true
    this.#timer ??= setInterval(() => this.#waiting.shift()?.(), retryInterval).unref()
    return new Promise(resolve => this.#waiting.push(resolve))
  }

  #tryAll(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    for (const retry of this.#waiting.splice(0)) retry()
  }
}
