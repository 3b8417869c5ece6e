import { rest } from '../../../core/async/retry-until.ts'
import { ThingwireError } from '../../../errors.ts'
import { longestBlock } from '../connection/connection.ts'
import type { Keys } from '../keys.ts'
import { writeNumberInState } from '../record-member.ts'
import { type Client, Script } from '../script.ts'
import {
  type DecodedEntry,
  decodeEntry,
  decodeShort,
  type LogEntry,
  type ShortEntries,
  type Undo,
  writeNumberOf,
} from './log-entry.ts'
import { LogListeners } from './log-listeners.ts'

const beginAnew = new Script('begin-anew')
const entriesAtOnce = 500
/** Milliseconds. */
const retryAfter = 100
/**
 * Milliseconds to wait after new entries arrive before the log is read again, so that one read, or the reply to a commit of this
 * node, returns several commits of other nodes. A live message from another node is delayed by at most this time.
 */
const pause = 10

type StreamReply = readonly (readonly [name: Buffer, entries: readonly LogEntry[]])[]

/**
 * Reads the commit log as it grows, whichever node writes to it, and calls this node's listeners. So every node delivers in
 * commit order, and delivers commits that it missed while it could not reach Redis. If the log does not go back that far, or
 * Redis has lost entries that were read, the follower notifies listeners of the gap, and continues with new entries.
 *
 * The reply to a commit of this node contains the log entry of the commit, and earlier new entries of other nodes (`take`). So a
 * node that writes constantly need not read the log. On other nodes, a blocking read waits for new entries.
 */
export class Follower {
  readonly listeners: LogListeners
  readonly #client: Client
  readonly #keys: Keys
  readonly #node: string
  #waiters: { readonly writeNumber: number; readonly resolve: () => void; readonly reject: () => void }[] = []
  #newestDelivered = 0
  /** Number of the newest write that was read from the log. If the log lacks this write later, Redis has lost entries. */
  #newestRead = 0
  /** Write number at which the newest gap ends, inclusive. */
  #gapAt = 0
  /** Time of the monotonic clock at which the newest entries arrived. */
  #cameAt = 0
  #wake = () => {}
  readonly #undo = new UndoMemory()
  #isClosed = false
  #running: Promise<void> = Promise.resolve()

  /** @param client used only by this follower, since its reads block */
  constructor(client: Client, keys: Keys, node: string) {
    this.#client = client
    this.#keys = keys
    this.#node = node
    this.listeners = new LogListeners(node)
  }

  get newestDelivered(): number {
    return this.#newestDelivered
  }

  /** Number of the newest write that was read from the log, or, if a gap followed, the number at which the gap ends. */
  get newestRead(): number {
    return this.#newestRead
  }

  /** @param entries all log entries after the current or an earlier `newestRead` @returns number of other nodes with new entries */
  take(entries: readonly (LogEntry | ShortEntries)[]): number {
    return this.#isClosed ? 0 : this.#deliver(entries)
  }

  /** @param newestDelivered number of the last write that need not be delivered */
  start(newestDelivered: number): void {
    this.#newestDelivered = newestDelivered
    this.#newestRead = newestDelivered
    this.#running = this.#run()
  }

  /** Resolves when all writes up to this one are delivered. @throws ThingwireError store_unavailable: the store was closed first */
  reached(writeNumber: number): Promise<void> {
    if (writeNumber <= this.#newestDelivered) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const closed = () => reject(new ThingwireError('store_unavailable', 'the store is closed'))
      if (this.#isClosed) closed()
      else this.#waiters.push({ writeNumber, resolve, reject: closed })
      this.#wake()
    })
  }

  /** Records changes after the current `newestDelivered`, for `undoSince`. @returns a function that ends the recording */
  remember(): () => void {
    return this.#undo.open(this.#newestDelivered)
  }

  /**
   * The states and latest records that commits after a write have replaced or removed, as they were at the write, in commit order.
   *
   * @param writeNumber value of `newestDelivered` when `remember` was called; the recording must not have ended
   * @throws ThingwireError store_unavailable if some of the later commits were missed
   */
  undoSince(writeNumber: number): readonly Undo[] {
    if (writeNumber < this.#gapAt) {
      throw new ThingwireError('store_unavailable', 'part of the commit log was missed')
    }
    return this.#undo.since(writeNumber)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#client.disconnect()
    this.#wake()
    await this.#running
    for (const { reject } of this.#waiters.splice(0)) reject()
  }

  async #run(): Promise<void> {
    let wasCutOff = false
    while (!this.#isClosed) {
      try {
        if (wasCutOff && (await this.#hasLost())) await this.#skip()
        wasCutOff = false
        await this.#pause()
        await this.#follow()
      } catch {
        wasCutOff = true
        if (!this.#isClosed) await rest(retryAfter)
      }
    }
  }

  async #pause(): Promise<void> {
    for (;;) {
      const left = this.#cameAt + pause - performance.now()
      if (left <= 0 || this.#waiters.length > 0 || this.#isClosed) return
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, left)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  async #follow(): Promise<void> {
    const before = this.#newestDelivered
    const { entries, newest, trimmed } = await this.#read(longestBlock)
    // `take` may have delivered more entries meanwhile.
    const isMissing = trimmed > this.#newestDelivered || newest < before
    if (isMissing) await this.#skip()
    else if (entries.length > 0) this.#deliver(entries)
    else if (newest > this.#newestDelivered) await this.#passEmpty(newest)
  }

  /** Reads the next entries, then the newest write number and the newest trimmed number. @param block maximum wait, milliseconds */
  async #read(block?: number) {
    const blocking = block === undefined ? [] : ['BLOCK', block]
    const from = `${this.#newestDelivered}-0`
    // The second read follows the first in one pipeline, so that `trimmed` includes a trim between the two reads.
    const replies = await this.#client
      .pipeline()
      .callBuffer('XREAD', 'COUNT', entriesAtOnce, ...blocking, 'STREAMS', this.#keys.log, from)
      .hmget(this.#keys.head, 'number', 'trimmed')
      .exec()
    const [read, head] = results(replies)
    const [newest, trimmed] = head as readonly (string | null)[]
    const entries = (read as StreamReply | null)?.[0]?.[1] ?? []
    return { entries, newest: Number(newest ?? 0), trimmed: Number(trimmed ?? 0) }
  }

  /** Called if the newest entry is not in the log. This is no gap: removing a thing may remove its entries before they are read. */
  async #passEmpty(newest: number): Promise<void> {
    const { entries } = await this.#read()
    if (entries.length === 0) this.#reach(newest)
    this.#deliver(entries)
  }

  /** Whether Redis has lost an entry that this node has read, for example in a failover. */
  async #hasLost(): Promise<boolean> {
    const read = this.#newestRead
    const id = `${read}-0`
    const found = await this.#client.xrange(this.#keys.log, id, id)
    const trimmed = Number(await this.#client.hget(this.#keys.head, 'trimmed'))
    return read > trimmed && found.length === 0
  }

  async #skip(): Promise<void> {
    const place = await beginAnew.run(this.#client, this.#keys.head, [this.#node, this.#newestDelivered])
    this.#gapAt = Number(place)
    this.#undo.clear()
    this.#newestRead = this.#gapAt
    this.listeners.reportGap()
    this.#reach(this.#gapAt)
  }

  #deliver(parts: readonly (LogEntry | ShortEntries)[]): number {
    if (parts.length === 0) return 0
    const others = new Set<string>()
    this.#cameAt = performance.now()
    for (const part of parts) {
      if (Buffer.isBuffer(part)) {
        for (const commit of decodeShort(part, this.#newestDelivered, this.#node)) {
          this.#pass(commit, others)
          this.listeners.deliverCommit(commit)
        }
      } else if (writeNumberOf(part) > this.#newestDelivered) {
        const entry = decodeEntry(part, this.#node)
        this.#pass(entry, others)
        this.#undo.add(entry.undo)
        this.listeners.deliver(entry)
      }
    }
    this.#reach(this.#newestDelivered)
    return others.size
  }

  #pass({ writeNumber, node }: Pick<DecodedEntry, 'writeNumber' | 'node'>, others: Set<string>): void {
    this.#newestDelivered = writeNumber
    this.#newestRead = writeNumber
    if (node !== this.#node) others.add(node)
  }

  #reach(writeNumber: number): void {
    this.#newestDelivered = Math.max(this.#newestDelivered, writeNumber)
    const waiting = this.#waiters
    this.#waiters = []
    for (const waiter of waiting) {
      if (waiter.writeNumber <= this.#newestDelivered) waiter.resolve()
      else this.#waiters.push(waiter)
    }
  }
}

/** @throws the first error of a pipeline */
function results(replies: readonly [Error | null, unknown][] | null): unknown[] {
  return (replies ?? []).map(([error, result]) => {
    if (error) throw error
    return result
  })
}

/** States and latest records that were replaced or removed but are needed by an open snapshot. */
export class UndoMemory {
  /** One object per snapshot, since several snapshots may have the same write number. */
  readonly #snapshots = new Set<{ readonly writeNumber: number }>()
  #newestSnapshot = -1
  /** The changes in commit order. */
  #undo: Undo[] = []

  /** Starts to keep the records that a snapshot as of this write needs. @returns a function that discards them again */
  open(writeNumber: number): () => void {
    const snapshot = { writeNumber }
    this.#snapshots.add(snapshot)
    this.#newestSnapshot = Math.max(this.#newestSnapshot, writeNumber)
    return () => {
      if (this.#snapshots.delete(snapshot)) this.#forget()
    }
  }

  add(undo: readonly Undo[]): void {
    if (this.#snapshots.size === 0) return
    for (const each of undo) if (isSeen(each, this.#newestSnapshot)) this.#undo.push(each)
  }

  /** The changes by later commits that a snapshot as of this write must undo, in commit order. */
  since(writeNumber: number): readonly Undo[] {
    return this.#undo.filter(undo => undo.writeNumber > writeNumber && isSeen(undo, writeNumber))
  }

  clear(): void {
    this.#undo = []
  }

  #forget(): void {
    const numbers = [...this.#snapshots].map(({ writeNumber }) => writeNumber)
    const oldest = Math.min(...numbers)
    this.#newestSnapshot = Math.max(-1, ...numbers)
    this.#undo = this.#undo.filter(undo => undo.writeNumber > oldest)
  }
}

/** Whether a snapshot taken at `writeNumber` still shows the record or state that the change of `Undo` replaced. */
function isSeen({ before }: Undo, writeNumber: number): boolean {
  return before !== undefined && writeNumberInState(before) <= writeNumber
}
