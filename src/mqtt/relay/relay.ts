import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Aedes, AedesPublishPacket, Client, Subscription } from 'aedes'
import { type Lock, LockLost, unlessLost } from '../../core/locks.ts'
import { isOutage } from '../../core/outage.ts'
import type { ReceiptClock } from '../../core/time/clock.ts'
import { mayRead, type TopicGrant } from '../../core/topics/topic-grant.ts'
import type { Live } from '../../live/index.ts'
import type { MqttThings } from '../mqtt-things.ts'
import {
  clientIdOf,
  clientIdOfQueued,
  extrasOf,
  originOf,
  placeIn,
  placeOf,
  sessionName,
  type TopicSubscription,
  topicQueuePrefix,
  topicRetainedPrefix,
  topicSessionPrefix,
} from './documents.ts'
import { MessageBus } from './message-bus.ts'
import { type OutgoingPacket, OutgoingQueue } from './outgoing-queue.ts'
import { OwedMessages } from './owed-messages.ts'
import { PublishQueue, type PutWithMessage, type RelayedMessage } from './publish-queue.ts'
import { RelayedClient } from './relayed-client.ts'
import type { RelayedConnection } from './relayed-connection.ts'
import { patience, RetainedMessages } from './retained-messages.ts'
import { TopicSubscriptions } from './topic-subscriptions.ts'

interface RelayParts extends Pick<MqttThings, 'documents' | 'nodes' | 'observer'> {
  readonly clock: Pick<ReceiptClock, 'now'>
  readonly live: Pick<Live, 'catchUp'>
  /** Called with errors that do not come from the store. */
  readonly onDefect: (error: unknown) => void
}

/** Time between two removals of retained messages that are over, milliseconds. */
const removalInterval = 10_000

/** Serves topics that are not Thingwire's. Passes messages to Aedes, and gives Aedes persistence and a link to other nodes. */
export class Relay {
  readonly persistence: ReturnType<typeof relayPersistence>
  readonly bus: MessageBus
  readonly #parts: RelayParts
  readonly #retained: RetainedMessages
  readonly #subscriptions: TopicSubscriptions
  readonly #owed: OwedMessages
  /** Identifies this process in its messages. Has only 72 random bits, to keep the names of entries short. */
  readonly #brokerId = randomBytes(9).toString('base64url')
  readonly #publishing: PublishQueue
  /** The `order` of the newest received message, by broker id of another node. The messages of one broker arrive in order. */
  readonly #come = new Map<string, number>()
  readonly #clients = new WeakMap<Client, RelayedClient>()
  /** The newest connection of each client, by client id. */
  readonly #current = new Map<string, RelayedClient>()
  readonly #stopHearing: () => void
  readonly #removals = setInterval(
    () => void this.#retained.removeOver().catch(this.#onFailed),
    removalInterval,
  ).unref()
  /** Resolves when all announced changes are read. */
  #hearing: Promise<unknown> = Promise.resolve()

  private constructor(parts: RelayParts) {
    const { documents, nodes, clock, observer } = parts
    this.#parts = parts
    this.#retained = new RetainedMessages(documents, clock)
    this.#subscriptions = new TopicSubscriptions(documents)
    const onFailed = this.#onFailed
    this.#owed = new OwedMessages({
      ...{ documents, clock, onFailed },
      isConnected: clientId => this.#current.has(clientId),
      onDropped: count => observer?.dropped(count),
    })
    const kept = { retained: this.#retained, subscriptions: this.#subscriptions, owed: this.#owed }
    this.#publishing = new PublishQueue({ ...kept, documents, clock, brokerId: this.#brokerId, onFailed })
    this.persistence = relayPersistence(this.#publishing, this)
    this.bus = new MessageBus({
      nodes,
      onLinked: message => {
        const { retain, brokerId, brokerCounter, topic, payload, qos } = message
        this.#come.set(brokerId, brokerCounter)
        const { properties } = extrasOf(message)
        const announced = { topic, payload, qos, properties, ...placeOf(message) }
        if (retain) this.#retained.announced(announced).catch(this.#onFailed)
      },
      onDelivered: message => {
        if (message.retain) this.#retained.passed(message.topic, placeOf(message))
      },
      // The clients find the missed messages in the store when they return.
      onMissed: () => {
        for (const client of this.#current.values()) client.miss()
      },
      catchUp: () => this.catchUp(),
      onFailed: this.#onFailed,
    })
    this.#stopHearing = nodes.onDocuments(names => {
      this.#hearing = Promise.all([this.#hearing, this.#hear(names).catch(this.#onFailed)])
    })
  }

  /** @throws ThingwireError if the store fails */
  static async open(parts: RelayParts): Promise<Relay> {
    const relay = new Relay(parts)
    await relay.bus.open()
    await relay.#hear(undefined)
    relay.#owed.sweepSoon()
    return relay
  }

  close(): void {
    clearInterval(this.#removals)
    this.#stopHearing()
    this.#owed.close()
  }

  /** The newest connection of a client on this node. */
  newest(clientId: string): RelayedClient | undefined {
    return this.#current.get(clientId)
  }

  /**
   * Call this when a client has connected. Restores the subscriptions of its session that its grants still allow.
   *
   * @param before connection that `newest` returned before the lock was taken; it may have lost its lock before it stored all acks
   * @returns undefined if the client may not use topics that are not Thingwire's
   * @throws LockLost @throws ThingwireError if the store fails
   */
  async begin(
    connection: RelayedConnection,
    grants: readonly TopicGrant[],
    before: RelayedClient | undefined,
  ): Promise<RelayedClient | undefined> {
    const { session, client, lock } = connection
    if (!session) return undefined
    const { clientId, isPersistent, wasPresent } = session
    const latest = this.#current.get(clientId) ?? before
    if (!wasPresent) this.#subscriptions.set(clientId, [])
    const kept = await this.#restrict(clientId, grants, lock)
    if (grants.length === 0) return undefined
    const queue = isPersistent
      ? new OutgoingQueue({
          documents: this.#parts.documents,
          clientId,
          connection,
          brokerId: this.#brokerId,
          // If this fails, acks that are not stored are lost, and their messages are sent again.
          before: latest ? latest.end(lock).catch(this.#onFailed) : Promise.resolve(),
          onFailed: this.#onFailed,
        })
      : undefined
    const parts = { connection, clientId, grants, queue, retained: this.#retained }
    const relayed = new RelayedClient({ ...parts, clock: this.#parts.clock })
    for (const subscription of kept) relayed.subscribe(subscription)
    this.#clients.set(client, relayed)
    this.#current.set(clientId, relayed)
    return relayed
  }

  /** Call this when the connection is closed and none of its packets is pending. @throws ThingwireError if the store fails */
  async end(relayed: RelayedClient): Promise<void> {
    await relayed.end().catch(unlessLost)
    if (this.#current.get(relayed.clientId) === relayed) this.#current.delete(relayed.clientId)
  }

  /** Call this when the client's session has ended and its documents are removed. */
  forget(clientId: string): void {
    this.#subscriptions.set(clientId, [])
    this.#owed.forget(clientId)
    // Messages may have been put for the session while it was ending.
    this.#owed.sweepSoon()
  }

  /** @returns undefined if the client uses only Thingwire's topics */
  of(client: Client): RelayedClient | undefined {
    return this.#clients.get(client)
  }

  /** Stores the subscriptions of a persistent session if they have changed. @throws LockLost @throws ThingwireError if the store fails */
  async keep(
    { clientId, isPersistent }: RelayedClient,
    subscriptions: readonly TopicSubscription[],
    lock: Lock | undefined,
  ): Promise<void> {
    if (!isPersistent) return
    await this.#subscriptions.keep(clientId, subscriptions, lock)
    await this.bus.settle()
  }

  /** Resolves when this node knows all commits made before the call, on any node. @throws ThingwireError if the store fails */
  async catchUp(): Promise<void> {
    if (this.#parts.nodes.isAlone) return
    await this.#parts.live.catchUp()
    await this.#hearing
  }

  /** Removes subscriptions that the grants do not allow. @returns the remaining subscriptions */
  async #restrict(clientId: string, grants: readonly TopicGrant[], lock?: Lock) {
    const kept = this.#subscriptions.of(clientId).filter(({ filter }) => mayRead(grants, filter))
    await this.#subscriptions.keep(clientId, kept, lock)
    return kept
  }

  /** Removes the subscriptions of all clients in a scope that changed grants do not allow. @throws ThingwireError if the store fails */
  async restrictAll(scope: string, grants: readonly TopicGrant[]): Promise<void> {
    for (const clientId of this.#subscriptions.clientsIn(scope)) await this.#restrict(clientId, grants)
  }

  /**
   * Resolves when the message is durable for every matching persistent session, and was sent to every subscriber of this node.
   *
   * @param together documents to put in the same commit, at QoS 1 and 2
   * @throws ThingwireError too_many_retained; or an error of the store, in which case nothing was put
   */
  publish(message: RelayedMessage, together?: PutWithMessage): Promise<void> {
    return this.#publishing.publish(message, together)
  }

  /** @param names names of documents that may have changed; undefined if any document may have changed */
  async #hear(names: readonly string[] | undefined): Promise<void> {
    if (!names) {
      await Promise.all([this.#retained.load(), this.#subscriptions.load()])
      return
    }
    this.#expect(names.filter(name => name.startsWith(topicQueuePrefix)))
    const changes = names.map(async name => {
      if (name.startsWith(topicRetainedPrefix)) await this.#retained.hear(name)
      if (!name.startsWith(topicSessionPrefix)) return
      await this.#subscriptions.hear(name)
      const clientId = clientIdOf(name)
      if (this.#subscriptions.of(clientId).length > 0) return
      // This node may have put messages for the session while another node was ending it.
      if (!(await this.#parts.documents.get(sessionName(clientId)))) this.#owed.sweepSoon()
    })
    await Promise.all(changes)
  }

  /**
   * Call this when another node has put or removed entries. That node sends the messages separately, and may be killed before it
   * has sent them. If so, this node closes the connections that missed a message.
   */
  #expect(names: readonly string[]): void {
    const isMissing = (name: string) => {
      const { order, brokerId } = placeIn(name)
      return order > (this.#come.get(originOf(brokerId)) ?? 0) && this.#current.has(clientIdOfQueued(name))
    }
    const missing = names.filter(isMissing)
    const look = async () => {
      for (const name of missing.filter(isMissing)) {
        // A message that was acknowledged or dropped is not missed.
        if (await this.#parts.documents.get(name)) this.#current.get(clientIdOfQueued(name))?.miss()
      }
    }
    if (missing.length > 0) setTimeout(() => look().catch(this.#onFailed), patience).unref()
  }

  /** Passes on only defects. Outages of the store and lost locks are expected. */
  readonly #onFailed = (error: unknown): void => {
    if (!isOutage(error) && !(error instanceof LockLost)) this.#parts.onDefect(error)
  }
}

interface RelayedClients {
  of(client: Client): RelayedClient | undefined
  newest(clientId: string): RelayedClient | undefined
}

const nothing = async (): Promise<void> => {}
const none = (): Readable => Readable.from([])

/**
 * The persistence for Aedes, with the members of `aedes-persistence`. Most members do nothing: the relay and the doors keep
 * subscriptions, send retained messages and publish wills, and clients' QoS 2 packets do not reach Aedes.
 */
function relayPersistence(publishing: PublishQueue, clients: RelayedClients) {
  return {
    setup: async (broker: Aedes): Promise<void> => publishing.useBroker(broker),
    destroy: nothing,

    storeRetained: async (packet: AedesPublishPacket): Promise<void> => publishing.retain(packet),
    createRetainedStream: none,
    createRetainedStreamCombi: none,

    addSubscriptions: nothing,
    removeSubscriptions: nothing,
    cleanSubscriptions: nothing,
    subscriptionsByClient: async ({ id }: Pick<Client, 'id'>): Promise<Subscription[]> =>
      [...(clients.newest(id)?.subscriptions.keys() ?? [])].map(topic => ({ topic, qos: 2 })),
    countOffline: async () => ({ subsCount: 0, clientsCount: 0 }),
    /** Aedes only passes the result to `outgoingEnqueueCombi`, which finds the sessions and their QoS itself. */
    subscriptionsByTopic: async (): Promise<[]> => [],

    outgoingEnqueueCombi: (_: unknown, packet: AedesPublishPacket): Promise<void> =>
      publishing.enqueue(packet),
    /** Called with retained messages for one client, which are already stored. */
    outgoingEnqueue: nothing,
    outgoingUpdate: async (client: Client, packet: OutgoingPacket): Promise<void> =>
      clients.of(client)?.queue?.sends(packet),
    outgoingClearMessageId: async (client: Client, { messageId }: { messageId?: number }): Promise<void> => {
      if (messageId !== undefined) clients.of(client)?.queue?.acked(messageId)
    },
    outgoingStream: (client: Client): Readable => Readable.from(clients.of(client)?.queue?.replay() ?? []),

    incomingStorePacket: nothing,
    incomingGetPacket: () => Promise.reject(new Error('no such packet')),
    incomingDelPacket: nothing,

    putWill: nothing,
    getWill: nothing,
    delWill: nothing,
    streamWill: none,
    getClientList: none,
  }
}
