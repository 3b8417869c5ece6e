import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { SinkWatch } from './sink-watch.ts'

/** Maximum number of bytes that may be queued for one subscriber (contract §7.6). */
const maximumWaiting = 8 * 1024 * 1024

interface OutboxParts<Item> {
  readonly sink: Writable
  readonly socket: Socket | undefined
  /** The bytes of the item; undefined if the item cannot be sent yet. Call `pump` when it can be sent. */
  readonly encode: (item: Item) => Uint8Array | undefined
  /** Number of bytes that a queued item counts toward the maximum. */
  readonly weigh: (item: Item) => number
  /** Items are joined into one write to the sink until the write has at least this many bytes; 0: each item is written alone. */
  readonly joined: number
  /** How long the sink may accept no bytes before `onStuck` is called, milliseconds. */
  readonly drainTimeout: number
  /** Called at each write to the sink, with the first item of the write, which has waited longest. */
  readonly onSent?: (first: Item) => void
  /** Called at most once, if the subscriber reads too slowly or not at all. Must disconnect the subscriber. */
  readonly onStuck: (why: string) => void
}

/**
 * The messages queued for one subscriber, in order. `push` never blocks: the outbox writes as fast as the sink accepts bytes, and
 * gives up on a subscriber if its sink is stuck or too many bytes are queued.
 */
export class Outbox<Item> {
  readonly #parts: OutboxParts<Item>
  readonly #queue = new Fifo<Item | Slot<Item>>()
  readonly #beside = new Fifo<Item>()
  #isTurnOfBeside = false
  /** Bytes of the items outside slots. Items in slots do not count, since their producer waits for `whenTaken`. */
  #waiting = 0
  #isScheduled = false
  #isClosed = false
  /** First item of the current write to the sink. */
  #first: Item | undefined
  /** Bytes written since the sink was last empty. */
  #sent = 0
  readonly #watch: SinkWatch

  constructor(parts: OutboxParts<Item>) {
    this.#parts = parts
    const { sink, socket, drainTimeout } = parts
    this.#watch = new SinkWatch({ sink, socket, drainTimeout, onStuck: why => this.#giveUp(why) })
    sink.on('drain', this.#onDrain)
  }

  /** Whether the outbox is open and its queue is empty. The queue of `pushBeside` does not count. */
  get isEmpty(): boolean {
    return !this.#isClosed && this.#queue.isEmpty
  }

  push(item: Item): void {
    this.#add(item, this.#queue)
  }

  /** Queues an item in a second queue. The two queues take turns; there is no order between their items. */
  pushBeside(item: Item): void {
    this.#add(item, this.#beside)
  }

  #add(item: Item, queue: { push(item: Item): void }): void {
    if (this.#isClosed) return
    this.#waiting += this.#parts.weigh(item)
    queue.push(item)
    if (this.#waiting + this.#parts.sink.writableLength > maximumWaiting) {
      this.#giveUp(`more than ${maximumWaiting} bytes are queued for it`)
      return
    }
    this.#schedule()
  }

  openSlot(): Slot<Item> {
    const slot = new Slot<Item>(() => this.#schedule())
    if (this.#isClosed) slot.abandon()
    else this.#queue.push(slot)
    return slot
  }

  /** Number of bytes in the sink that this outbox did not write. The number is too low if the sink has sent a part of its bytes. */
  get foreignBytes(): number {
    return Math.max(0, this.#parts.sink.writableLength - this.#sent)
  }

  /** Sends as much as the sink accepts. */
  pump(): void {
    const { sink, onSent } = this.#parts
    if (sink.writableLength === 0) this.#sent = 0
    while (!this.#isClosed && !sink.destroyed && !sink.writableNeedDrain) {
      const bytes = this.#takeJoined()
      if (bytes === undefined) break
      this.#sent += bytes.length
      sink.write(bytes)
      if (onSent && this.#first !== undefined) onSent(this.#first)
      this.#first = undefined
    }
    this.watch()
  }

  watch(): void {
    if (!this.#isClosed) this.#watch.begin()
  }

  /** Drops all items, but leaves the sink open. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#watch.end()
    this.#parts.sink.removeListener('drain', this.#onDrain)
    this.#beside.clear()
    for (const entry of this.#queue.clear()) if (entry instanceof Slot) entry.abandon()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isClosed) return
    this.#isScheduled = true
    // Deferred, so that items pushed in the same turn of the event loop are sent together.
    process.nextTick(() => {
      this.#isScheduled = false
      this.pump()
    })
  }

  #takeJoined(): Uint8Array | undefined {
    const first = this.#take()
    if (first === undefined || this.#parts.joined === 0) return first
    const pieces = [first]
    for (let size = first.length; size < this.#parts.joined; ) {
      const piece = this.#take()
      if (piece === undefined) break
      pieces.push(piece)
      size += piece.length
    }
    return pieces.length === 1 ? first : Buffer.concat(pieces)
  }

  #take(): Uint8Array | undefined {
    if (this.#beside.isEmpty) return this.#takeInOrder()
    this.#isTurnOfBeside = !this.#isTurnOfBeside
    return this.#isTurnOfBeside
      ? (this.#takeBeside() ?? this.#takeInOrder())
      : (this.#takeInOrder() ?? this.#takeBeside())
  }

  #takeBeside(): Uint8Array | undefined {
    const item = this.#beside.head
    const bytes = item === undefined ? undefined : this.#encoded(item)
    if (bytes) this.#beside.shift()
    return bytes
  }

  #encoded(item: Item): Uint8Array | undefined {
    const bytes = this.#parts.encode(item)
    if (bytes === undefined) return undefined
    this.#first ??= item
    this.#waiting -= this.#parts.weigh(item)
    return bytes
  }

  #takeInOrder(): Uint8Array | undefined {
    for (let { head } = this.#queue; head !== undefined; head = this.#queue.head) {
      if (!(head instanceof Slot)) {
        const bytes = this.#encoded(head)
        if (bytes) this.#queue.shift()
        return bytes
      }
      const item = head.head()
      if (item !== undefined) {
        const bytes = this.#parts.encode(item)
        if (bytes !== undefined) head.shift()
        return bytes
      }
      if (head.isOpen) return undefined
      this.#queue.shift()
    }
    return undefined
  }

  readonly #onDrain = (): void => {
    this.#sent = 0
    this.#schedule()
  }

  #giveUp(why: string): void {
    this.close()
    this.#parts.onStuck(why)
  }
}

/** A place in an outbox that is filled later. Items queued after the slot are sent only after the slot is closed. */
export class Slot<Item> {
  readonly #onChange: () => void
  readonly #items = new Fifo<Item>()
  #taken: ((isTaken: boolean) => void)[] = []
  #isAbandoned = false
  isOpen = true

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  push(item: Item): void {
    if (!this.isOpen) return
    this.#items.push(item)
    this.#onChange()
  }

  /** Resolves with true when all items are sent, or with false if the outbox is closed before that. */
  whenTaken(): Promise<boolean> {
    if (this.#items.isEmpty) return Promise.resolve(!this.#isAbandoned)
    return new Promise(resolve => this.#taken.push(resolve))
  }

  close(): void {
    if (!this.isOpen) return
    this.isOpen = false
    this.#onChange()
  }

  head(): Item | undefined {
    return this.#items.head
  }

  shift(): void {
    this.#items.shift()
    if (!this.#items.isEmpty) return
    for (const resolve of this.#taken.splice(0)) resolve(true)
  }

  abandon(): void {
    this.isOpen = false
    this.#isAbandoned = true
    this.#items.clear()
    for (const resolve of this.#taken.splice(0)) resolve(false)
  }
}

/** A queue for many thousands of items; `Array.shift` would move all of them each time. */
class Fifo<Item> {
  #items: Item[] = []
  #next = 0

  get isEmpty(): boolean {
    return this.#items.length === 0
  }

  get head(): Item | undefined {
    return this.#items[this.#next]
  }

  push(item: Item): void {
    this.#items.push(item)
  }

  shift(): void {
    this.#next++
    if (this.#next < 1_000 && this.#next < this.#items.length) return
    this.#items = this.#items.slice(this.#next)
    this.#next = 0
  }

  /** @returns the removed items */
  clear(): readonly Item[] {
    const left = this.#items.slice(this.#next)
    this.#items = []
    this.#next = 0
    return left
  }
}
