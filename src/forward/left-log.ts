import type { Commit, DocumentStore } from '../core/ports.ts'
import type { Live, LogReader } from '../live/index.ts'
import { Progress } from './progress.ts'

/**
 * What waits to be forwarded stays in the commit log while the server is run without forwarding, be it by mistake. What is
 * written meanwhile is not kept for it: nobody may ever forward again.
 */
export class LeftLog implements LogReader {
  readonly #progress: Progress
  readonly #upTo: number

  private constructor(progress: Progress, upTo: number) {
    this.#progress = progress
    this.#upTo = upTo
  }

  /** @returns whether something was ever forwarded. @throws ThingwireError of the store */
  static async open(documents: DocumentStore, live: Live): Promise<boolean> {
    const progress = await Progress.leave(documents)
    if (!progress) return false
    live.log.keepFor(new LeftLog(progress, live.keptWriteNumber))
    return true
  }

  wants(): boolean {
    return false
  }

  async startTrim(): Promise<(commit: Commit) => boolean> {
    return commit => commit.writeNumber <= this.#upTo && this.#progress.isNeeded(commit)
  }
}
