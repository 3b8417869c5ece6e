import { listDocuments } from '../../core/list-documents.ts'
import type { DocumentPut, DocumentStore } from '../../core/ports.ts'
import { isTopicName } from '../../core/topics/topic-filter.ts'
import { ThingwireError } from '../../errors.ts'
import type { QoS } from '../packets/packet.ts'
import { type MessageId, type RetainedDocument, retainedName, topicRetainedPrefix } from './documents.ts'
import { FilterTree } from './filter-tree.ts'

/** Most retained messages of all topics, and most bytes of their topics and payloads (contract §7.10). */
const maximum = { messages: 100_000, bytes: 64 * 1024 * 1024 }
/** How much later than in the store a message of another node may come, milliseconds. */
export const patience = 5_000

export interface RetainedMessage extends MessageId {
  readonly topic: string
  readonly payload: Buffer
  readonly qos: QoS
}

/** One object for each message, however often it is heard of. */
interface Newest extends RetainedMessage {
  /** The message may still come to everyone who is subscribed at this node, as it is published. */
  isComing: boolean
  /** Another node has announced the message, and the store has perhaps an older one. */
  isAhead: boolean
}

/** The newest retained message of each topic: in the store, and all of them in memory, for whoever subscribes. */
export class RetainedMessages {
  readonly #documents: DocumentStore
  /** By the names of their documents. */
  readonly #messages = new Map<string, Newest>()
  readonly #topics = new FilterTree<string>()
  #bytes = 0
  readonly #waiting = new Set<() => void>()
  /** Documents that are being read; past are those that were changed here since. */
  readonly #readings = new Set<{ readonly name: string; isPast: boolean }>()

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  /** @throws ThingwireError of the store */
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

  /** @throws ThingwireError too_many_retained: there is no room for one more */
  assertRoom(topic: string, payload: Uint8Array): void {
    const before = this.newest(topic)
    const isFull = !before && this.#messages.size >= maximum.messages
    const bytes = this.#bytes - weightOf(before) + Buffer.byteLength(topic) + payload.length
    if (isFull || bytes > maximum.bytes) throw new ThingwireError('too_many_retained')
  }

  /**
   * From here on it is the newest of its topic; one without a payload removes it (MQTT-3.3.1-10).
   *
   * @returns what is to be put, before anything that is called later
   */
  change(message: RetainedMessage): DocumentPut {
    const { topic, payload, qos, order, brokerId } = message
    const name = retainedName(topic)
    const isRemoval = payload.length === 0
    this.#setNewer(name, isRemoval ? undefined : { ...message, isComing: true, isAhead: false })
    return { [name]: isRemoval ? null : { topic, payload: payload.toString('base64'), qos, order, brokerId } }
  }

  /** Another node announces a message; what the store has, may be newer, or not be there yet. @throws ThingwireError of the store */
  async announced(message: RetainedMessage): Promise<void> {
    const name = retainedName(message.topic)
    const before = this.#messages.get(name)
    if (isSame(before, message)) return
    const isRemoval = message.payload.length === 0
    if (message.order > (before?.order ?? 0))
      this.#setNewer(name, isRemoval ? undefined : { ...message, isComing: false, isAhead: true })
    else await this.hear(name)
  }

  /** A message has gone to all subscribers of this node, or comes no more. */
  passed(topic: string, place: MessageId): void {
    const newest = this.newest(topic)
    if (newest && isSame(newest, place)) newest.isComing = false
    this.#wake()
  }

  /** Reads what the store has now: it was not put, or by another node. @throws ThingwireError of the store */
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

  /** Topics of those that filters match, each once, in small pieces (`FilterTree.matchedBy`). */
  matching(filters: readonly string[]): Generator<Iterable<string>> {
    const tree = new FilterTree<boolean>()
    for (const filter of filters) tree.add(filter, true)
    return this.#topics.matchedBy(tree)
  }

  /** The newest of a topic. */
  newest(topic: string): Newest | undefined {
    return this.#messages.get(retainedName(topic))
  }

  /** Resolves when a message has changed, or comes no more as it is published. */
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
    // The put of what was announced is under way.
    const isOlder = message === undefined || isBefore(message, before)
    if (before?.isAhead && !isKnown && isOlder) return
    if (before && isKnown) before.isAhead = false
    if (isKnown) return
    this.#set(name, message && { ...message, isComing: isComing && message.order > 0, isAhead: false })
    if (!message || !isComing) return
    // Not the message itself: there may be many newer ones by then.
    const { topic, order, brokerId } = message
    setTimeout(() => this.passed(topic, { order, brokerId }), patience).unref()
  }

  #set(name: string, given: Newest | undefined): void {
    // Others were kept by an older build, which took every character.
    const message = given && isTopicName(given.topic) ? given : undefined
    const before = this.#messages.get(name)
    this.#bytes += weightOf(message) - weightOf(before)
    if (message && !before) this.#topics.add(message.topic, message.topic)
    if (message) this.#messages.set(name, message)
    else this.#messages.delete(name)
    if (before && !message) this.#topics.remove(before.topic, before.topic)
    this.#wake()
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }
}

/** Whether two are one message; never where an older version has put it, which kept no place. */
export function isSame(one: MessageId | undefined, other: MessageId | undefined): boolean {
  return one !== undefined && one.order === other?.order && one.brokerId === other.brokerId && one.order > 0
}

/** Whether the same process has published them in this order, at whichever QoS. */
function isBefore(one: MessageId, other: MessageId | undefined): boolean {
  const [process] = one.brokerId.split('.')
  return process === other?.brokerId.split('.')[0] && one.order < (other?.order ?? 0)
}

function weightOf(message: RetainedMessage | undefined): number {
  return message ? Buffer.byteLength(message.topic) + message.payload.length : 0
}

function messageOf({ topic, payload, qos, order = 0, brokerId = '' }: RetainedDocument): RetainedMessage {
  return { topic, payload: Buffer.from(payload, 'base64'), qos, order, brokerId }
}
