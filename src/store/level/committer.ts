import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Commit, Receipt } from '../contract.ts'
import { CommitGroup, type GroupParts, isLong, type LevelPendingCommit } from './commit-group.ts'

interface LevelCommitterParts extends GroupParts {
  /** Whether a commit waits for fsync. */
  readonly sync: boolean
  readonly announce: (commit: Commit) => void
}

/**
 * Commits groups, one after another, and puts the next one together while LevelDB's thread writes one, which takes
 * about twice as long. Only as far as nothing has to be read, since what is being written cannot be read yet, and nothing is long.
 */
export class LevelCommitter {
  readonly #parts: LevelCommitterParts
  #writing: CommitGroup | undefined
  /** What is put together behind it, and the first that it has. */
  #next: CommitGroup | undefined
  #firstOfNext: LevelPendingCommit | undefined

  constructor(parts: LevelCommitterParts) {
    this.#parts = parts
  }

  /** As `Committer.prepare` of ../group-commit.ts. */
  prepare(item: LevelPendingCommit): boolean {
    try {
      if (!this.#next) {
        this.#next = new CommitGroup(this.#parts, this.#writing)
        this.#firstOfNext = item
      }
      return this.#next.prepare(item)
    } catch {
      // It throws again, to someone who waits, when it is committed.
      this.#dropNext()
      return false
    }
  }

  /**
   * As `Committer.commit` of ../group-commit.ts.
   *
   * @returns the receipt of each, or an error for one that was no longer waited for, has no room on the disk, or makes too
   * many resources
   * @throws ThingwireError store_unavailable: nothing of the group is kept; store_timeout: that is not certain yet
   */
  async commit(pending: readonly LevelPendingCommit[], begun: () => void): Promise<(Receipt | Error)[]> {
    const group = this.#takeNext(pending) ?? (await this.#load(pending))
    const written = group.write(this.#parts.sync)
    this.#writing = group
    // Only then does LevelDB have it.
    queueMicrotask(begun)
    try {
      await written
    } catch (error) {
      this.#dropNext()
      throw error
    } finally {
      this.#writing = undefined
    }
    return group.outcomes.map(outcome => {
      if (outcome instanceof Error) return outcome
      if (outcome.commit) this.#parts.announce(outcome.commit)
      return outcome.receipt
    })
  }

  /** What was put together, if that is all of these, and all of them are still waited for. */
  #takeNext(pending: readonly LevelPendingCommit[]): CommitGroup | undefined {
    const next = this.#next
    // What was put together may have been rejected since, with the group in front.
    const isOfThese = this.#firstOfNext === pending[0] && next?.outcomes.length === pending.length
    if (next && isOfThese && !pending.some(({ ticket }) => ticket.expired)) {
      this.#next = undefined
      return next
    }
    this.#dropNext()
    return undefined
  }

  #dropNext(): void {
    this.#next?.drop()
    this.#next = undefined
  }

  async #load(pending: readonly LevelPendingCommit[]): Promise<CommitGroup> {
    // In the turn of the event loop in which a long write was parsed there is no time left for it.
    if (pending.some(isLong)) await nextTurn()
    const group = new CommitGroup(this.#parts)
    try {
      await group.load(pending)
      await this.#stage(group, pending)
      return group
    } catch (error) {
      group.drop()
      throw error
    }
  }

  async #stage(group: CommitGroup, pending: readonly LevelPendingCommit[]): Promise<void> {
    for (const each of pending) {
      const pause = group.slices.pause()
      if (pause) await pause
      const staging = group.stage(each)
      if (staging) await staging
    }
    for (const _ of group.records.putParts()) {
      const pause = group.slices.pause()
      if (pause) await pause
    }
  }
}
