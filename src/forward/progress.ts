import type { RefusedRecord } from '../core/forward-report.ts'
import { listDocuments } from '../core/list-documents.ts'
import type { Lock } from '../core/locks.ts'
import type { Commit, Document, DocumentStore } from '../core/ports.ts'
import type { Live, LogReader } from '../live/index.ts'

/**
 * `forward/cursor`: every commit up to and including `after` is forwarded, except commits of things with a separate position.
 * Commits up to and including `cut` were dropped, because too many were waiting.
 */
type CursorDocument = {
  readonly after: number
  readonly cut: number
  /** Numbers of refused and dropped records since forwarding began. */
  readonly refused: number
  readonly dropped: number
  /** Time since which the server has run without forwarding, milliseconds since 1970. */
  readonly leftAt?: number
}

/** `forward/apart/<thing id>`: every commit of this thing up to and including `after` is forwarded. Stored for things held back. */
type ApartDocument = { readonly after: number }

export const forwardPrefix = 'forward/'
const cursorName = `${forwardPrefix}cursor`
const apartPrefix = `${forwardPrefix}apart/`
const refusedPrefix = `${forwardPrefix}refused/`
/** Maximum number of refused records that are stored. */
const keptRefused = 1_000

/** The position of forwarding; for the fields see `CursorDocument`. */
export interface Position {
  readonly after: number
  readonly cut: number
  readonly dropped: number
  /** Separate positions by thing id. */
  readonly apart: ReadonlyMap<string, number>
}

/** Keeps the position of forwarding in documents of the store. */
export class Progress {
  readonly #documents: DocumentStore
  #kept: Position
  /** Number of refused records that were ever stored, including removed ones. */
  #refusedCount: number
  /** Refused records that are not stored yet. */
  #refused: RefusedRecord[] = []
  /** When the server began to run without forwarding, milliseconds since 1970; undefined if it did not. */
  readonly leftAt: number | undefined

  private constructor(
    documents: DocumentStore,
    kept: Position,
    refusedCount: number,
    leftAt: number | undefined,
  ) {
    this.#documents = documents
    this.#kept = kept
    this.#refusedCount = refusedCount
    this.leftAt = leftAt
  }

  /**
   * Reads the position, or begins forwarding.
   *
   * @param from number of the newest write: if forwarding begins, it begins after this write
   * @throws ThingwireError if the store fails
   */
  static async open(documents: DocumentStore, from: number): Promise<Progress> {
    const begun: CursorDocument = { after: from, cut: 0, refused: 0, dropped: 0 }
    const cursor = await documents.transact([cursorName], ([document]) => {
      const kept = document as CursorDocument | undefined
      const { leftAt, ...cursor } = kept ?? begun
      const put = kept && leftAt === undefined ? {} : { [cursorName]: cursor }
      return { put, result: kept ?? begun, purpose: 'essential' }
    })
    return await Progress.#read(documents, cursor)
  }

  /** Notes that the server runs without forwarding. @returns undefined if it never forwarded @throws ThingwireError if the store fails */
  static async leave(documents: DocumentStore): Promise<Progress | undefined> {
    const cursor = await documents.transact([cursorName], ([document]) => {
      if (!document) return { put: {}, result: undefined, purpose: 'essential' }
      const left: CursorDocument = { leftAt: Date.now(), ...(document as CursorDocument) }
      return { put: { [cursorName]: left }, result: left, purpose: 'essential' }
    })
    return cursor && (await Progress.#read(documents, cursor))
  }

  static async #read(documents: DocumentStore, cursor: CursorDocument): Promise<Progress> {
    const { after, cut, refused, dropped, leftAt } = cursor
    const apart = new Map<string, number>()
    for await (const [thingId, each] of listDocuments<ApartDocument>(documents, apartPrefix)) {
      apart.set(thingId, each.after)
    }
    return new Progress(documents, { after, cut, dropped, apart }, refused, leftAt)
  }

  /** Whether a commit of a forwarded thing must stay in the log, according to the stored position. */
  isNeeded({ thingId, writeNumber, records }: Commit): boolean {
    const { after, cut, apart } = this.#kept
    return records.length > 0 && writeNumber > Math.max(cut, apart.get(thingId) ?? after)
  }

  get kept(): Position {
    return this.#kept
  }

  /** Number of refused records since forwarding began. */
  get refusedCount(): number {
    return this.#refusedCount + this.#refused.length
  }

  /** The record is stored together with the next position. */
  addRefused(refused: RefusedRecord): void {
    this.#refused.push(refused)
  }

  /** Stores the position durably. @throws ThingwireError if the store fails; LockLost */
  async keep(position: Position, lock: Lock): Promise<void> {
    const refused = this.#refused.splice(0)
    const count = this.#refusedCount + refused.length
    if (refused.length === 0 && isSame(position, this.#kept)) return
    const { after, cut, dropped, apart } = position
    const cursor: CursorDocument = { after, cut, dropped, refused: count }
    const put: Record<string, Document | null> = { [cursorName]: cursor }
    for (const [thingId, each] of apart) {
      if (this.#kept.apart.get(thingId) !== each) put[apartPrefix + thingId] = { after: each }
    }
    for (const thingId of this.#kept.apart.keys()) if (!apart.has(thingId)) put[apartPrefix + thingId] = null
    for (const [index, each] of refused.entries()) {
      const ordinal = this.#refusedCount + index
      put[refusedName(ordinal)] = { ...each }
      if (ordinal >= keptRefused) put[refusedName(ordinal - keptRefused)] = null
    }
    try {
      // Put even if the disk is full, since the new position allows the log to be trimmed.
      await this.#documents.put(put, 'essential', lock)
    } catch (error) {
      this.#refused.unshift(...refused)
      throw error
    }
    this.#refusedCount = count
    this.#kept = position
  }

  /** The newest refused records, newest first. @throws ThingwireError if the store fails */
  async refused(limit: number): Promise<readonly RefusedRecord[]> {
    const fresh = this.#refused.toReversed().slice(0, limit)
    const count = Math.min(limit - fresh.length, keptRefused, this.#refusedCount)
    const newest = this.#refusedCount - 1
    const names = Array.from({ length: count }, (_, index) => refusedName(newest - index))
    const documents = await Promise.all(names.map(name => this.#documents.get(name)))
    return [
      ...fresh,
      ...documents.flatMap(document => (document ? [document as unknown as RefusedRecord] : [])),
    ]
  }
}

function refusedName(ordinal: number): string {
  return `${refusedPrefix}${`${ordinal}`.padStart(16, '0')}`
}

function isSame(one: Position, other: Position): boolean {
  const isAlike = one.after === other.after && one.cut === other.cut && one.dropped === other.dropped
  if (!isAlike || one.apart.size !== other.apart.size) return false
  return [...one.apart].every(([thingId, after]) => other.apart.get(thingId) === after)
}

/**
 * Keeps unforwarded commits in the log while the server runs without forwarding, perhaps by mistake. Commits made meanwhile are not
 * kept, since forwarding may never resume.
 */
export class LeftLog implements LogReader {
  readonly #progress: Progress
  readonly #upTo: number

  private constructor(progress: Progress, upTo: number) {
    this.#progress = progress
    this.#upTo = upTo
  }

  /** @returns whether forwarding has ever begun @throws ThingwireError if the store fails */
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
