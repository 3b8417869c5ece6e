import { isOutage } from '../../core/outage.ts'
import type { ThingwireError } from '../../errors.ts'

/** Between attempts while the store is away, milliseconds. */
const retryInterval = 200

/**
 * Does again what the store has failed, as soon as the store works: one after another is tried, and all when one has
 * succeeded.
 */
export class StoreRetries {
  readonly #onOutage: (error: ThingwireError) => void
  /** Called to try again. */
  #waiting: (() => void)[] = []
  #timer: NodeJS.Timeout | undefined
  #isAway = false
  #isClosed = false

  /** @param onOutage called with the first failure, and again when something has succeeded in between */
  constructor(onOutage: (error: ThingwireError) => void) {
    this.#onOutage = onOutage
  }

  /**
   * Resolves when the task, which may be done more than once, has succeeded.
   *
   * @throws ThingwireError of the store, once it is closed
   * @throws whatever else the task throws
   */
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

  /** What still fails is given up. */
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
