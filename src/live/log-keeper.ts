import { rest } from '../core/async/retry-until.ts'
import { sizeOf } from '../core/commit-outline.ts'
import type { Lock } from '../core/locks.ts'
import type { Nodes } from '../core/nodes.ts'
import type { Commit, LogQuery, RecordStore } from '../core/ports.ts'

/** A write before its commit. */
export type LoggedWrite = Pick<Commit, 'thingId' | 'records' | 'broadcast'>

/** A part that may have to read commits again: absent sessions, interrupted streams, the magic queue. */
export interface LogReader {
  /** Whether to keep the write in the log. Called for every write, so it must be quick. */
  wants(write: LoggedWrite): boolean
  /**
   * Begins a trim. The needs of other nodes count, too, so the answers must come from documents.
   *
   * @returns whether a commit is still needed; called newest first, with every commit of the log up to `upTo`
   */
  startTrim(upTo: number): Promise<(commit: Commit) => boolean>
}

export interface LogKeeperParts {
  readonly records: RecordStore
  readonly nodes: Pick<Nodes, 'lead' | 'logBounds'>
  /** Whether other nodes write to the store: then every commit is in the log. */
  readonly isShared: boolean
}

/**
 * The log is trimmed when it has grown by its size after the last trim, and at least by this; and at an interval, since sessions
 * and streams expire while nothing is written. Bytes, milliseconds.
 */
const ownPace = { commits: 10_000, bytes: 4 * 1024 * 1024, interval: 3_600_000 }
/** A shared log has every recent commit, in memory, so it is trimmed often. */
const sharedPace = { commits: 100_000, bytes: 64 * 1024 * 1024, interval: 10_000 }
/** The interval grows by this for each commit in the log, since a trim reads them all: milliseconds. */
const delayPerCommit = 1
const pageSize = 500

/** Keeps the commits that log readers may need again, and removes others. The node that leads `trim` does so. */
export class LogKeeper {
  readonly #parts: LogKeeperParts
  readonly #pace: typeof ownPace
  readonly #readers: LogReader[] = []
  readonly #stopTrimming: () => Promise<void>
  /** Size of the commits since the newest trim began. */
  #grown = { commits: 0, bytes: 0 }
  /** Size that the newest trim has left. */
  #left = { commits: 0, bytes: 0 }
  /** Aborted when the log has grown so much that the next trim is due early. */
  #due = new AbortController()
  #handedOn = 0

  constructor(parts: LogKeeperParts) {
    this.#parts = parts
    this.#pace = parts.isShared ? sharedPace : ownPace
    this.#stopTrimming = parts.nodes.lead('trim', (stop, lock) => this.#keepTrimmed(stop, lock))
  }

  /** Adds a reader for good: clients of a closed door may miss writes, too. */
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

  /** The commits of a part of the log, in either order. */
  async *read(part: Omit<LogQuery, 'limit'>): AsyncGenerator<Commit> {
    for await (const page of this.pages(part)) yield* page
  }

  /** The same in pages, none of them empty. */
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
   * @param stop aborted: the trim ends early
   * @param lock under which the trim takes effect
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
      // Ask every reader, since each one counts.
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
      // After a failure the next trim removes the rest.
      if (!stop.aborted) await this.trim(stop, lock).catch(() => {})
    }
  }
}
