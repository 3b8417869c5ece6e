import type { Append, Commit, LogQuery, RecordStore } from '../core/ports.ts'
import { sizeOf } from './commit-size.ts'

/** What a follower is asked about, before it is committed. */
export type LoggedWrite = Pick<Append, 'thingId' | 'records' | 'broadcast'>

/** Someone who may have to read commits again: sessions that are away, streams that were cut, the magic queue. */
export interface Follower {
  /** Whether the write is to be kept. Asked for every write: must be quick. */
  wants(write: LoggedWrite): boolean
  /**
   * A trim begins.
   *
   * @returns whether a commit is still needed; asked newest first, about every commit of the log up to `position`
   */
  startTrim(position: number): Promise<(commit: Commit) => boolean>
}

/** The log is trimmed when it has grown by as much as was left of it, and by this at least. */
const leastGrowth = { commits: 10_000, bytes: 4 * 1024 * 1024 }
const pageSize = 500
/** Sessions and streams also expire while nothing is written, milliseconds. */
const trimInterval = 3_600_000

/** The commits that someone may have to read again (design: sessions are cursors), and no others for long. */
export class CommitLog {
  readonly #records: RecordStore
  readonly #followers = new Set<Follower>()
  readonly #timer: NodeJS.Timeout
  /** Of what was logged since the newest trim began, and of what that left. */
  #grown = { commits: 0, bytes: 0 }
  #left = { commits: 0, bytes: 0 }
  #trimming: Promise<void> | undefined
  #position = 0
  #isClosed = false

  constructor(records: RecordStore) {
    this.#records = records
    this.#timer = setInterval(() => this.#startTrim(), trimInterval)
    this.#timer.unref()
  }

  /** For good: what is written while a door is closed may be missed by its clients too. */
  follow(follower: Follower): void {
    this.#followers.add(follower)
  }

  isWanted(write: LoggedWrite): boolean {
    for (const follower of this.#followers) if (follower.wants(write)) return true
    return false
  }

  /** Takes note of a commit that was handed on. */
  count(commit: Commit): void {
    this.#position = commit.writeNumber
    if (!commit.stored || !this.isWanted(commit)) return
    this.#grown.commits++
    this.#grown.bytes += sizeOf(commit)
    const isLarge =
      this.#grown.commits > Math.max(leastGrowth.commits, this.#left.commits) ||
      this.#grown.bytes > Math.max(leastGrowth.bytes, this.#left.bytes)
    if (isLarge) this.#startTrim()
  }

  /** The commits of a part of the log, in either order. */
  async *read(part: Omit<LogQuery, 'limit'>): AsyncGenerator<Commit> {
    let { after, before } = part
    for (;;) {
      const page = await this.#records.readLog({ ...part, after, before, limit: pageSize })
      yield* page
      const last = page.at(-1)
      if (!last) return
      if (part.order === 'asc') after = last.writeNumber
      else before = last.writeNumber
    }
  }

  /** Removes what nobody needs any more. */
  async trim(): Promise<void> {
    this.#grown = { commits: 0, bytes: 0 }
    const left = { commits: 0, bytes: 0 }
    const position = this.#position
    const needed = await Promise.all([...this.#followers].map(follower => follower.startTrim(position)))
    const unneeded: number[] = []
    for await (const commit of this.read({ after: 0, before: position + 1, order: 'desc' })) {
      if (this.#isClosed) return
      // All are asked: each counts what it needs.
      const answers = needed.map(isNeeded => isNeeded(commit))
      if (answers.includes(true)) {
        left.commits++
        left.bytes += sizeOf(commit)
      } else {
        unneeded.push(commit.writeNumber)
      }
      if (unneeded.length >= pageSize) await this.#records.trimLog(unneeded.splice(0))
    }
    if (unneeded.length > 0) await this.#records.trimLog(unneeded)
    this.#left = left
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
  }

  #startTrim(): void {
    // One that fails leaves more in the log than is needed; the next one finds it.
    this.#trimming ??= this.trim()
      .catch(() => {})
      .finally(() => {
        this.#trimming = undefined
      })
  }
}
