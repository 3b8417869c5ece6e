import { rest } from '../core/async/retry-until.ts'
import { sizeOf } from '../core/commit-outline.ts'
import type { Lock } from '../core/locks.ts'
import type { Nodes } from '../core/nodes.ts'
import type { Commit, LogQuery, RecordStore } from '../core/ports.ts'

/** What a reader is asked about, before it is committed. */
export type LoggedWrite = Pick<Commit, 'thingId' | 'records' | 'broadcast'>

/** Someone who may have to read commits again: sessions that are away, streams that were cut, the magic queue. */
export interface LogReader {
  /** Whether the write is to be kept. Asked for every write: must be quick. */
  wants(write: LoggedWrite): boolean
  /**
   * A trim begins. What other nodes need counts, too: the answer is to come from documents.
   *
   * @returns whether a commit is still needed; asked newest first, about every commit of the log up to `upTo`
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
 * The log is trimmed when it has grown by as much as was left of it, and by this at least; and by the clock, since sessions
 * and streams expire while nothing is written. Bytes, milliseconds.
 */
const ownPace = { commits: 10_000, bytes: 4 * 1024 * 1024, interval: 3_600_000 }
/** A shared log holds what is young whoever wants it, in memory: what has become old is looked at often. */
const sharedPace = { commits: 100_000, bytes: 64 * 1024 * 1024, interval: 10_000 }
/** How much longer the interval is for each commit that was left, since a trim reads it: milliseconds. */
const delayPerCommit = 1
const pageSize = 500

/**
 * The commits that someone may have to read again (design: sessions are cursors), and no others for long. It is trimmed
 * by the node that leads `trim`.
 */
export class LogKeeper {
  readonly #parts: LogKeeperParts
  readonly #pace: typeof ownPace
  readonly #readers: LogReader[] = []
  readonly #stopTrimming: () => Promise<void>
  /** Of what was logged since the newest trim began, and of what that left. */
  #grown = { commits: 0, bytes: 0 }
  #left = { commits: 0, bytes: 0 }
  /** Aborted when it has grown so much that it is to be trimmed before its time. */
  #due = new AbortController()
  #handedOn = 0

  constructor(parts: LogKeeperParts) {
    this.#parts = parts
    this.#pace = parts.isShared ? sharedPace : ownPace
    this.#stopTrimming = parts.nodes.lead('trim', (stop, lock) => this.#keepTrimmed(stop, lock))
  }

  /** For good: what is written while a door is closed may be missed by its clients too. */
  keepFor(reader: LogReader): void {
    this.#readers.push(reader)
  }

  isWanted(write: LoggedWrite): boolean {
    for (const reader of this.#readers) if (reader.wants(write)) return true
    return false
  }

  /** Takes note of a commit that was handed on. */
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
   * Removes what nobody needs any more.
   *
   * @param stop breaks it off; absent: nothing does
   * @param lock in whose name it is
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
      // All are asked: each counts what it needs.
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

  /** Resolves when it is trimmed no more. */
  close(): Promise<void> {
    return this.#stopTrimming()
  }

  /** Never rejects. */
  async #keepTrimmed(stop: AbortSignal, lock: Lock): Promise<void> {
    stop.addEventListener('abort', () => this.#due.abort(), { once: true })
    while (!stop.aborted) {
      this.#due = new AbortController()
      await rest(this.#pace.interval + this.#left.commits * delayPerCommit, this.#due.signal)
      // One that fails leaves more in the log than is needed; the next one finds it.
      if (!stop.aborted) await this.trim(stop, lock).catch(() => {})
    }
  }
}
