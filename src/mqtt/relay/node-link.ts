import { randomUUID } from 'node:crypto'
import type { AedesPublishPacket } from 'aedes'
import type { Nodes } from '../../core/nodes.ts'

/** How long the other nodes may take to say that they have caught up, milliseconds: one that is dead never does. */
const longestWait = 2_000

export interface NodeLinkParts {
  readonly nodes: Nodes
  /** Another node has published. */
  readonly onMessage: (packet: LinkedMessage) => void
  /** Messages of another node were lost on their way. */
  readonly onMissed: () => void
  /** Resolves when this node knows what the store has now. */
  readonly catchUp: () => Promise<void>
  readonly onFailed: (error: unknown) => void
}

/** A message as nodes tell it one another. */
export type LinkedMessage = Pick<
  AedesPublishPacket,
  'topic' | 'qos' | 'retain' | 'brokerId' | 'brokerCounter'
> & { readonly payload: Buffer }

type Head = { readonly node: string; readonly number: number } & (
  | ({ readonly kind: 'message' } & Omit<LinkedMessage, 'payload'>)
  | { readonly kind: 'ask' | 'answer'; readonly id: string }
)

interface Asked {
  readonly missing: Set<string>
  readonly done: () => void
}

/** How the nodes of one store tell one another what is published. */
export class NodeLink {
  readonly #parts: NodeLinkParts
  /** Of the newest that was sent: a node that has missed one sees a hole. */
  #number = 0
  /** By node, of the newest that came. */
  readonly #numbers = new Map<string, number>()
  readonly #asked = new Map<string, Asked>()
  #stop = () => {}

  constructor(parts: NodeLinkParts) {
    this.#parts = parts
  }

  /** @throws ThingwireError of the store */
  async open(): Promise<void> {
    const { nodes, onMissed } = this.#parts
    if (!nodes.isAlone) this.#stop = await nodes.listen(bytes => this.#hear(bytes), onMissed)
  }

  close(): void {
    this.#stop()
  }

  tell({ topic, qos, retain, brokerId, brokerCounter, payload }: AedesPublishPacket): void {
    if (this.#parts.nodes.isAlone) return
    this.#send({ kind: 'message', topic, qos, retain, brokerId, brokerCounter }, Buffer.from(payload))
  }

  /** Resolves when every node that is there knows what the store has now, or was given time enough. */
  async settle(): Promise<void> {
    const { nodes } = this.#parts
    if (nodes.isAlone) return
    const missing = new Set(await nodes.alive())
    missing.delete(nodes.self)
    if (missing.size === 0) return
    const id = randomUUID()
    await new Promise<void>(resolve => {
      const late = setTimeout(resolve, longestWait)
      const done = () => {
        clearTimeout(late)
        resolve()
      }
      this.#asked.set(id, { missing, done })
      this.#send({ kind: 'ask', id })
    })
    this.#asked.delete(id)
  }

  #send(content: object, payload: Buffer = Buffer.alloc(0)): void {
    const head = { node: this.#parts.nodes.self, number: ++this.#number, ...content }
    this.#parts.nodes.send(Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), payload]))
  }

  #hear(bytes: Buffer): void {
    const end = bytes.indexOf('\n')
    const head = JSON.parse(bytes.subarray(0, end).toString()) as Head
    const { nodes, onMessage, onMissed } = this.#parts
    if (head.node === nodes.self) return
    const before = this.#numbers.get(head.node)
    this.#numbers.set(head.node, head.number)
    if (before !== undefined && head.number !== before + 1) onMissed()
    if (head.kind === 'message') onMessage({ ...head, payload: bytes.subarray(end + 1) })
    else if (head.kind === 'ask') void this.#answer(head.id)
    else this.#answered(head.id, head.node)
  }

  async #answer(id: string): Promise<void> {
    try {
      await this.#parts.catchUp()
      this.#send({ kind: 'answer', id })
    } catch (error) {
      this.#parts.onFailed(error)
    }
  }

  #answered(id: string, node: string): void {
    const asked = this.#asked.get(id)
    asked?.missing.delete(node)
    if (asked?.missing.size === 0) asked.done()
  }
}
