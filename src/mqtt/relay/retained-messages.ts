import { listDocuments } from '../../core/list-documents.ts'
import type { DocumentPut, DocumentStore } from '../../core/ports.ts'
import { isTopicName, matchesTopic } from '../../core/topics/topic-filter.ts'
import { ThingwireError } from '../../errors.ts'
import type { QoS } from '../packets/packet.ts'
import { type RetainedDocument, retainedName, topicRetainedPrefix } from './documents.ts'

/** Most retained messages of all topics, and most bytes of their topics and payloads (contract §7.10). */
const maximum = { messages: 100_000, bytes: 64 * 1024 * 1024 }

export interface RetainedMessage {
  readonly topic: string
  readonly payload: Buffer
  readonly qos: QoS
}

/** The newest retained message of each topic: in the store, and all of them in memory, for whoever subscribes. */
export class RetainedMessages {
  readonly #documents: DocumentStore
  /** By the names of their documents. */
  #messages = new Map<string, RetainedMessage>()
  #bytes = 0

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  /** @throws ThingwireError of the store */
  async load(): Promise<void> {
    const names = new Set(this.#messages.keys())
    for await (const [rest, document] of listDocuments<RetainedDocument>(
      this.#documents,
      topicRetainedPrefix,
    )) {
      const name = topicRetainedPrefix + rest
      names.delete(name)
      this.#set(name, messageOf(document))
      if (!isTopicName(document.topic)) await this.#documents.put({ [name]: null }, 'essential')
    }
    for (const name of names) this.#set(name, undefined)
  }

  /** @throws ThingwireError too_many_retained: there is no room for one more */
  assertRoom(topic: string, payload: Uint8Array): void {
    const before = this.#messages.get(retainedName(topic))
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
    const name = retainedName(message.topic)
    const isRemoval = message.payload.length === 0
    this.#set(name, isRemoval ? undefined : message)
    return { [name]: isRemoval ? null : documentOf(message) }
  }

  /** Reads what the store has now: it was not put, or by another node. @throws ThingwireError of the store */
  async hear(name: string): Promise<void> {
    const document = (await this.#documents.getInOrder(name)) as RetainedDocument | undefined
    this.#set(name, document && messageOf(document))
  }

  /** Each once, and without a look at all of them where no filter has a wildcard. */
  matching(filters: readonly string[]): readonly RetainedMessage[] {
    const topics = filters.filter(isTopicName)
    const found = new Set(topics.flatMap(topic => this.#messages.get(retainedName(topic)) ?? []))
    const wild = filters.filter(filter => !isTopicName(filter))
    if (wild.length === 0) return [...found]
    for (const message of this.#messages.values()) {
      if (wild.some(filter => matchesTopic(filter, message.topic))) found.add(message)
    }
    return [...found]
  }

  /** Whether no newer one has come for the topic since this was found. */
  isNewest(topic: string, payload: unknown): boolean {
    return this.#messages.get(retainedName(topic))?.payload === payload
  }

  #set(name: string, given: RetainedMessage | undefined): void {
    // Others are of an older build, which took every character: kept, or from its node.
    const message = given && isTopicName(given.topic) ? given : undefined
    this.#bytes += weightOf(message) - weightOf(this.#messages.get(name))
    if (message) this.#messages.set(name, message)
    else this.#messages.delete(name)
  }
}

function weightOf(message: RetainedMessage | undefined): number {
  return message ? Buffer.byteLength(message.topic) + message.payload.length : 0
}

function messageOf({ topic, payload, qos }: RetainedDocument): RetainedMessage {
  return { topic, payload: Buffer.from(payload, 'base64'), qos }
}

function documentOf({ topic, payload, qos }: RetainedMessage): RetainedDocument {
  return { topic, payload: payload.toString('base64'), qos }
}
