import { randomUUID } from 'node:crypto'
import type { AedesPublishPacket } from 'aedes'
import { rest } from '../../core/async/retry-until.ts'
import type { Nodes } from '../../core/nodes.ts'
import { decoded, extrasOf, type PacketExtras } from './documents.ts'
import { FilterTree } from './filter-tree.ts'

/** Maximum time to wait for other nodes to catch up, milliseconds: a dead node never answers. */
const longestWait = 2_000

interface MessageBusParts {
  readonly nodes: Nodes
  /** Called with a message from another node, before listeners are called. */
  readonly onLinked: (message: LinkedMessage) => void
  /** Called with a message from any node, after all listeners were called. */
  readonly onDelivered: (message: AedesPublishPacket) => void
  /** Called when messages from another node were lost. */
  readonly onMissed: () => void
  /** Resolves when this node knows the current state of the store. */
  readonly catchUp: () => Promise<void>
  readonly onFailed: (error: unknown) => void
}

type LinkedMessage = AedesPublishPacket & { readonly payload: Buffer }

type Head = { readonly node: string; readonly number: number } & (
  | ({ readonly kind: 'message'; readonly extras: LinkedExtras } & Omit<
      LinkedMessage,
      'payload' | 'cmd' | 'dup' | 'properties'
    >)
  | { readonly kind: 'ask' | 'answer'; readonly id: string }
)

/** `PacketExtras` as JSON: `properties` is base64. */
type LinkedExtras = Omit<PacketExtras, 'properties' | 'copy' | 'stream'> & { readonly properties?: string }

type Listener = (packet: AedesPublishPacket, done: () => void) => void

/**
 * The `mq` of Aedes, with the members of `mqemitter`: delivers messages to the listeners on every node. Unlike `mqemitter`, it
 * takes the next message without waiting for listeners, since the outbox of each client limits how far that client may fall behind.
 */
export class MessageBus {
  readonly #parts: MessageBusParts
  readonly #listeners = new FilterTree<Listener>()
  /** Number of the newest sent message. A node that finds a gap in these numbers has missed a message. */
  #number = 0
  /** Number of the newest received message, by sending node. */
  readonly #numbers = new Map<string, number>()
  /** Functions to call with each node that answers, by the id of the question. */
  readonly #asked = new Map<string, (node: string) => void>()
  #stop = () => {}

  constructor(parts: MessageBusParts) {
    this.#parts = parts
  }

  /** @throws ThingwireError if the store fails */
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

  /** @param done called when every listener of this process has finished */
  emit(packet: AedesPublishPacket, done: () => void = () => {}): this {
    this.#deliver(packet, done)
    const { topic, qos, retain, brokerId, brokerCounter, payload } = packet
    // `$SYS` topics are about one broker only.
    if (!this.#parts.nodes.isAlone && !topic.startsWith('$SYS/')) {
      const { properties, ...rest } = extrasOf(packet)
      const extras = { ...rest, properties: properties?.toString('base64') }
      const head = { kind: 'message', topic, qos, retain, brokerId, brokerCounter, extras }
      this.#send(head, Buffer.from(payload))
    }
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

  /** Resolves when every live node knows the current state of the store, but after `longestWait` at the latest. */
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
      // Nodes of older versions send no extras.
      const { extras = {}, ...rest } = head
      const properties = { ...extras, properties: decoded(extras.properties) } as object
      const payload = bytes.subarray(end + 1)
      const message = { ...rest, cmd: 'publish' as const, dup: false, payload, properties }
      onLinked(message)
      this.#deliver(message, () => {})
    } else if (head.kind === 'ask') {
      const answer = { kind: 'answer', id: head.id }
      void catchUp().then(() => this.#send(answer), onFailed)
    } else this.#asked.get(head.id)?.(node)
  }
}
