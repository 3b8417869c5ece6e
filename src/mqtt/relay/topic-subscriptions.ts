import { isDeepStrictEqual } from 'node:util'
import { listDocuments } from '../../core/list-documents.ts'
import type { Lock } from '../../core/locks.ts'
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

/** The subscriptions to topics that are not Thingwire's, for all persistent sessions on all nodes. */
export class TopicSubscriptions {
  readonly #documents: DocumentStore
  readonly #tree = new FilterTree<{ readonly clientId: string; readonly qos: QoS }>()
  readonly #byClient = new Map<string, readonly TopicSubscription[]>()

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  /** @throws ThingwireError if the store fails */
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

  /** Call this when another node has put or removed the document of a session. @throws ThingwireError if the store fails */
  async hear(name: string): Promise<void> {
    const document = (await this.#documents.getInOrder(name)) as TopicSessionDocument | undefined
    this.set(clientIdOf(name), document?.subscriptions ?? [])
  }

  /** Stores a session's changed subscriptions. On failure, nothing changes. @throws LockLost @throws ThingwireError if the store fails */
  async keep(
    clientId: string,
    subscriptions: readonly TopicSubscription[],
    lock: Lock | undefined,
  ): Promise<void> {
    const before = this.of(clientId)
    if (isDeepStrictEqual(subscriptions, before)) return
    const known = new Set(before.map(({ filter }) => filter))
    const purpose = subscriptions.every(({ filter }) => known.has(filter)) ? 'essential' : 'keep'
    const document: TopicSessionDocument | null = subscriptions.length > 0 ? { subscriptions } : null
    this.set(clientId, subscriptions)
    try {
      await this.#documents.put({ [topicSessionName(clientId)]: document }, purpose, lock)
    } catch (error) {
      // The next call must put the subscriptions again.
      if (isDeepStrictEqual(this.of(clientId), subscriptions)) this.set(clientId, before)
      throw error
    }
  }

  set(clientId: string, subscriptions: readonly TopicSubscription[]): void {
    const before = new Map(this.of(clientId).map(({ filter, qos }) => [filter, qos]))
    for (const { filter, qos } of subscriptions) {
      if (before.get(filter) !== qos) this.#tree.add(filter, { clientId, qos }, clientId)
      before.delete(filter)
    }
    for (const filter of before.keys()) this.#tree.remove(filter, clientId)
    if (subscriptions.length > 0) this.#byClient.set(clientId, subscriptions)
    else this.#byClient.delete(clientId)
  }

  of(clientId: string): readonly TopicSubscription[] {
    return this.#byClient.get(clientId) ?? []
  }

  /** @param scope prefix of a principal's client ids, for example `thing.<id>:` */
  clientsIn(scope: string): readonly string[] {
    return [...this.#byClient.keys()].filter(clientId => clientId.startsWith(scope))
  }

  /** For each session that is owed a message on the topic: the highest QoS of the matching filters, 1 or 2, by client id. */
  wanting(topic: string): ReadonlyMap<string, QoS> {
    const wanted = new Map<string, QoS>()
    for (const { clientId, qos } of this.#tree.match(topic)) {
      if (qos > (wanted.get(clientId) ?? 0)) wanted.set(clientId, qos)
    }
    return wanted
  }
}
