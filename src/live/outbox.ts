import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { SinkWatch } from './sink-watch.ts'

/** Most bytes that may wait for one subscriber (contract §7, stuck subscribers). */
const maximumWaiting = 8 * 1024 * 1024

interface OutboxParts<Item> {
  readonly sink: Writable
  /** The connection under the sink, if it is one. */
  readonly socket: Socket | undefined
  /** The item as it goes on the wire; undefined if it cannot go yet: call `pump` when it can. */
  readonly encode: (item: Item) => Uint8Array | undefined
  /** Bytes that an item counts for while it waits. */
  readonly weigh: (item: Item) => number
  /** How many bytes may be joined into one write to the sink; 0: an item each. */
  readonly joined: number
  /** How long the sink may take nothing of what it was given, milliseconds. */
  readonly drainTimeout: number
  /** Called with each write to the sink: of the first of its items, which has waited longest. */
  readonly onSent?: (first: Item) => void
  /** The subscriber does not read, or not fast enough: it is to be disconnected. Called once at most. */
  readonly onStuck: (why: string) => void
}

/**
 * What waits to be sent to one subscriber, in order. Whoever pushes is never held up: the outbox paces by the sink,
 * and gives up a subscriber whose sink is stuck or too far behind.
 */
export class Outbox<Item> {
  readonly #parts: OutboxParts<Item>
  readonly #queue = new Fifo<Item | Slot<Item>>()
  readonly #beside = new Fifo<Item>()
  #isTurnOfBeside = false
  /** Bytes of the items that are not in a slot: whoever fills a slot waits for it to be taken. */
  #waiting = 0
  #isScheduled = false
  #isClosed = false
  /** Of what is being written to the sink. */
  #first: Item | undefined
  /** Bytes that were sent since the sink was last empty. */
  #sent = 0
  readonly #watch: SinkWatch

  constructor(parts: OutboxParts<Item>) {
    this.#parts = parts
    const { sink, socket, drainTimeout } = parts
    this.#watch = new SinkWatch({ sink, socket, drainTimeout, onStuck: why => this.#giveUp(why) })
    sink.on('drain', this.#onDrain)
  }

  /** Whether everything that was pushed in order is on its way. */
  get isEmpty(): boolean {
    return !this.#isClosed && this.#queue.isEmpty
  }

  push(item: Item): void {
    this.#add(item, this.#queue)
  }

  /** Sends an item that has no order with those that are pushed, and waits for none of them; they are sent in turn. */
  pushBeside(item: Item): void {
    this.#add(item, this.#beside)
  }

  #add(item: Item, queue: { push(item: Item): void }): void {
    if (this.#isClosed) return
    this.#waiting += this.#parts.weigh(item)
    queue.push(item)
    if (this.#waiting + this.#parts.sink.writableLength > maximumWaiting) {
      this.#giveUp(`more than ${maximumWaiting} bytes wait for it`)
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

  /** Bytes in the sink that do not come from here; fewer than there are, where the sink has taken a part. */
  get foreignBytes(): number {
    return Math.max(0, this.#parts.sink.writableLength - this.#sent)
  }

  /** Sends what can be sent. */
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

  /** Looks at a sink that has not taken everything, until it has. */
  watch(): void {
    if (!this.#isClosed) this.#watch.begin()
  }

  /** Drops what waits, and leaves the sink alone. */
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
    // What is pushed in one go leaves in one segment.
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

/** A place in an outbox that is filled later: what was pushed behind it waits until it is closed. */
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

  /** Resolves when everything that was pushed is on its way; with false when the outbox is closed before. */
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

  /** There is no outbox any more. */
  abandon(): void {
    this.isOpen = false
    this.#isAbandoned = true
    this.#items.clear()
    for (const resolve of this.#taken.splice(0)) resolve(false)
  }
}

/** First in, first out, of many thousands too: to shift an array of those costs as much as it is long. */
class Fifo<Item> {
  #items: Item[] = []
  #next = 0

  get isEmpty(): boolean {
    return this.#items.length === 0
  }

  /** What came first; undefined: it is empty. */
  get head(): Item | undefined {
    return this.#items[this.#next]
  }

  push(item: Item): void {
    this.#items.push(item)
  }

  /** Takes out what came first. */
  shift(): void {
    this.#next++
    if (this.#next < 1_000 && this.#next < this.#items.length) return
    this.#items = this.#items.slice(this.#next)
    this.#next = 0
  }

  /** Takes out everything. */
  clear(): readonly Item[] {
    const left = this.#items.slice(this.#next)
    this.#items = []
    this.#next = 0
    return left
  }
}
