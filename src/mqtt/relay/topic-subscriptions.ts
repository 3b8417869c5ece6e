import { isDeepStrictEqual } from 'node:util'
import { listDocuments } from '../../core/list-documents.ts'
import type { Lock } from '../../core/locks.ts'
import type { DocumentStore } from '../../core/ports.ts'
import {
  type Copy,
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
  readonly #tree = new FilterTree<TopicSubscription & { readonly clientId: string }>()
  readonly #byClient = new Map<string, readonly TopicSubscription[]>()
  /** Client ids of the sessions with subscription identifiers. */
  readonly #identified = new Set<string>()

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
    const before = new Map(this.of(clientId).map(subscription => [subscription.filter, subscription]))
    for (const subscription of subscriptions) {
      const { filter } = subscription
      if (before.get(filter) !== subscription) this.#tree.add(filter, { ...subscription, clientId }, clientId)
      before.delete(filter)
    }
    for (const filter of before.keys()) this.#tree.remove(filter, clientId)
    if (subscriptions.length > 0) this.#byClient.set(clientId, subscriptions)
    else this.#byClient.delete(clientId)
    if (subscriptions.some(({ identifier }) => identifier !== undefined)) this.#identified.add(clientId)
    else this.#identified.delete(clientId)
  }

  of(clientId: string): readonly TopicSubscription[] {
    return this.#byClient.get(clientId) ?? []
  }

  /** @param scope prefix of a principal's client ids, for example `thing.<id>:` */
  clientsIn(scope: string): readonly string[] {
    return [...this.#byClient.keys()].filter(clientId => clientId.startsWith(scope))
  }

  /**
   * For each session that is owed a message: its copies at QoS 1 and 2, by client id.
   *
   * @param from client id of the publisher @param isRetained whether the message is published with RETAIN
   */
  wanting(topic: string, from?: string, isRetained = false): ReadonlyMap<string, readonly Copy[]> {
    const matches = this.#tree.match(topic)
    if (matches.length === 0) return nobody
    const byClient = new Map<string, TopicSubscription[]>()
    for (const match of matches) {
      const all = byClient.get(match.clientId)
      if (all) all.push(match)
      else byClient.set(match.clientId, [match])
    }
    const wanted = new Map<string, readonly Copy[]>()
    for (const [clientId, matches] of byClient) {
      const copies = copiesOf(matches, from === clientId, isRetained).filter(({ qos }) => qos > 0)
      if (copies.length > 0) wanted.set(clientId, copies)
    }
    return wanted
  }

  /** Whether the session has subscription identifiers. */
  hasIdentifiers(clientId: string): boolean {
    return this.#identified.has(clientId)
  }
}

/**
 * The copies of a message that one client gets: one for each identifier of the matching filters, at the highest QoS of those filters
 * (MQTT5-3.3.4). Filters without an identifier share a copy.
 *
 * @param isOwn whether the client has published the message @param isRetained whether it is published with RETAIN
 */
export function copiesOf(
  matches: readonly TopicSubscription[],
  isOwn: boolean,
  isRetained: boolean,
): readonly Copy[] {
  const copies = new Map<number, Copy>()
  for (const { qos, identifier = 0, isNoLocal = false, isRetainAsPublished = false } of matches) {
    if (isOwn && isNoLocal) continue
    const before = copies.get(identifier)
    const keepsRetain = before?.isRetained === true || (isRetained && isRetainAsPublished)
    copies.set(identifier, { identifier, qos: maximum(qos, before?.qos), isRetained: keepsRetain })
  }
  return [...copies.values()]
}

const nobody: ReadonlyMap<string, readonly Copy[]> = new Map()

const maximum = (one: Copy['qos'], other: Copy['qos'] = 0) => (one > other ? one : other)
