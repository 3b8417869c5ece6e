import { rest } from '../core/async/retry-until.ts'
import { sizeOf } from '../core/commit-outline.ts'
import type { Lock } from '../core/locks.ts'
import type { Nodes } from '../core/nodes.ts'
import type { Commit, LogQuery, RecordStore } from '../core/ports.ts'

/** A write before it is committed. */
export type LoggedWrite = Pick<Commit, 'thingId' | 'records' | 'broadcast'>

/** A component that may have to read commits again, for example for absent sessions, interrupted streams or the magic queue. */
export interface LogReader {
  /** Whether to keep the write in the log. Called for every write, so this must be quick. */
  wants(write: LoggedWrite): boolean
  /**
   * Begins a trim. The returned function must rely on documents in the store, because these also show what other nodes need.
   *
   * @returns a function that checks whether a commit is needed; called with all commits up to and including `upTo`, newest first
   */
  startTrim(upTo: number): Promise<(commit: Commit) => boolean>
}

export interface LogKeeperParts {
  readonly records: RecordStore
  readonly nodes: Pick<Nodes, 'lead' | 'logBounds'>
  /** Whether other nodes write to the store, too. If so, every commit is in the log. */
  readonly isShared: boolean
}

/**
 * A trim is due when the log has grown by more than `commits` or `bytes`, and by more than the last trim kept. It is also due
 * `interval` milliseconds after the last trim, since sessions and streams expire even if there are no writes.
 */
const ownPace = { commits: 10_000, bytes: 4 * 1024 * 1024, interval: 3_600_000 }
/** A shared log is in memory and has every recent commit, so it is trimmed often. */
const sharedPace = { commits: 100_000, bytes: 64 * 1024 * 1024, interval: 10_000 }
/** Milliseconds added to the interval for each commit in the log, since a trim reads every commit. */
const delayPerCommit = 1
const pageSize = 500

/** Keeps the commits that log readers may need again. The node that leads the task `trim` removes all other commits. */
export class LogKeeper {
  readonly #parts: LogKeeperParts
  readonly #pace: typeof ownPace
  readonly #readers: LogReader[] = []
  readonly #stopTrimming: () => Promise<void>
  /** Size of the commits since the last trim began. */
  #grown = { commits: 0, bytes: 0 }
  /** Size of the commits that the last trim kept. */
  #left = { commits: 0, bytes: 0 }
  /** Aborted when the log has grown so much that the next trim is due before the interval ends. */
  #due = new AbortController()
  #handedOn = 0

  constructor(parts: LogKeeperParts) {
    this.#parts = parts
    this.#pace = parts.isShared ? sharedPace : ownPace
    this.#stopTrimming = parts.nodes.lead('trim', (stop, lock) => this.#keepTrimmed(stop, lock))
  }

  /** Adds a reader permanently. Even after a door is closed, its clients need the writes that they miss. */
  keepFor(reader: LogReader): void {
    this.#readers.push(reader)
  }

  isWanted(write: LoggedWrite): boolean {
    for (const reader of this.#readers) if (reader.wants(write)) return true
    return false
  }

  count(commit: Commit): void {
    this.#handedOn = commit.writeNumber
    if (!commit.stored || !(this.#parts.isShared || this.isWanted(commit))) return
    this.#grown.commits++
    this.#grown.bytes += sizeOf(commit)
    const isLarge =
      this.#grown.commits > Math.max(this.#pace.commits, this.#left.commits) ||
      this.#grown.bytes > Math.max(this.#pace.bytes, this.#left.bytes)
    if (isLarge) this.#due.abort()
  }

  /** Reads the commits of a part of the log, in the order that `part` specifies. */
  async *read(part: Omit<LogQuery, 'limit'>): AsyncGenerator<Commit> {
    for await (const page of this.pages(part)) yield* page
  }

  /** Like `read`, but returns pages. No page is empty. */
  async *pages(part: Omit<LogQuery, 'limit'>): AsyncGenerator<readonly Commit[]> {
    let { after, before } = part
    for (;;) {
      const page = await this.#parts.records.readLog({ ...part, after, before, limit: pageSize })
      const last = page.at(-1)
      if (!last) return
      yield page
      if (part.order === 'asc') after = last.writeNumber
      else before = last.writeNumber
    }
  }

  /**
   * Removes commits that no reader needs.
   *
   * @param stop ends the trim early when aborted
   * @param lock lock under which commits are removed
   */
  async trim(stop?: AbortSignal, lock?: Lock): Promise<void> {
    this.#grown = { commits: 0, bytes: 0 }
    const left = { commits: 0, bytes: 0 }
    const { trimmableTo } = await this.#parts.nodes.logBounds()
    const upTo = Math.min(this.#handedOn, trimmableTo)
    const needed = await Promise.all(this.#readers.map(reader => reader.startTrim(upTo)))
    const unneeded: number[] = []
    for await (const commit of this.read({ after: 0, before: upTo + 1, order: 'desc' })) {
      if (stop?.aborted) return
      // Every reader is asked, even if another reader needs the commit: some readers count the commits that they see.
      const answers = needed.map(isNeeded => isNeeded(commit))
      if (answers.includes(true)) {
        left.commits++
        left.bytes += sizeOf(commit)
      } else {
        unneeded.push(commit.writeNumber)
      }
      if (unneeded.length >= pageSize) await this.#parts.records.trimLog(unneeded.splice(0), lock)
    }
    if (unneeded.length > 0) await this.#parts.records.trimLog(unneeded, lock)
    this.#left = left
  }

  /** Resolves when trimming has ended. */
  close(): Promise<void> {
    return this.#stopTrimming()
  }

  /** Never rejects. */
  async #keepTrimmed(stop: AbortSignal, lock: Lock): Promise<void> {
    stop.addEventListener('abort', () => this.#due.abort(), { once: true })
    while (!stop.aborted) {
      this.#due = new AbortController()
      await rest(this.#pace.interval + this.#left.commits * delayPerCommit, this.#due.signal)
      // If a trim fails, the next trim removes the rest.
      if (!stop.aborted) await this.trim(stop, lock).catch(() => {})
    }
  }
}
