import { statfs } from 'node:fs/promises'

const checkInterval = 2_000

/** Watches the free disk, so that writes stop before it is full and reads go on (contract §9). */
export class FreeSpace {
  readonly #location: string
  readonly #minimum: number
  #timer: NodeJS.Timeout | undefined
  #isShort = false

  /** @param minimum bytes that must be free */
  constructor(location: string, minimum: number) {
    this.#location = location
    this.#minimum = minimum
  }

  /** Whether there is less free disk than there must be. */
  get isShort(): boolean {
    return this.#isShort
  }

  async start(): Promise<void> {
    await this.#check()
    this.#timer = setInterval(() => void this.#check(), checkInterval)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #check(): Promise<void> {
    try {
      const { bavail, bsize } = await statfs(this.#location)
      this.#isShort = bavail * bsize < this.#minimum
    } catch {
      // A file system that cannot say what is free fails the write itself when it is full.
      this.#isShort = false
    }
  }
}
