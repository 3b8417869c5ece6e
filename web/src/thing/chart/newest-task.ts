/** Something that is asked for again and again. It never rejects. */
type Task = (signal: AbortSignal) => Promise<void>

/** Milliseconds that the next task waits for one that is under way. */
const patience = 500

/**
 * Runs one task at a time, and behind it the newest of those that came meanwhile. The others are dropped, and so is one that is
 * slow while another waits.
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

  /** Aborts what is under way, and runs nothing that waits. */
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
