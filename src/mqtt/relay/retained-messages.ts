import { listDocuments } from '../../core/list-documents.ts'
import type { DocumentPut, DocumentStore } from '../../core/ports.ts'
import type { ReceiptClock } from '../../core/time/clock.ts'
import { isTopicName } from '../../core/topics/topic-filter.ts'
import { ThingwireError } from '../../errors.ts'
import type { Carried, QoS } from '../packets/packet.ts'
import {
  decoded,
  type MessageId,
  type RetainedDocument,
  retainedName,
  sizeOf,
  topicRetainedPrefix,
} from './documents.ts'
import { FilterTree } from './filter-tree.ts'

/** Maximum number of retained messages, and maximum bytes of their topics and payloads (contract §7.10). */
const maximum = { messages: 100_000, bytes: 64 * 1024 * 1024 }
/** Maximum time by which a message from another node may arrive later than its document, milliseconds. */
export const patience = 5_000

export interface RetainedMessage extends MessageId, Carried {
  readonly topic: string
  readonly payload: Buffer
  readonly qos: QoS
}

/** There is one object per message, so messages can be compared by identity. */
interface Newest extends RetainedMessage {
  /** Whether the message may still be sent live to the subscribers of this node. */
  isComing: boolean
  /** Whether another node has announced the message. If so, the store may still have an older message. */
  isAhead: boolean
}

/** The newest retained message of each topic, in the store and in memory. */
export class RetainedMessages {
  readonly #documents: DocumentStore
  readonly #clock: Pick<ReceiptClock, 'now'>
  /** Messages by name of the document. */
  readonly #messages = new Map<string, Newest>()
  readonly #topics = new FilterTree<string>()
  /** Names of the messages with an end. */
  readonly #mortal = new Set<string>()
  #bytes = 0
  readonly #waiting = new Set<() => void>()
  /** Documents that are being read. `isPast`: whether this node has changed the document since the read began. */
  readonly #readings = new Set<{ readonly name: string; isPast: boolean }>()

  constructor(documents: DocumentStore, clock: Pick<ReceiptClock, 'now'>) {
    this.#documents = documents
    this.#clock = clock
  }

  /** @throws ThingwireError if the store fails */
  async load(): Promise<void> {
    const before = new Map(this.#messages)
    const names = new Set(before.keys())
    for await (const [rest, document] of listDocuments<RetainedDocument>(
      this.#documents,
      topicRetainedPrefix,
    )) {
      const name = topicRetainedPrefix + rest
      names.delete(name)
      if (this.#messages.get(name) === before.get(name)) this.#setStored(name, document, false)
      if (!isTopicName(document.topic)) await this.#documents.put({ [name]: null }, 'essential')
    }
    for (const name of names) if (this.#messages.get(name) === before.get(name)) this.#set(name, undefined)
  }

  /** @throws ThingwireError too_many_retained */
  assertRoom(message: Weighed): void {
    const before = this.#messages.get(retainedName(message.topic))
    const isFull = !before && this.#messages.size >= maximum.messages
    const bytes = this.#bytes - weightOf(before) + weightOf(message)
    if (isFull || bytes > maximum.bytes) throw new ThingwireError('too_many_retained')
  }

  /**
   * Makes the message the newest of its topic; an empty payload removes the retained message of the topic (MQTT-3.3.1-10).
   *
   * @returns documents to put; put the documents of several calls in the order of the calls
   */
  change(message: RetainedMessage): DocumentPut {
    const { topic, payload, qos, order, brokerId, properties, expiresAt } = message
    const name = retainedName(topic)
    const isRemoval = payload.length === 0
    this.#setNewer(name, isRemoval ? undefined : { ...message, isComing: true, isAhead: false })
    const document: RetainedDocument = {
      ...{ topic, payload: payload.toString('base64'), qos, order, brokerId },
      ...(properties && { properties: properties.toString('base64') }),
      ...(expiresAt !== undefined && { expiresAt }),
    }
    return { [name]: isRemoval ? null : document }
  }

  /** Call this when another node announces a message. The stored one may be older or newer. @throws ThingwireError if the store fails */
  async announced(message: RetainedMessage): Promise<void> {
    const name = retainedName(message.topic)
    const before = this.#messages.get(name)
    if (isSame(before, message)) return
    const isRemoval = message.payload.length === 0
    if (message.order > (before?.order ?? 0))
      this.#setNewer(name, isRemoval ? undefined : { ...message, isComing: false, isAhead: true })
    else await this.hear(name)
  }

  /** Call this when a message was sent to all subscribers of this node, or will never be sent. */
  passed(topic: string, place: MessageId): void {
    const newest = this.newest(topic)
    if (newest && isSame(newest, place)) newest.isComing = false
    this.#wake()
  }

  /** Reads the stored message again, after a failed put or a put by another node. @throws ThingwireError if the store fails */
  async hear(name: string): Promise<void> {
    const reading = { name, isPast: false }
    this.#readings.add(reading)
    try {
      const document = (await this.#documents.getInOrder(name)) as RetainedDocument | undefined
      if (!reading.isPast) this.#setStored(name, document, true)
    } finally {
      this.#readings.delete(reading)
    }
  }

  /** The topics that the filters match, each once, in small pieces (see `FilterTree.matchedBy`). */
  matching(filters: readonly string[]): Generator<Iterable<string>> {
    const tree = new FilterTree<boolean>()
    for (const filter of filters) tree.add(filter, true)
    return this.#topics.matchedBy(tree)
  }

  /** The newest message of a topic, unless it is over. */
  newest(topic: string): Newest | undefined {
    const message = this.#messages.get(retainedName(topic))
    return message && (message.expiresAt ?? Number.POSITIVE_INFINITY) > this.#clock.now()
      ? message
      : undefined
  }

  /** Removes the messages that are over, from the store too. @throws ThingwireError if the store fails */
  async removeOver(): Promise<void> {
    const now = this.#clock.now()
    for (const name of this.#mortal) {
      const message = this.#messages.get(name)
      if (!message || (message.expiresAt ?? Number.POSITIVE_INFINITY) > now) continue
      await this.#documents.transact([name], ([stored]) => ({
        put: stored && isSame(messageOf(stored as RetainedDocument), message) ? { [name]: null } : {},
        result: undefined,
        purpose: 'essential',
      }))
      if (this.#messages.get(name) === message) this.#set(name, undefined)
    }
  }

  /** Resolves when a retained message changes, or at the next call of `passed`. */
  untilPassed(): Promise<void> {
    return new Promise(resolve => void this.#waiting.add(resolve))
  }

  #setNewer(name: string, message: Newest | undefined): void {
    for (const reading of this.#readings) if (reading.name === name) reading.isPast = true
    this.#set(name, message)
  }

  #setStored(name: string, document: RetainedDocument | undefined, isComing: boolean): void {
    const before = this.#messages.get(name)
    const message = document && messageOf(document)
    const isKnown = isSame(before, message)
    // Until the announced message is stored, the store may have an older message or no message. Both are ignored.
    const isOlder = message === undefined || isBefore(message, before)
    if (before?.isAhead && !isKnown && isOlder) return
    if (before && isKnown) before.isAhead = false
    if (isKnown) return
    this.#set(name, message && { ...message, isComing: isComing && message.order > 0, isAhead: false })
    if (!message || !isComing) return
    // The timer keeps no payload in memory, since many newer messages may replace this message before the timer fires.
    const { topic, order, brokerId } = message
    setTimeout(() => this.passed(topic, { order, brokerId }), patience).unref()
  }

  #set(name: string, given: Newest | undefined): void {
    // Ignores topics with forbidden characters, which older versions stored.
    const message = given && isTopicName(given.topic) ? given : undefined
    const before = this.#messages.get(name)
    this.#bytes += weightOf(message) - weightOf(before)
    if (message && !before) this.#topics.add(message.topic, message.topic)
    if (message) this.#messages.set(name, message)
    else this.#messages.delete(name)
    if (before && !message) this.#topics.remove(before.topic, before.topic)
    if (message?.expiresAt === undefined) this.#mortal.delete(name)
    else this.#mortal.add(name)
    this.#wake()
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }
}

/** Whether both are the same message. False for messages that older versions stored, since these messages have no order. */
export function isSame(one: MessageId | undefined, other: MessageId | undefined): boolean {
  return one !== undefined && one.order === other?.order && one.brokerId === other.brokerId && one.order > 0
}

/** Whether the same process published both messages, at any QoS, and published `one` before `other`. */
function isBefore(one: MessageId, other: MessageId | undefined): boolean {
  const [process] = one.brokerId.split('.')
  return process === other?.brokerId.split('.')[0] && one.order < (other?.order ?? 0)
}

type Weighed = Pick<RetainedMessage, 'topic' | 'payload' | 'properties'>

const weightOf = (message: Weighed | undefined) => (message ? sizeOf(message, message) : 0)

function messageOf(document: RetainedDocument): RetainedMessage {
  const { payload, properties, order = 0, brokerId = '', ...rest } = document
  const bytes = { payload: Buffer.from(payload, 'base64'), properties: decoded(properties) }
  return { ...rest, ...bytes, order, brokerId }
}
