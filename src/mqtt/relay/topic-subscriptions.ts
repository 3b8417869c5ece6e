import { listDocuments } from '../../core/list-documents.ts'
import type { DocumentStore } from '../../core/ports.ts'
import type { QoS } from '../packets/packet.ts'
import {
  clientIdOf,
  type TopicSessionDocument,
  type TopicSubscription,
  topicSessionName,
  topicSessionPrefix,
} from './documents.ts'
import { FilterTree } from './filter-tree.ts'

interface Subscriber extends TopicSubscription {
  readonly clientId: string
}

/** To what the sessions of clients that may come back are subscribed, on whichever node. */
export class TopicSubscriptions {
  readonly #documents: DocumentStore
  readonly #tree = new FilterTree<Subscriber>()
  readonly #byClient = new Map<string, readonly Subscriber[]>()

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  /** @throws ThingwireError of the store */
  async load(): Promise<void> {
    const gone = new Set(this.#byClient.keys())
    for await (const [rest, { subscriptions }] of listDocuments<TopicSessionDocument>(
      this.#documents,
      topicSessionPrefix,
    )) {
      const clientId = decodeURIComponent(rest)
      gone.delete(clientId)
      this.set(clientId, subscriptions)
    }
    for (const clientId of gone) this.set(clientId, [])
  }

  /** Another node has put or removed the document of a session. @throws ThingwireError of the store */
  async hear(name: string): Promise<void> {
    const document = (await this.#documents.getInOrder(name)) as TopicSessionDocument | undefined
    this.set(clientIdOf(name), document?.subscriptions ?? [])
  }

  /** What the session of a client is subscribed to from here on. */
  set(clientId: string, subscriptions: readonly TopicSubscription[]): void {
    const before = new Map(this.#byClient.get(clientId)?.map(each => [each.filter, each]))
    const subscribers = subscriptions.map(each => {
      const same = before.get(each.filter)
      if (same?.qos !== each.qos) return { ...each, clientId }
      before.delete(each.filter)
      return same
    })
    for (const each of before.values()) this.#tree.remove(each.filter, each)
    for (const each of subscribers) this.#tree.add(each.filter, each)
    if (subscribers.length > 0) this.#byClient.set(clientId, subscribers)
    else this.#byClient.delete(clientId)
  }

  of(clientId: string): readonly TopicSubscription[] {
    return this.#byClient.get(clientId) ?? []
  }

  /** @param scope of a principal, such as `thing.<id>:` */
  clientsIn(scope: string): readonly string[] {
    return [...this.#byClient.keys()].filter(clientId => clientId.startsWith(scope))
  }

  /** By client id, the QoS with which each session wants what is published on a topic: the greatest of its filters that match. */
  wanting(topic: string): ReadonlyMap<string, QoS> {
    const wanted = new Map<string, QoS>()
    for (const { clientId, qos } of this.#tree.match(topic)) {
      if (qos >= (wanted.get(clientId) ?? 0)) wanted.set(clientId, qos)
    }
    return wanted
  }

  /** The document that says what a session is subscribed to; null: nothing. */
  static put(
    clientId: string,
    subscriptions: readonly TopicSubscription[],
  ): Record<string, TopicSessionDocument | null> {
    return { [topicSessionName(clientId)]: subscriptions.length > 0 ? { subscriptions } : null }
  }
}
