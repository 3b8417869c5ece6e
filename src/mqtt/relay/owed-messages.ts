import { setImmediate as nextTurn } from 'node:timers/promises'
import { rest } from '../../core/async/retry-until.ts'
import { listNames, removals } from '../../core/list-documents.ts'
import type { DocumentStore } from '../../core/ports.ts'
import type { ReceiptClock } from '../../core/time/clock.ts'
import {
  clientIdOfQueued,
  messageNameOf,
  type OwedDocument,
  placeIn,
  sessionName,
  topicMessagePrefix,
  topicQueueOf,
  topicQueuePrefix,
  topicQueuesOf,
} from './documents.ts'

interface Size {
  /** Number of messages. For a principal, a message counts once per session that is owed it. */
  messages: number
  /** Total size of the messages, bytes. For a principal, each message counts once. */
  bytes: number
}

/** Limits for one session, and for all sessions of a principal together (contract §7.10). */
const mostOfSession: Size = { messages: 10_000, bytes: 16 * 1024 * 1024 }
const mostOfPrincipal: Size = { messages: 2_000_000, bytes: 256 * 1024 * 1024 }
/** If a limit is exceeded, the oldest messages are dropped until the rest is within this share of the limit. */
const leftShare = 0.95
/** A sweep begins once more messages or bytes than this have been put, so messages that no session is owed cannot pile up. */
const sweptAfter: Size = { messages: 100_000, bytes: 64 * 1024 * 1024 }
/** After a sweep, the next sweep waits for this multiple of the sweep's duration. */
const restPerWork = 10
/** Maximum time between two sweeps, milliseconds, since `sweptAfter` does not count the messages that other nodes put. */
const longestRest = 3_600_000

interface OwedMessagesParts {
  readonly documents: DocumentStore
  readonly clock: Pick<ReceiptClock, 'now'>
  /** Whether the client is connected to this node. If so, its outbox limits its messages. */
  readonly isConnected: (clientId: string) => boolean
  readonly onDropped: (messages: number) => void
  readonly onFailed: (error: unknown) => void
}

/**
 * Limits the messages owed to absent clients, and sweeps messages that no session is owed. An ack removes only the session's entry.
 * A message has no stored count of its entries: each ack would have to change the count, and a crash could make it wrong.
 */
export class OwedMessages {
  readonly #parts: OwedMessagesParts
  /** By name prefix: an upper bound of the size; absent if the messages have not been counted yet. */
  readonly #sizes = new Map<string, Size>()
  /** Prefixes to be counted, one after another. */
  readonly #due = new Set<string>()
  #isCounting = false
  /** Size of the messages put since the last sweep began. */
  #put: Size = { messages: 0, bytes: 0 }
  #isSweepDue = false
  #isSweeping = false
  readonly #closing = new AbortController()
  readonly #sweeps = setInterval(() => this.sweepSoon(), longestRest).unref()

  constructor(parts: OwedMessagesParts) {
    this.#parts = parts
  }

  close(): void {
    this.#closing.abort()
    clearInterval(this.#sweeps)
  }

  /**
   * Call this in the same turn of the event loop in which a message is put for these sessions.
   *
   * @param owed the copies of the message, by client id
   */
  note(owed: ReadonlyMap<string, readonly unknown[]>, bytes: number): void {
    add(this.#put, 1, bytes)
    if (isOver(this.#put, sweptAfter)) this.sweepSoon()
    const scopes = new Set<string>()
    for (const [clientId, { length: copies }] of owed) {
      if (this.#parts.isConnected(clientId)) this.forget(clientId)
      else this.#count(topicQueueOf(clientId), copies, bytes)
      const scope = clientId.slice(0, clientId.indexOf(':') + 1)
      this.#count(topicQueuesOf(scope), copies, scopes.has(scope) ? 0 : bytes)
      scopes.add(scope)
    }
  }

  /** Forgets the count of the session's messages, so they are counted again when its client is absent. */
  forget(clientId: string): void {
    this.#sizes.delete(topicQueueOf(clientId))
  }

  #count(prefix: string, messages: number, bytes: number): void {
    const size = this.#sizes.get(prefix)
    if (size) add(size, messages, bytes)
    if (size && !isOver(size, mostOf(prefix))) return
    this.#due.add(prefix)
    if (!this.#isCounting) void this.#countDue()
  }

  async #countDue(): Promise<void> {
    this.#isCounting = true
    // The noted message is put in this turn; counting must begin after that.
    await nextTurn()
    for (const prefix of this.#due) {
      await this.#trim(prefix, mostOf(prefix)).catch(error => {
        // The next message starts a new count.
        this.#sizes.delete(prefix)
        this.#parts.onFailed(error)
      })
      this.#due.delete(prefix)
    }
    this.#isCounting = false
  }

  /** Counts the messages, and drops the oldest messages if `most` is exceeded. @throws ThingwireError if the store fails */
  async #trim(prefix: string, most: Size): Promise<void> {
    const { documents, onDropped } = this.#parts
    // Messages noted from here on may be counted twice. That is harmless, since no message is dropped without a new count.
    const size: Size = { messages: 0, bytes: 0 }
    this.#sizes.set(prefix, size)
    // This waits until all messages noted so far can be read.
    await documents.getInOrder(prefix)
    const left: Size = { messages: 0, bytes: 0 }
    /** By `order` of the message: the number of its entries, and its size in bytes. */
    const found = new Map<number, Size>()
    for await (const name of listNames(documents, prefix)) {
      const { order, bytes } = placeIn(name)
      const known = found.get(order)
      if (known) known.messages++
      else found.set(order, { messages: 1, bytes })
      add(left, 1, known ? 0 : bytes)
    }
    const oldestFirst = isOver(left, most) ? [...found.keys()].sort((a, b) => a - b) : []
    let last = 0
    for (const order of oldestFirst) {
      const { messages = 0, bytes = 0 } = found.get(order) ?? {}
      add(left, -messages, -bytes)
      last = order
      if (!isOver(left, most, leftShare)) break
    }
    add(size, left.messages, left.bytes)
    if (last > 0) onDropped(await this.#removeUpTo(prefix, last))
  }

  /** @returns the number of removed entries @throws ThingwireError if the store fails */
  async #removeUpTo(prefix: string, last: number): Promise<number> {
    const { documents, isConnected } = this.#parts
    let removed = 0
    for await (const put of removals(listNames(documents, prefix), name => placeIn(name).order <= last)) {
      // If the client has returned, it is now reading these messages, and would find a gap.
      if (prefix.endsWith('/') && isConnected(clientIdOfQueued(prefix))) break
      await documents.put(put, 'essential')
      removed += Object.keys(put).length
    }
    return removed
  }

  /** Sweeps as soon as the pause after the previous sweep is over. */
  sweepSoon(): void {
    this.#isSweepDue = true
    if (!this.#isSweeping) void this.#sweepOn()
  }

  async #sweepOn(): Promise<void> {
    const { signal } = this.#closing
    this.#isSweeping = true
    while (this.#isSweepDue && !signal.aborted) {
      const begin = performance.now()
      this.#isSweepDue = false
      this.#put = { messages: 0, bytes: 0 }
      await this.#sweep().catch(this.#parts.onFailed)
      await rest(restPerWork * (performance.now() - begin), signal)
    }
    this.#isSweeping = false
  }

  async #sweep(): Promise<void> {
    const { documents, isConnected } = this.#parts
    // This waits for the pending puts of this node, so that the sweep also finds entries put for a session while it was ending.
    await documents.getInOrder(topicQueuePrefix)
    const now = this.#parts.clock.now()
    /** A message that was sent is owed until it is acknowledged, even if it is over. */
    const isOver = async (name: string) =>
      (placeIn(name).expiresAt ?? Number.POSITIVE_INFINITY) <= now &&
      ((await documents.get(name)) as OwedDocument | undefined)?.messageId === undefined
    // Messages are listed before entries: both are put together, so the entries of a listed message are found below.
    const unowed = new Set<string>()
    for await (const name of listNames(documents, topicMessagePrefix)) unowed.add(name)
    const left: string[] = []
    let clientId: string | undefined
    let hasSession = false
    for await (const name of listNames(documents, topicQueuePrefix)) {
      const owner = clientIdOfQueued(name)
      if (owner !== clientId)
        hasSession = isConnected(owner) || (await documents.get(sessionName(owner))) !== undefined
      clientId = owner
      if (hasSession && (isConnected(owner) || !(await isOver(name)))) unowed.delete(messageNameOf(name))
      else left.push(name)
    }
    left.push(...unowed)
    for await (const put of removals(left)) await documents.put(put, 'essential')
  }
}

const mostOf = (prefix: string) => (prefix.endsWith('/') ? mostOfSession : mostOfPrincipal)

function add(size: Size, messages: number, bytes: number): void {
  size.messages += messages
  size.bytes += bytes
}

function isOver({ messages, bytes }: Size, most: Size, share = 1): boolean {
  return messages > most.messages * share || bytes > most.bytes * share
}
