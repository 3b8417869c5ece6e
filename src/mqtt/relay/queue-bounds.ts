import { setImmediate as nextTurn } from 'node:timers/promises'
import { listNames } from '../../core/list-documents.ts'
import type { DocumentStore } from '../../core/ports.ts'
import { clientIdOfQueued, type MessagePlace, placeIn, topicQueueOf, topicQueuesOf } from './documents.ts'

/** What one session is owed at most, and all sessions of one principal together, each message counted once (contract §7.10). */
const mostOfSession = { messages: 10_000, bytes: 16 * 1024 * 1024 }
const mostOfPrincipal = { messages: 2_000_000, bytes: 256 * 1024 * 1024 }
/** Of a bound that was passed, what is left when the oldest messages are dropped. */
const leftShare = 0.95
const removedAtOnce = 1_000

interface Size {
  /** Of a principal: how often any of its sessions is owed one. */
  messages: number
  bytes: number
}

interface QueueBoundsParts {
  readonly documents: DocumentStore
  /** Of the broker of this process. */
  readonly brokerId: string
  /** Whether the client is connected here: then its outbox is the bound. */
  readonly isConnected: (clientId: string) => boolean
  readonly onDropped: (messages: number) => void
  readonly onFailed: (error: unknown) => void
}

/** Drops the oldest of what sessions are owed whose clients do not come back. */
export class QueueBounds {
  readonly #parts: QueueBoundsParts
  /** By what the names begin with: no less than there is. Absent: not counted yet. */
  readonly #sizes = new Map<string, Size>()
  /** What is to be counted, one after the other. */
  readonly #due = new Set<string>()
  #isCounting = false
  /** Order of the newest message that was noted. */
  #newest = 0

  constructor(parts: QueueBoundsParts) {
    this.#parts = parts
  }

  /** The message is about to be put for these sessions, in the same turn of the event loop. */
  note(clientIds: Iterable<string>, { order, bytes }: MessagePlace): void {
    this.#newest = order
    const scopes = new Map<string, number>()
    for (const clientId of clientIds) {
      const scope = clientId.slice(0, clientId.indexOf(':') + 1)
      scopes.set(scope, (scopes.get(scope) ?? 0) + 1)
      if (this.#parts.isConnected(clientId)) this.#sizes.delete(topicQueueOf(clientId))
      else this.#add(topicQueueOf(clientId), 1, bytes, mostOfSession)
    }
    for (const [scope, times] of scopes) this.#add(topicQueuesOf(scope), times, bytes, mostOfPrincipal)
  }

  forget(clientId: string): void {
    this.#sizes.delete(topicQueueOf(clientId))
  }

  #add(prefix: string, messages: number, bytes: number, most: Size): void {
    const size = this.#sizes.get(prefix)
    if (size) {
      size.messages += messages
      size.bytes += bytes
      if (!isOver(size, most)) return
    }
    this.#due.add(prefix)
    if (!this.#isCounting) void this.#countDue()
  }

  async #countDue(): Promise<void> {
    this.#isCounting = true
    // The message that was noted is put in this turn, and is counted behind that.
    await nextTurn()
    for (const prefix of this.#due) {
      await this.#trim(prefix, prefix.endsWith('/') ? mostOfSession : mostOfPrincipal).catch(error => {
        // It is counted again with the next message.
        this.#sizes.delete(prefix)
        this.#parts.onFailed(error)
      })
      this.#due.delete(prefix)
    }
    this.#isCounting = false
  }

  /** Counts what there is, and drops the oldest of it if that is too much. @throws ThingwireError of the store */
  async #trim(prefix: string, most: Size): Promise<void> {
    const { documents, brokerId, onDropped } = this.#parts
    const size = { messages: 0, bytes: 0 }
    this.#sizes.set(prefix, size)
    const newest = this.#newest
    // Whatever was noted up to here can be read behind this; what is noted from here on is added to `size`.
    await documents.getInOrder(prefix)
    /** By order, how many entries name the message, and its bytes. */
    const found = new Map<number, { messages: number; readonly bytes: number }>()
    for await (const name of listNames(documents, prefix)) {
      const { order, brokerId: publisher, bytes } = placeIn(name)
      if (publisher === brokerId && order > newest) continue
      const known = found.get(order)
      if (known) known.messages++
      else found.set(order, { messages: 1, bytes })
      size.messages++
      if (!known) size.bytes += bytes
    }
    if (!isOver(size, most)) return
    let last = 0
    for (const order of [...found.keys()].sort((a, b) => a - b)) {
      const { messages = 0, bytes = 0 } = found.get(order) ?? {}
      size.messages -= messages
      size.bytes -= bytes
      last = order
      if (!isOver(size, most, leftShare)) break
    }
    onDropped(await this.#removeUpTo(prefix, last))
  }

  /**
   * Ends early when the client comes back: it would find a gap in what it reads.
   *
   * @returns how many were removed
   * @throws ThingwireError of the store
   */
  async #removeUpTo(prefix: string, last: number): Promise<number> {
    const { documents, isConnected } = this.#parts
    const isBack = () => prefix.endsWith('/') && isConnected(clientIdOfQueued(prefix))
    let removed = 0
    let some: string[] = []
    const remove = async () => {
      await documents.put(Object.fromEntries(some.map(name => [name, null])), 'essential')
      removed += some.length
      some = []
    }
    for await (const name of listNames(documents, prefix)) {
      if (isBack()) break
      if (placeIn(name).order <= last) some.push(name)
      if (some.length === removedAtOnce) await remove()
    }
    if (!isBack()) await remove()
    return removed
  }
}

function isOver({ messages, bytes }: Size, most: Size, share = 1): boolean {
  return messages > most.messages * share || bytes > most.bytes * share
}
