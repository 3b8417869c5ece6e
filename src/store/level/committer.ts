import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Commit, Receipt } from '../contract.ts'
import { CommitGroup, type GroupParts, isLong, type LevelPendingCommit } from './commit-group.ts'

interface LevelCommitterParts extends GroupParts {
  /** Whether a commit waits for fsync. */
  readonly sync: boolean
  readonly announce: (commit: Commit) => void
}

/**
 * Commits groups one after another. While LevelDB's thread writes a group, the next group is staged, which takes about half as
 * long as the write. Staging stops at a long item, and at an item that needs a read: reads do not see the unwritten group yet.
 */
export class LevelCommitter {
  readonly #parts: LevelCommitterParts
  #writing: CommitGroup | undefined
  /** The group that is staged while another group is being written. */
  #next: CommitGroup | undefined
  #firstOfNext: LevelPendingCommit | undefined

  constructor(parts: LevelCommitterParts) {
    this.#parts = parts
  }

  /** Implements `Committer.prepare` of ../group-commit.ts. */
  prepare(item: LevelPendingCommit): boolean {
    try {
      if (!this.#next) {
        this.#next = new CommitGroup(this.#parts, this.#writing)
        this.#firstOfNext = item
      }
      return this.#next.prepare(item)
    } catch {
      // `commit` stages the item again. If that throws too, the item's ticket is rejected.
      this.#dropNext()
      return false
    }
  }

  /**
   * Implements `Committer.commit` of ../group-commit.ts.
   *
   * @returns a receipt for each item, or an error: its ticket has expired, the disk is full, or the thing has too many resources
   * @throws ThingwireError store_unavailable: nothing of the group is kept; store_timeout: the group may or may not be kept
   */
  async commit(pending: readonly LevelPendingCommit[], begun: () => void): Promise<(Receipt | Error)[]> {
    const group = this.#takeNext(pending) ?? (await this.#load(pending))
    const written = group.write(this.#parts.sync)
    this.#writing = group
    // In a microtask, since LevelDB gets the batch in the microtask before.
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

  /** Takes the group that is already staged, if it has exactly these items and no item has expired. */
  #takeNext(pending: readonly LevelPendingCommit[]): CommitGroup | undefined {
    const next = this.#next
    // If the previous group failed, the staged items may have been rejected, so that `pending` has different items.
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
    // Yields, since parsing a long write has already used up this turn of the event loop.
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
