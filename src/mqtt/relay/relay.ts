import { randomBytes } from 'node:crypto'
import type { AedesPublishPacket, Client } from 'aedes'
import { principalName } from '../../access/principal.ts'
import { type Hold, HoldLost, unlessLost } from '../../core/holds.ts'
import { listNames } from '../../core/list-documents.ts'
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
  sessionName,
  type TopicSubscription,
  topicQueueOf,
  topicQueuePrefix,
  topicRetainedPrefix,
  topicSessionPrefix,
} from './documents.ts'
import { MessageBus } from './message-bus.ts'
import { type LinkedMessage, NodeLink } from './node-link.ts'
import { OutgoingQueue } from './outgoing-queue.ts'
import { PublishQueue, type PutWithMessage, type RelayedMessage } from './publish-queue.ts'
import { QueueBounds } from './queue-bounds.ts'
import { relayPersistence } from './relay-persistence.ts'
import { RelayedClient } from './relayed-client.ts'
import type { RelayedConnection } from './relayed-connection.ts'
import { RetainedMessages } from './retained-messages.ts'
import { Sweep } from './sweep.ts'
import { TopicSubscriptions } from './topic-subscriptions.ts'
import { UntoldMessages } from './untold-messages.ts'

export interface RelayParts {
  readonly documents: DocumentStore
  readonly nodes: Nodes
  readonly clock: Pick<ReceiptClock, 'now'>
  readonly live: Pick<Live, 'catchUp'>
  readonly observer?: Observer | undefined
  /** Told of errors that are not the store's. */
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
  readonly #bounds: QueueBounds
  readonly #link: NodeLink
  readonly #untold: UntoldMessages
  readonly #sweep: Sweep
  /** Of this process; what Aedes knows messages again by. It stands in the name of each entry: 72 random bits are enough. */
  readonly #brokerId = randomBytes(9).toString('base64url')
  readonly #publishing: PublishQueue
  readonly #clients = new WeakMap<Client, RelayedClient>()
  /** By client id, the newest connection of each. */
  readonly #current = new Map<string, RelayedClient>()
  readonly #stops: readonly (() => void)[]
  /** Resolves when what is known to have changed is read. */
  #hearing: Promise<unknown> = Promise.resolve()

  private constructor(parts: RelayParts) {
    const { documents, nodes, clock, observer } = parts
    this.#parts = parts
    this.#retained = new RetainedMessages(documents)
    this.#subscriptions = new TopicSubscriptions(documents)
    this.#bounds = new QueueBounds({
      documents,
      brokerId: this.#brokerId,
      isConnected: clientId => this.#current.has(clientId),
      onDropped: count => observer?.dropped(count),
      onFailed: this.#onFailed,
    })
    this.#sweep = new Sweep({
      documents,
      isThere: async clientId =>
        this.#current.has(clientId) || (await documents.get(sessionName(clientId))) !== undefined,
      onFailed: this.#onFailed,
    })
    this.#untold = new UntoldMessages(names => void this.#endWhoMissed(names).catch(this.#onFailed))
    this.#publishing = new PublishQueue({
      documents,
      clock,
      brokerId: this.#brokerId,
      retained: this.#retained,
      subscriptions: this.#subscriptions,
      bounds: this.#bounds,
      onKept: bytes => this.#sweep.note(bytes),
      onFailed: this.#onFailed,
    })
    this.persistence = relayPersistence({
      publishing: this.#publishing,
      of: client => this.#clients.get(client),
      newest: clientId => this.#current.get(clientId),
    })
    this.#link = new NodeLink({
      nodes,
      onMessage: message => this.#deliver(message),
      onMissed: () => this.#endPersistent(),
      catchUp: () => this.catchUp(),
      onFailed: this.#onFailed,
    })
    this.bus = new MessageBus(packet => {
      if (packet.retain) this.#passed(packet)
      // What a broker says of itself is nothing to others.
      if (!packet.topic.startsWith('$SYS/')) this.#link.tell(packet)
    })
    this.#stops = [
      nodes.onDocuments(names => {
        this.#hearing = Promise.all([this.#hearing, this.#hear(names).catch(this.#onFailed)])
      }),
      () => this.#link.close(),
      () => this.#untold.close(),
      () => this.#sweep.close(),
    ]
  }

  /** @throws ThingwireError of the store */
  static async open(parts: RelayParts): Promise<Relay> {
    const relay = new Relay(parts)
    await relay.#link.open()
    await relay.#hear(undefined)
    await relay.#sweep.open()
    return relay
  }

  close(): void {
    for (const stop of this.#stops) stop()
  }

  /** The newest connection of a client, if it is one of this node. */
  newest(clientId: string): RelayedClient | undefined {
    return this.#current.get(clientId)
  }

  /**
   * A client has connected. What its session was subscribed to, it is again, as far as it may still see that.
   *
   * @param before `newest` of the time when its hold was not yet taken: since then that may have ended in vain
   * @returns undefined: it may use no topics beside those of things
   * @throws HoldLost @throws ThingwireError of the store
   */
  async begin(
    connection: RelayedConnection,
    grants: readonly TopicGrant[],
    before: RelayedClient | undefined,
  ): Promise<RelayedClient | undefined> {
    const { session, client, hold } = connection
    if (!session) return undefined
    const { clientId, isPersistent, wasPresent } = session
    const latest = this.#current.get(clientId) ?? before
    const kept = isPersistent && wasPresent ? await this.restrict(clientId, grants, hold) : []
    if (isPersistent && !wasPresent) await this.#removeAll(clientId, hold)
    if (grants.length === 0) return undefined
    const queue = isPersistent
      ? new OutgoingQueue({
          documents: this.#parts.documents,
          clientId,
          connection,
          brokerId: this.#brokerId,
          // Where that fails, it is as if it was not acknowledged.
          before: latest ? latest.end(hold).catch(this.#onFailed) : Promise.resolve(),
          onFailed: this.#onFailed,
        })
      : undefined
    const retained = this.#retained
    const relayed = new RelayedClient({ connection, clientId, grants, subscriptions: kept, queue, retained })
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
    this.#bounds.forget(clientId)
    this.#removeLate(clientId).catch(this.#onFailed)
  }

  /** Removes what was put for a session while it ended. @throws ThingwireError of the store */
  async #removeLate(clientId: string): Promise<void> {
    const { documents } = this.#parts
    // Behind the puts of this node: from here on nothing comes for the client, unless it has begun anew.
    const session = await documents.getInOrder(sessionName(clientId))
    if (session || this.#current.has(clientId)) return
    await this.#removeAll(clientId, undefined)
    this.#sweep.soon()
  }

  /** Whether Aedes is to subscribe a client to a filter. */
  allows(client: Client, filter: string): boolean {
    return this.#clients.get(client)?.isSubscribed(filter) === true
  }

  forward(client: Client, packet: AedesPublishPacket): AedesPublishPacket | null {
    return this.#clients.get(client)?.forward(packet) ?? null
  }

  /**
   * Keeps what the client is subscribed to, if its session outlives the connection, and has been subscribed to something else.
   *
   * @throws HoldLost @throws ThingwireError of the store
   */
  async keep(
    { clientId, isPersistent }: RelayedClient,
    subscriptions: readonly TopicSubscription[],
    hold: Hold | undefined,
  ): Promise<void> {
    if (!isPersistent) return
    const before = this.#subscriptions.of(clientId)
    this.#subscriptions.set(clientId, subscriptions)
    const now = this.#subscriptions.of(clientId)
    if (now.length !== before.length || now.some((each, place) => each !== before[place])) {
      const known = new Set(before.map(({ filter }) => filter))
      const purpose = now.every(({ filter }) => known.has(filter)) ? 'essential' : 'keep'
      try {
        await this.#parts.documents.put(TopicSubscriptions.put(clientId, subscriptions), purpose, hold)
      } catch (error) {
        // So that it is put when it is asked for again.
        if (this.#subscriptions.of(clientId) === now) this.#subscriptions.set(clientId, before)
        throw error
      }
    }
    await this.#link.settle()
  }

  /** Resolves when everything that was committed before the call, by whichever node, is known here. @throws ThingwireError of the store */
  async catchUp(): Promise<void> {
    if (this.#parts.nodes.isAlone) return
    await this.#parts.live.catchUp()
    await this.#hearing
  }

  #deliver(message: LinkedMessage): void {
    const { retain, brokerId, brokerCounter: order } = message
    this.#untold.came({ brokerId, order })
    if (retain) this.#retained.announced({ ...message, order, brokerId }).catch(this.#onFailed)
    this.bus.deliver({ ...message, cmd: 'publish', dup: false }, () => {})
    if (retain) this.#passed(message)
  }

  #passed({ topic, brokerId, brokerCounter: order }: Omit<LinkedMessage, 'payload'>): void {
    this.#retained.passed(topic, { brokerId, order })
  }

  /** What their clients have missed, they find in the store when they come again. */
  #endPersistent(): void {
    for (const client of this.#current.values()) client.miss()
  }

  /**
   * Ends the subscriptions of a session that its client may not have any more.
   *
   * @returns the others
   * @throws HoldLost @throws ThingwireError of the store
   */
  async restrict(
    clientId: string,
    grants: readonly TopicGrant[],
    hold?: Hold,
  ): Promise<readonly TopicSubscription[]> {
    const all = this.#subscriptions.of(clientId)
    const kept = all.filter(({ filter }) => mayRead(grants, filter))
    if (kept.length === all.length) return all
    this.#subscriptions.set(clientId, kept)
    await this.#parts.documents.put(TopicSubscriptions.put(clientId, kept), 'essential', hold)
    return kept
  }

  /** What a principal may see has changed: its sessions keep what it may still see. @throws ThingwireError of the store */
  async restrictAll(thingId: string, grants: readonly TopicGrant[]): Promise<void> {
    const scope = `${principalName({ kind: 'thing', thingId })}:`
    for (const clientId of this.#subscriptions.clientsIn(scope)) await this.restrict(clientId, grants)
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
    const changes = names.map(async name => {
      if (name.startsWith(topicQueuePrefix) && this.#current.has(clientIdOfQueued(name)))
        this.#untold.stored(name)
      else if (name.startsWith(topicRetainedPrefix)) await this.#retained.hear(name)
      else if (name.startsWith(topicSessionPrefix)) await this.#hearSession(name)
    })
    await Promise.all(changes)
  }

  async #hearSession(name: string): Promise<void> {
    await this.#subscriptions.hear(name)
    const clientId = clientIdOf(name)
    if (this.#subscriptions.of(clientId).length === 0) await this.#removeLate(clientId)
  }

  /** @param names of entries whose message has not come to this node */
  async #endWhoMissed(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const client = this.#current.get(clientIdOfQueued(name))
      // What has been acknowledged, or dropped, is not missed.
      if (client && (await this.#parts.documents.get(name))) client.miss()
    }
  }

  /** Removes what a session has. @throws HoldLost @throws ThingwireError of the store */
  async #removeAll(clientId: string, hold: Hold | undefined): Promise<void> {
    const { documents } = this.#parts
    this.#subscriptions.set(clientId, [])
    const put: Record<string, null> = {}
    for await (const name of listNames(documents, topicQueueOf(clientId))) put[name] = null
    await documents.put({ ...put, ...TopicSubscriptions.put(clientId, []) }, 'essential', hold)
  }

  /** What the store fails is told by whoever waits for it. */
  readonly #onFailed = (error: unknown): void => {
    if (!isOutage(error) && !(error instanceof HoldLost)) this.#parts.onDefect(error)
  }
}
