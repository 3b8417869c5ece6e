import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Aedes, AedesPublishPacket, Client, Subscription } from 'aedes'
import { principalName } from '../../access/principal.ts'
import { type Lock, LockLost, unlessLost } from '../../core/locks.ts'
import type { Nodes } from '../../core/nodes.ts'
import type { Observer } from '../../core/observer.ts'
import { isOutage } from '../../core/outage.ts'
import type { DocumentStore } from '../../core/ports.ts'
import type { ReceiptClock } from '../../core/time/clock.ts'
import { mayRead, type TopicGrant } from '../../core/topics/topic-grant.ts'
import type { Live } from '../../live/index.ts'
import {
  clientIdOf,
  clientIdOfQueued,
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

interface RelayParts {
  readonly documents: DocumentStore
  readonly nodes: Nodes
  readonly clock: Pick<ReceiptClock, 'now'>
  readonly live: Pick<Live, 'catchUp'>
  readonly observer?: Observer | undefined
  /** Called with errors that are not the store's. */
  readonly onDefect: (error: unknown) => void
}

/**
 * Topics beside those of things, which Aedes serves: the relay is what Aedes has of the store and of other nodes, and by which
 * clients of ours publish.
 */
export class Relay {
  readonly persistence: ReturnType<typeof relayPersistence>
  readonly bus: MessageBus
  readonly #parts: RelayParts
  readonly #retained: RetainedMessages
  readonly #subscriptions: TopicSubscriptions
  readonly #owed: OwedMessages
  /** Of this process; what Aedes knows messages again by. It stands in the name of each entry: 72 random bits are enough. */
  readonly #brokerId = randomBytes(9).toString('base64url')
  readonly #publishing: PublishQueue
  /** By broker of another node, order of the newest message that has come: those of one come in their order. */
  readonly #come = new Map<string, number>()
  readonly #clients = new WeakMap<Client, RelayedClient>()
  /** By client id, the newest connection of each. */
  readonly #current = new Map<string, RelayedClient>()
  readonly #stopHearing: () => void
  /** Resolves when what is known to have changed is read. */
  #hearing: Promise<unknown> = Promise.resolve()

  private constructor(parts: RelayParts) {
    const { documents, nodes, clock, observer } = parts
    this.#parts = parts
    this.#retained = new RetainedMessages(documents)
    this.#subscriptions = new TopicSubscriptions(documents)
    this.#owed = new OwedMessages({
      documents,
      isConnected: clientId => this.#current.has(clientId),
      onDropped: count => observer?.dropped(count),
      onFailed: this.#onFailed,
    })
    this.#publishing = new PublishQueue({
      documents,
      clock,
      brokerId: this.#brokerId,
      retained: this.#retained,
      subscriptions: this.#subscriptions,
      owed: this.#owed,
      onFailed: this.#onFailed,
    })
    this.persistence = relayPersistence(this.#publishing, this)
    this.bus = new MessageBus({
      nodes,
      onLinked: message => {
        const { retain, brokerId, brokerCounter } = message
        this.#come.set(brokerId, brokerCounter)
        if (retain) this.#retained.announced({ ...message, ...placeOf(message) }).catch(this.#onFailed)
      },
      onDelivered: message => {
        if (message.retain) this.#retained.passed(message.topic, placeOf(message))
      },
      // What their clients have missed, they find in the store when they come again.
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

  /** @throws ThingwireError of the store */
  static async open(parts: RelayParts): Promise<Relay> {
    const relay = new Relay(parts)
    await relay.bus.open()
    await relay.#hear(undefined)
    relay.#owed.sweepSoon()
    return relay
  }

  close(): void {
    this.#stopHearing()
    this.#owed.close()
  }

  /** The newest connection of a client, if it is one of this node. */
  newest(clientId: string): RelayedClient | undefined {
    return this.#current.get(clientId)
  }

  /**
   * A client has connected. What its session was subscribed to, it is again, as far as it may still see that.
   *
   * @param before `newest` of the time when its lock was not yet taken: since then that may have ended in vain
   * @returns undefined: it may use no topics beside those of things
   * @throws LockLost @throws ThingwireError of the store
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
          // Where that fails, it is as if it was not acknowledged.
          before: latest ? latest.end(lock).catch(this.#onFailed) : Promise.resolve(),
          onFailed: this.#onFailed,
        })
      : undefined
    const relayed = new RelayedClient({ connection, clientId, grants, queue, retained: this.#retained })
    for (const subscription of kept) relayed.subscribe(subscription)
    this.#clients.set(client, relayed)
    this.#current.set(clientId, relayed)
    return relayed
  }

  /** The connection is gone, and nothing of it is under way. @throws ThingwireError of the store */
  async end(relayed: RelayedClient): Promise<void> {
    await relayed.end().catch(unlessLost)
    if (this.#current.get(relayed.clientId) === relayed) this.#current.delete(relayed.clientId)
  }

  /** There is no session of the client any more, and the store has nothing of it. */
  forget(clientId: string): void {
    this.#subscriptions.set(clientId, [])
    this.#owed.forget(clientId)
    // What was put for it while it ended.
    this.#owed.sweepSoon()
  }

  /** @returns undefined: the client uses no topics beside those of things */
  of(client: Client): RelayedClient | undefined {
    return this.#clients.get(client)
  }

  /**
   * Keeps what the client is subscribed to, if its session outlives the connection, and has been subscribed to something else.
   *
   * @throws LockLost @throws ThingwireError of the store
   */
  async keep(
    { clientId, isPersistent }: RelayedClient,
    subscriptions: readonly TopicSubscription[],
    lock: Lock | undefined,
  ): Promise<void> {
    if (!isPersistent) return
    await this.#subscriptions.keep(clientId, subscriptions, lock)
    await this.bus.settle()
  }

  /** Resolves when everything that was committed before the call, by whichever node, is known here. @throws ThingwireError of the store */
  async catchUp(): Promise<void> {
    if (this.#parts.nodes.isAlone) return
    await this.#parts.live.catchUp()
    await this.#hearing
  }

  /** Ends the subscriptions of a session that its client may not have any more. @returns the others */
  async #restrict(clientId: string, grants: readonly TopicGrant[], lock?: Lock) {
    const kept = this.#subscriptions.of(clientId).filter(({ filter }) => mayRead(grants, filter))
    await this.#subscriptions.keep(clientId, kept, lock)
    return kept
  }

  /** What a principal may see has changed: its sessions keep what it may still see. @throws ThingwireError of the store */
  async restrictAll(thingId: string, grants: readonly TopicGrant[]): Promise<void> {
    const scope = `${principalName({ kind: 'thing', thingId })}:`
    for (const clientId of this.#subscriptions.clientsIn(scope)) await this.#restrict(clientId, grants)
  }

  /**
   * Resolves when the message is with every session that outlives its connection and wants it, and with everyone who is connected.
   *
   * @param together put with it, at QoS 1 and 2
   * @throws ThingwireError of the store: nothing was put; too_many_retained
   */
  publish(message: RelayedMessage, together?: PutWithMessage): Promise<void> {
    return this.#publishing.publish(message, together)
  }

  /** @param names of documents that may have changed; undefined: any may have */
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
      // What this node has put for the session while it ended at another one.
      if (!(await this.#parts.documents.get(sessionName(clientId)))) this.#owed.sweepSoon()
    })
    await Promise.all(changes)
  }

  /**
   * Another node has put entries, or has removed some. Their messages come by another way, on which they may be lost: that node may be
   * killed between the two.
   */
  #expect(names: readonly string[]): void {
    const isMissing = (name: string) => {
      const { order, brokerId } = placeIn(name)
      return order > (this.#come.get(brokerId) ?? 0) && this.#current.has(clientIdOfQueued(name))
    }
    const missing = names.filter(isMissing)
    const look = async () => {
      for (const name of missing.filter(isMissing)) {
        // What has been acknowledged, or dropped, is not missed.
        if (await this.#parts.documents.get(name)) this.#current.get(clientIdOfQueued(name))?.miss()
      }
    }
    if (missing.length > 0) setTimeout(() => look().catch(this.#onFailed), patience).unref()
  }

  /** Whoever waits for a step reports its failure. */
  readonly #onFailed = (error: unknown): void => {
    if (!isOutage(error) && !(error instanceof LockLost)) this.#parts.onDefect(error)
  }
}

interface RelayedClients {
  /** @returns undefined: the client uses no topics beside those of things */
  of(client: Client): RelayedClient | undefined
  newest(clientId: string): RelayedClient | undefined
}

const nothing = async (): Promise<void> => {}
const none = (): Readable => Readable.from([])

/**
 * The persistence that Aedes is given: `aedes-persistence` says what it asks. Subscriptions are kept, retained messages sent, and wills
 * published, by the relay and the doors; QoS 2 packets of clients do not come so far as Aedes.
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
    /** Aedes hands the list to `outgoingEnqueueCombi`, which finds the sessions itself, with their QoS. */
    subscriptionsByTopic: async (): Promise<[]> => [],

    outgoingEnqueueCombi: (_: unknown, packet: AedesPublishPacket): Promise<void> =>
      publishing.enqueue(packet),
    /** A retained message for one client: it is kept as such. */
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
