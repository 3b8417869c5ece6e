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
 * For so long after something came nothing is asked for: commits of this node bring what is new, and a trickle of others' is
 * read in few calls. A live message of another node is late by this at most.
 */
const pause = 10

type StreamReply = readonly (readonly [name: Buffer, entries: readonly LogEntry[]])[]

/** Entries of the log, and what its head was right behind them. */
interface LogPart {
  readonly entries: readonly LogEntry[]
  /** Newest write number. */
  readonly newest: number
  /** Newest write number that was ever trimmed. */
  readonly trimmed: number
}

/**
 * Reads the commit log as it grows, whichever node writes to it, and calls this node's listeners: so live order is commit
 * order on every node, and what a node misses while it cannot reach Redis is delivered when it can. Where the log does not go
 * back so far, or Redis has lost of it what was read, listeners are notified of the gap, and it goes on with what is new.
 *
 * What this node commits comes with the reply, and what others have committed before it (`take`). A node that writes all
 * the time so asks for nothing; Redis notifies one that does not.
 */
export class Follower {
  readonly listeners: LogListeners
  readonly #client: Client
  readonly #keys: Keys
  readonly #node: string
  /** In the order of their write numbers as a rule. */
  #waiters: { readonly writeNumber: number; readonly resolve: () => void; readonly reject: () => void }[] = []
  #newestDelivered = 0
  /** Number of the newest write that was read: it can be looked for. */
  #newestRead = 0
  /** Number of the newest write in front of which a gap ends. */
  #gapAt = 0
  /** When something came last, by the monotonic clock. */
  #cameAt = 0
  #wake = () => {}
  readonly #undo = new UndoMemory()
  #isClosed = false
  #running: Promise<void> = Promise.resolve()

  /** @param client of its own: it waits for what is new */
  constructor(client: Client, keys: Keys, node: string) {
    this.#client = client
    this.#keys = keys
    this.#node = node
    this.listeners = new LogListeners(node)
  }

  /** Number of the newest write that was delivered. */
  get newestDelivered(): number {
    return this.#newestDelivered
  }

  /** Number of the newest write that was read of the log, unless there was a gap behind it. */
  get newestRead(): number {
    return this.#newestRead
  }

  /**
   * @param entries that follow `newestRead`, as it is or was, without a gap; may be empty
   * @returns how many other nodes wrote of them what was new
   */
  take(entries: readonly (LogEntry | ShortEntries)[]): number {
    return this.#isClosed ? 0 : this.#deliver(entries)
  }

  /** @param newestDelivered number of the newest write that need not be delivered */
  start(newestDelivered: number): void {
    this.#newestDelivered = newestDelivered
    this.#newestRead = newestDelivered
    this.#running = this.#run()
  }

  /**
   * Resolves when every write up to this one was delivered.
   *
   * @throws ThingwireError store_unavailable when it is closed before
   */
  reached(writeNumber: number): Promise<void> {
    if (writeNumber <= this.#newestDelivered) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const closed = () => reject(new ThingwireError('store_unavailable', 'the store is closed'))
      if (this.#isClosed) closed()
      else this.#waiters.push({ writeNumber, resolve, reject: closed })
      this.#wake()
    })
  }

  /** From now on `undoSince` knows of what is written behind `newestDelivered`, as it is now. Returns how to stop. */
  remember(): () => void {
    return this.#undo.open(this.#newestDelivered)
  }

  /**
   * Of the commits behind the write, in their order, what was latest before them and is of this write or older.
   *
   * @param writeNumber `newestDelivered` at a call of `remember` that was not stopped
   * @throws ThingwireError store_unavailable: some of them were missed
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
        // It is read again from where it was.
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
    // Meanwhile it may have been brought more.
    const isMissing = trimmed > this.#newestDelivered || newest < before
    if (isMissing) await this.#skip()
    else if (entries.length > 0) this.#deliver(entries)
    else if (newest > this.#newestDelivered) await this.#passEmpty(newest)
  }

  /** @param block how long to wait for an entry, milliseconds; absent: not at all */
  async #read(block?: number): Promise<LogPart> {
    const blocking = block === undefined ? [] : ['BLOCK', block]
    const from = `${this.#newestDelivered}-0`
    // Over one connection, so that nothing is trimmed unseen between what was looked for and what was found.
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

  /** Of a thing that is removed, entries go before they are read, and nothing may come behind them for a while. */
  async #passEmpty(newest: number): Promise<void> {
    const { entries } = await this.#read()
    if (entries.length === 0) this.#reach(newest)
    this.#deliver(entries)
  }

  /** Whether Redis, which was away, has come back without what was read of it. */
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

/**
 * What was latest before it was put over or removed, as far as an open snapshot has to show it: of each resource about as
 * much as there are snapshots, however long they are open and however much is written meanwhile.
 */
export class UndoMemory {
  /** An entry each, since several may be of one write. */
  readonly #snapshots = new Set<{ readonly writeNumber: number }>()
  #newestSnapshot = -1
  /** In commit order. */
  #undo: Undo[] = []

  /** From now on, what a snapshot of this write needs is kept. Returns how to stop. */
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

  /** In commit order, of the commits behind the write. */
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

/** Whether what was there before the commit is as old as the write. */
function isSeen({ before }: Undo, writeNumber: number): boolean {
  return before !== undefined && writeNumberInState(before) <= writeNumber
}
