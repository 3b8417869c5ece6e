/** A task that runs repeatedly. It never rejects. */
type Task = (signal: AbortSignal) => Promise<void>

/** Milliseconds for which the next task waits for the running task. */
const patience = 500

/**
 * Runs one task at a time, and then the newest task that was passed in the meantime. Older waiting tasks are dropped. A slow task
 * is aborted while another task waits.
 */
export class NewestTask {
  #next: Task | undefined
  #running: AbortController | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  run(task: Task): void {
    this.#next = task
    if (!this.#running) void this.#runAll()
    else this.#timer ??= setTimeout(() => this.#running?.abort(), patience)
  }

  /** Aborts the running task and drops the waiting task. */
  close(): void {
    this.#next = undefined
    this.#running?.abort()
  }

  async #runAll(): Promise<void> {
    for (let task = this.#next; task; task = this.#next) {
      this.#next = undefined
      this.#running = new AbortController()
      await task(this.#running.signal)
      clearTimeout(this.#timer)
      this.#timer = undefined
    }
    this.#running = undefined
  }
}
