import { setImmediate as nextTurn } from 'node:timers/promises'
import { rest } from '../../core/async/retry-until.ts'
import { listNames, removals } from '../../core/list-documents.ts'
import type { DocumentStore } from '../../core/ports.ts'
import {
  clientIdOfQueued,
  placeIn,
  placeTextIn,
  sessionName,
  topicMessagePrefix,
  topicQueueOf,
  topicQueuePrefix,
  topicQueuesOf,
} from './documents.ts'

interface Size {
  /** Of what a principal is owed: how often any of its sessions is owed one. */
  messages: number
  bytes: number
}

/** What one session is owed at most, and all sessions of one principal together, each message counted once (contract §7.10). */
const mostOfSession: Size = { messages: 10_000, bytes: 16 * 1024 * 1024 }
const mostOfPrincipal: Size = { messages: 2_000_000, bytes: 256 * 1024 * 1024 }
/** Of a bound that was passed, what is left when the oldest messages are dropped. */
const leftShare = 0.95
/** What is put between two sweeps: what nobody is owed any more takes no more room than that. */
const sweptAfter: Size = { messages: 100_000, bytes: 64 * 1024 * 1024 }
/** A sweep rests for this many times as long as it took. */
const restPerWork = 10
/** Milliseconds; other nodes may have left something. */
const longestRest = 3_600_000

interface OwedMessagesParts {
  readonly documents: DocumentStore
  /** Whether the client is connected here: then its outbox is the bound. */
  readonly isConnected: (clientId: string) => boolean
  readonly onDropped: (messages: number) => void
  readonly onFailed: (error: unknown) => void
}

/**
 * Bounds what sessions are owed whose clients do not come back, and sweeps what no session is owed any more. Acknowledging a message
 * removes its entry alone: a count of entries would be read and written with each ack, and would be wrong after a crash.
 */
export class OwedMessages {
  readonly #parts: OwedMessagesParts
  /** By what the names begin with: no less than there is. Absent: not counted yet. */
  readonly #sizes = new Map<string, Size>()
  /** What is to be counted, one after the other. */
  readonly #due = new Set<string>()
  #isCounting = false
  /** Of the messages that are put since the last sweep. */
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

  /** A message of so many bytes is about to be put for these sessions, in the same turn of the event loop. */
  note(clientIds: Iterable<string>, bytes: number): void {
    add(this.#put, 1, bytes)
    if (isOver(this.#put, sweptAfter)) this.sweepSoon()
    const scopes = new Set<string>()
    for (const clientId of clientIds) {
      if (this.#parts.isConnected(clientId)) this.forget(clientId)
      else this.#count(topicQueueOf(clientId), bytes)
      const scope = clientId.slice(0, clientId.indexOf(':') + 1)
      this.#count(topicQueuesOf(scope), scopes.has(scope) ? 0 : bytes)
      scopes.add(scope)
    }
  }

  /** What a session is owed is to be counted anew, once its client is away. */
  forget(clientId: string): void {
    this.#sizes.delete(topicQueueOf(clientId))
  }

  #count(prefix: string, bytes: number): void {
    const size = this.#sizes.get(prefix)
    if (size) add(size, 1, bytes)
    if (size && !isOver(size, mostOf(prefix))) return
    this.#due.add(prefix)
    if (!this.#isCounting) void this.#countDue()
  }

  async #countDue(): Promise<void> {
    this.#isCounting = true
    // The message that was noted is put in this turn, and is counted behind that.
    await nextTurn()
    for (const prefix of this.#due) {
      await this.#trim(prefix, mostOf(prefix)).catch(error => {
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
    const { documents, onDropped } = this.#parts
    // What is noted from here on is added, even if it is counted as well: all is counted again before any of it is dropped.
    const size: Size = { messages: 0, bytes: 0 }
    this.#sizes.set(prefix, size)
    // Whatever was noted up to here can be read behind this.
    await documents.getInOrder(prefix)
    const left: Size = { messages: 0, bytes: 0 }
    /** By order, how many entries name the message, and its bytes. */
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

  /** @returns how many were removed. @throws ThingwireError of the store */
  async #removeUpTo(prefix: string, last: number): Promise<number> {
    const { documents, isConnected } = this.#parts
    let removed = 0
    for await (const put of removals(listNames(documents, prefix), name => placeIn(name).order <= last)) {
      // A client that comes back would find a gap in what it reads.
      if (prefix.endsWith('/') && isConnected(clientIdOfQueued(prefix))) break
      await documents.put(put, 'essential')
      removed += Object.keys(put).length
    }
    return removed
  }

  /** Sweeps as soon as the sweep before has been over for long enough. */
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
    // Behind the puts of this node: what was put for a session while it ended is listed.
    await documents.getInOrder(topicQueuePrefix)
    // First the messages: an entry comes with its message or not at all, so one that is listed later has its message in the list.
    const unowed = new Set<string>()
    for await (const name of listNames(documents, topicMessagePrefix)) unowed.add(placeTextIn(name))
    const left: string[] = []
    let clientId: string | undefined
    let hasSession = false
    for await (const name of listNames(documents, topicQueuePrefix)) {
      const owner = clientIdOfQueued(name)
      if (owner !== clientId)
        hasSession = isConnected(owner) || (await documents.get(sessionName(owner))) !== undefined
      clientId = owner
      if (hasSession) unowed.delete(placeTextIn(name))
      else left.push(name)
    }
    for (const place of unowed) left.push(topicMessagePrefix + place)
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
