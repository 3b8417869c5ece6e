import { listNames } from '../../core/list-documents.ts'
import type { Document, DocumentPut, DocumentStore } from '../../core/ports.ts'
import {
  clientIdOfQueued,
  type MessageDocument,
  type OwedDocument,
  placeText,
  placeTextIn,
  topicMessagePrefix,
  topicQueueOf,
  topicQueuePrefix,
} from './documents.ts'

/** Bytes and number of messages that are put between two sweeps: what nobody is owed any more takes no more room than that. */
const sweptAfter = { messages: 100_000, bytes: 64 * 1024 * 1024 }
/** A sweep rests for this many times as long as it took. */
const restPerWork = 10
/** Milliseconds; other nodes may have left something. */
const longestRest = 3_600_000
const removedAtOnce = 1_000

export interface SweepParts {
  readonly documents: DocumentStore
  /** Whether a client has a session, or is about to have one. */
  readonly isThere: (clientId: string) => Promise<boolean>
  readonly onFailed: (error: unknown) => void
}

/**
 * Removes messages that no session is owed any more, and what sessions are owed that have ended. Acknowledging a message removes its
 * entry alone: a count of entries would be read and written with each ack, and would be wrong after a crash.
 */
export class Sweep {
  readonly #parts: SweepParts
  #messages = 0
  #bytes = 0
  #notBefore = 0
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(parts: SweepParts) {
    this.#parts = parts
  }

  /** @throws ThingwireError of the store */
  async open(): Promise<void> {
    await this.#splitCopies()
    this.soon()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  /** A message of so many bytes is put. */
  note(bytes: number): void {
    this.#messages++
    this.#bytes += bytes
    if (this.#messages > sweptAfter.messages || this.#bytes > sweptAfter.bytes) this.soon()
  }

  /** Sweeps as soon as the sweep before has been over for long enough. */
  soon(): void {
    const rest = this.#notBefore - performance.now()
    // While a sweep is under way it is Infinity.
    if (rest === Number.POSITIVE_INFINITY) this.#bytes = Number.POSITIVE_INFINITY
    else this.#sweepIn(Math.max(rest, 0))
  }

  #sweepIn(milliseconds: number): void {
    clearTimeout(this.#timer)
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#run(), milliseconds).unref()
  }

  async #run(): Promise<void> {
    const begin = performance.now()
    this.#notBefore = Number.POSITIVE_INFINITY
    this.#messages = 0
    this.#bytes = 0
    await this.#sweep().catch(this.#parts.onFailed)
    const end = performance.now()
    this.#notBefore = end + restPerWork * (end - begin)
    this.#sweepIn(longestRest)
    this.note(0)
  }

  async #sweep(): Promise<void> {
    const { documents, isThere } = this.#parts
    // First the messages: an entry comes with its message or not at all, so one that is listed later has its message in the list.
    const unowed = new Set<string>()
    for await (const name of listNames(documents, topicMessagePrefix)) unowed.add(placeTextIn(name))
    const left: string[] = []
    let clientId: string | undefined
    let hasSession = false
    for await (const name of listNames(documents, topicQueuePrefix)) {
      const owner = clientIdOfQueued(name)
      if (owner !== clientId) hasSession = await isThere(owner)
      clientId = owner
      if (hasSession) unowed.delete(placeTextIn(name))
      else left.push(name)
    }
    for (const place of unowed) left.push(topicMessagePrefix + place)
    for (let from = 0; from < left.length; from += removedAtOnce) {
      const some = left.slice(from, from + removedAtOnce)
      await documents.put(Object.fromEntries(some.map(name => [name, null])), 'essential')
    }
  }

  /** Before format 4 (3 in Redis) each session had a copy of the message, under a name without its size. */
  async #splitCopies(): Promise<void> {
    const { documents } = this.#parts
    for await (const name of listNames(documents, topicQueuePrefix)) {
      const [order = '', brokerId = '', bytes] = placeTextIn(name).split('.')
      if (bytes !== undefined) continue
      const copy = await documents.get(name)
      if (copy)
        await documents.put(
          { [name]: null, ...split(copy, clientIdOfQueued(name), order, brokerId) },
          'essential',
        )
    }
  }
}

function split(copy: Document, clientId: string, order: string, brokerId: string): DocumentPut {
  const { topic, payload, ...owed } = copy as MessageDocument & OwedDocument
  const bytes = Buffer.byteLength(topic) + Buffer.byteLength(payload, 'base64')
  const place = placeText({ order: Number(order), brokerId, bytes })
  const message: MessageDocument = { topic, payload }
  // The client has it: its payload was dropped.
  const isHeld = owed.isReceived === true
  return {
    ...(!isHeld && { [topicMessagePrefix + place]: message }),
    [topicQueueOf(clientId) + place]: owed,
  }
}
