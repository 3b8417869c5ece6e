import { once } from 'node:events'
import type { Nodes } from '../core/nodes.ts'
import type { Commit, DocumentStore, RecordStore } from '../core/ports.ts'
import type { ReceiptClock } from '../core/time/clock.ts'
import { AppliedMarks, type LoadedMarks } from './applied-marks.ts'
import { ApplyQueue, type ApplyQueueParts, type Backlog } from './apply-queue.ts'
import { listRemovalRequests, type RemovalRequest, removalRequest } from './removal-requests.ts'

export interface ApplierParts extends Omit<ApplyQueueParts, 'marks' | 'seenThrough'> {
  readonly records: Pick<RecordStore, 'append' | 'state' | 'read' | 'onCommit' | 'readLog' | 'catchUp'>
  readonly documents: Pick<DocumentStore, 'get' | 'list' | 'put' | 'transact'>
  readonly nodes: Pick<Nodes, 'onDocuments' | 'onGap'>
  readonly clock: Pick<ReceiptClock, 'now'>
  /** Called when requested removals are done, with the names of the documents that requested them. */
  readonly onRemoved: (names: readonly string[]) => void
}

const logPage = 100
/** `keepThrough` runs after this many commits, even if no state has changed. */
const commitsPerMark = 10_000

/**
 * Applies magic records while this node leads the task `magic`: first unapplied records in the commit log, then records of
 * delivered commits. Other nodes put a document to request the removal of a state.
 */
export class Applier {
  readonly #parts: ApplierParts
  readonly #marks: AppliedMarks
  readonly #queue: ApplyQueue
  #loaded: LoadedMarks = { through: 0, ofThings: new Map() }
  /** Number of the newest write that was pushed to the queue, or was applied before this applier started. */
  #seen = 0
  #sinceMark = 0
  /** Delivered commits and removals that are held back while the log is read. */
  #held: (Commit | (() => void))[] | undefined = []
  /** Number of the first write that is held back. */
  #firstHeld = Number.POSITIVE_INFINITY
  #isUpToDate = () => {}
  readonly #upToDate = new Promise<void>(resolve => {
    this.#isUpToDate = resolve
  })
  readonly #end = new AbortController()

  constructor(parts: ApplierParts) {
    this.#parts = parts
    this.#marks = new AppliedMarks(parts.documents)
    this.#queue = new ApplyQueue({ ...parts, marks: this.#marks, seenThrough: () => this.#seen })
  }

  /**
   * Runs until `stop` is aborted, or until a new applier must be started because the store failed during the start or commits were
   * missed. Resolves when no step is pending. Never rejects.
   */
  async run(stop: AbortSignal): Promise<void> {
    const { records, nodes } = this.#parts
    const end = () => this.#end.abort()
    const stops = [
      records.onCommit(commit => this.#takeOrHold(commit)),
      nodes.onDocuments(names => this.#takeRequests(names ?? [])),
      nodes.onGap(end),
    ]
    const ended = once(this.#end.signal, 'abort')
    stop.addEventListener('abort', end)
    if (stop.aborted) end()
    this.#takeUp().catch(end)
    await ended
    stop.removeEventListener('abort', end)
    for (const each of stops) each()
    await this.#queue.close()
    const held = this.#held ?? []
    this.#held = undefined
    // The closed queue rejects the removals that were held back.
    for (const each of held) if (typeof each === 'function') each()
  }

  get backlog(): Backlog {
    return this.#queue.backlog
  }

  /**
   * Removes a state, or a part of a state, after all writes that any node has acknowledged before the call.
   *
   * @throws ThingwireError if the store fails; store_unavailable if the applier ends before the state is durably removed
   */
  async remove(thingId: string, key: string): Promise<void> {
    await this.#parts.records.catchUp()
    await this.#remove(thingId, key)
  }

  /** @param name name of the document that requests the removal, if there is one */
  #remove(thingId: string, key: string, name?: string): Promise<void> {
    const remove = () => this.#queue.remove(thingId, key, this.#parts.clock.now(), name)
    const held = this.#held
    if (!held) return remove()
    // Removals run after the commits from the log.
    return new Promise((resolve, reject) => {
      held.push(() => void remove().then(resolve, reject))
    })
  }

  removeAsAsked({ name, thingId, key }: RemovalRequest): void {
    // If the removal fails, the next applier finds the document and tries again.
    this.#remove(thingId, key, name).then(
      () => this.#parts.onRemoved([name]),
      () => {},
    )
  }

  /** Resolves when all commits delivered before the call are applied; never if the applier ends before that. */
  async whenApplied(): Promise<void> {
    await this.#upToDate
    await this.#queue.whenApplied(this.#seen)
  }

  /** @throws ThingwireError if the store fails */
  async #takeUp(): Promise<void> {
    this.#loaded = await this.#marks.load()
    this.#seen = this.#loaded.through
    // Requests are listed before `catchUp`, so every write acknowledged before a request is in the log or held back.
    const requests = await listRemovalRequests(this.#parts.documents)
    await this.#parts.records.catchUp()
    for (const request of requests) this.removeAsAsked(request)
    for (;;) {
      const part = { after: this.#seen, before: this.#firstHeld, order: 'asc' } as const
      const commits = await this.#parts.records.readLog({ ...part, limit: logPage })
      if (this.#end.signal.aborted) return
      for (const commit of commits) {
        // Later commits are taken from `#held`, which also has commits that are not stored.
        if (commit.writeNumber < this.#firstHeld) this.#take(commit)
      }
      if (commits.length === 0) break
    }
    const held = this.#held ?? []
    this.#held = undefined
    for (const each of held) {
      if (typeof each === 'function') each()
      else this.#take(each)
    }
    this.#loaded = { through: 0, ofThings: new Map() }
    this.#isUpToDate()
  }

  #takeOrHold(commit: Commit): void {
    // After a gap, taking a commit would make `#seen` pass the missed commits.
    if (this.#end.signal.aborted) return
    this.#queue.hear(commit)
    if (this.#held) {
      this.#firstHeld = Math.min(this.#firstHeld, commit.writeNumber)
      this.#held.push(commit)
    } else {
      this.#take(commit)
    }
  }

  #take(commit: Commit): void {
    if (commit.writeNumber <= this.#seen) return
    this.#seen = commit.writeNumber
    this.#queue.push(commit, this.#loaded.ofThings.get(commit.thingId))
    if (++this.#sinceMark < commitsPerMark) return
    this.#sinceMark = 0
    // If `keepThrough` fails, the next applier reads more of the log.
    this.#marks.keepThrough(this.#queue.appliedThrough).catch(() => {})
  }

  #takeRequests(names: readonly string[]): void {
    for (const name of names) {
      const request = removalRequest(name)
      if (request) this.removeAsAsked(request)
    }
  }
}
