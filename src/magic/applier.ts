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
  /** The removals that these documents asked for are done. */
  readonly onRemoved: (names: readonly string[]) => void
}

const logPage = 100
/** After so many commits it is kept that all before is applied, whether or not a state has changed. */
const commitsPerMark = 10_000

/**
 * Applies magic records for as long as this node leads the task: what the marks say is not applied yet from the commit log,
 * then the commits that are delivered. Removals of another node show in their documents.
 */
export class Applier {
  readonly #parts: ApplierParts
  readonly #marks: AppliedMarks
  readonly #queue: ApplyQueue
  #loaded: LoadedMarks = { through: 0, ofThings: new Map() }
  /** Number of the newest write that the queue has seen. */
  #seen = 0
  #sinceMark = 0
  /** Commits that are delivered, and requests, while the log is read. */
  #held: (Commit | (() => void))[] | undefined = []
  /** Number of the first write that is held. */
  #firstHeld = Number.POSITIVE_INFINITY
  #isUpToDate = () => {}
  readonly #upToDate = new Promise<void>(resolve => {
    this.#isUpToDate = resolve
  })
  /** Ends it, for whatever reason. */
  readonly #end = new AbortController()

  constructor(parts: ApplierParts) {
    this.#parts = parts
    this.#marks = new AppliedMarks(parts.documents)
    this.#queue = new ApplyQueue({ ...parts, marks: this.#marks, seenThrough: () => this.#seen })
  }

  /**
   * Resolves when `stop` is aborted, or another applier has to begin anew (the store has failed at the start, or commits
   * were missed), and nothing is under way any more. Never rejects.
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
    // Removals that wait for a queue that is closed: it says so.
    for (const each of held) if (typeof each === 'function') each()
  }

  get backlog(): Backlog {
    return this.#queue.backlog
  }

  /**
   * Removes a state, or a part of one, after what was acknowledged before the call, by whichever node.
   *
   * @throws ThingwireError of the store; store_unavailable if it ends before the state is durably gone
   */
  async remove(thingId: string, key: string): Promise<void> {
    await this.#parts.records.catchUp()
    await this.#remove(thingId, key)
  }

  /** @param name of the document that asks for it, if there is one */
  #remove(thingId: string, key: string, name?: string): Promise<void> {
    const remove = () => this.#queue.remove(thingId, key, this.#parts.clock.now(), name)
    const held = this.#held
    if (!held) return remove()
    // Behind what is read of the log.
    return new Promise((resolve, reject) => {
      held.push(() => void remove().then(resolve, reject))
    })
  }

  /** A document asks for it. */
  removeAsAsked({ name, thingId, key }: RemovalRequest): void {
    // One that fails is done by whoever applies next.
    this.#remove(thingId, key, name).then(
      () => this.#parts.onRemoved([name]),
      () => {},
    )
  }

  /** Resolves when every commit that was delivered before the call is applied: never, if it ends before. */
  async whenApplied(): Promise<void> {
    await this.#upToDate
    await this.#queue.whenApplied(this.#seen)
  }

  /** @throws ThingwireError of the store */
  async #takeUp(): Promise<void> {
    this.#loaded = await this.#marks.load()
    this.#seen = this.#loaded.through
    // Before the log, and then behind what was delivered so far: every write acknowledged before the request is in one of the two.
    const requests = await listRemovalRequests(this.#parts.documents)
    await this.#parts.records.catchUp()
    for (const request of requests) this.removeAsAsked(request)
    for (;;) {
      const part = { after: this.#seen, before: this.#firstHeld, order: 'asc' } as const
      const commits = await this.#parts.records.readLog({ ...part, limit: logPage })
      if (this.#end.signal.aborted) return
      for (const commit of commits) {
        // The rest is taken as it is delivered: what is not kept is in no log.
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
    // What was missed before it must not count as seen.
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
    // One that fails leaves more to be read again.
    this.#marks.keepThrough(this.#queue.appliedThrough).catch(() => {})
  }

  #takeRequests(names: readonly string[]): void {
    for (const name of names) {
      const request = removalRequest(name)
      if (request) this.removeAsAsked(request)
    }
  }
}
