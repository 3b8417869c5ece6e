import { randomUUID } from 'node:crypto'
import type { AedesPublishPacket } from 'aedes'
import { rest } from '../../core/async/retry-until.ts'
import type { Nodes } from '../../core/nodes.ts'
import { FilterTree } from './filter-tree.ts'

/** How long the other nodes may take to say that they have caught up, milliseconds: one that is dead never does. */
const longestWait = 2_000

interface MessageBusParts {
  readonly nodes: Nodes
  /** Another node has published; nobody here has the message yet. */
  readonly onLinked: (message: LinkedMessage) => void
  /** A message, of whichever node, was handed to all who listen here. */
  readonly onDelivered: (message: AedesPublishPacket) => void
  /** Messages of another node were lost on their way. */
  readonly onMissed: () => void
  /** Resolves when this node knows what the store has now. */
  readonly catchUp: () => Promise<void>
  readonly onFailed: (error: unknown) => void
}

/** A message of another node. */
type LinkedMessage = AedesPublishPacket & { readonly payload: Buffer }

type Head = { readonly node: string; readonly number: number } & (
  | ({ readonly kind: 'message' } & Omit<LinkedMessage, 'payload' | 'cmd' | 'dup'>)
  | { readonly kind: 'ask' | 'answer'; readonly id: string }
)

type Listener = (packet: AedesPublishPacket, done: () => void) => void

/**
 * Hands messages to whoever listens, on each node of the store: what Aedes takes as its `mq`, with the members of `mqemitter`. Unlike
 * that it does not wait for listeners before it takes the next message: how far a client may fall behind is its outbox's affair.
 */
export class MessageBus {
  readonly #parts: MessageBusParts
  readonly #listeners = new FilterTree<Listener>()
  /** Of the newest that was sent: a node that has missed one sees a hole. */
  #number = 0
  /** By node, of the newest that came. */
  readonly #numbers = new Map<string, number>()
  /** By what was asked, what becomes of the answer of a node. */
  readonly #asked = new Map<string, (node: string) => void>()
  #stop = () => {}

  constructor(parts: MessageBusParts) {
    this.#parts = parts
  }

  /** @throws ThingwireError of the store */
  async open(): Promise<void> {
    const { nodes, onMissed } = this.#parts
    if (!nodes.isAlone) this.#stop = await nodes.listen(bytes => this.#hear(bytes), onMissed)
  }

  close(done: () => void): void {
    this.#stop()
    setImmediate(done)
  }

  on(filter: string, listener: Listener, done?: () => void): this {
    this.#listeners.add(filter, listener)
    if (done) setImmediate(done)
    return this
  }

  removeListener(filter: string, listener: Listener, done?: () => void): this {
    this.#listeners.remove(filter, listener)
    if (done) setImmediate(done)
    return this
  }

  /** @param done called when each of those who listen in this process has said so */
  emit(packet: AedesPublishPacket, done: () => void = () => {}): this {
    this.#deliver(packet, done)
    const { topic, qos, retain, brokerId, brokerCounter, payload } = packet
    // What a broker says of itself is nothing to others.
    if (!this.#parts.nodes.isAlone && !topic.startsWith('$SYS/'))
      this.#send({ kind: 'message', topic, qos, retain, brokerId, brokerCounter }, Buffer.from(payload))
    return this
  }

  #deliver(packet: AedesPublishPacket, done: () => void): void {
    const listeners = this.#listeners.match(packet.topic)
    let left = listeners.length
    if (left === 0) done()
    for (const listener of listeners) {
      listener(packet, () => {
        if (--left === 0) done()
      })
    }
    this.#parts.onDelivered(packet)
  }

  /** Resolves when every node that is there knows what the store has now, or was given time enough. */
  async settle(): Promise<void> {
    const { nodes } = this.#parts
    const missing = new Set(await nodes.alive())
    missing.delete(nodes.self)
    if (nodes.isAlone || missing.size === 0) return
    const id = randomUUID()
    const answered = new Promise<void>(resolve => {
      this.#asked.set(id, node => {
        if (missing.delete(node) && missing.size === 0) resolve()
      })
    })
    this.#send({ kind: 'ask', id })
    await Promise.race([answered, rest(longestWait)])
    this.#asked.delete(id)
  }

  #send(content: object, payload: Buffer = Buffer.alloc(0)): void {
    const head = { node: this.#parts.nodes.self, number: ++this.#number, ...content }
    this.#parts.nodes.send(Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), payload]))
  }

  #hear(bytes: Buffer): void {
    const end = bytes.indexOf('\n')
    const head = JSON.parse(bytes.subarray(0, end).toString()) as Head
    const { nodes, onLinked, onMissed, catchUp, onFailed } = this.#parts
    const { node, number } = head
    if (node === nodes.self) return
    const before = this.#numbers.get(node)
    this.#numbers.set(node, number)
    if (before !== undefined && number !== before + 1) onMissed()
    if (head.kind === 'message') {
      const message = { ...head, cmd: 'publish' as const, dup: false, payload: bytes.subarray(end + 1) }
      onLinked(message)
      this.#deliver(message, () => {})
    } else if (head.kind === 'ask') {
      const answer = { kind: 'answer', id: head.id }
      void catchUp().then(() => this.#send(answer), onFailed)
    } else this.#asked.get(head.id)?.(node)
  }
}
