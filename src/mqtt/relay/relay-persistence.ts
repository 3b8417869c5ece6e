import { Readable } from 'node:stream'
import type { Aedes, AedesPublishPacket, Client, Subscription } from 'aedes'
import type { ReplayedPacket, SentPacket } from './outgoing-queue.ts'

/** What Aedes has a persistence do, as the relay does it. */
export interface RelayStore {
  /** The broker that is served. */
  useBroker(broker: Aedes): void
  /** A message is the newest of its topic from here on. */
  retain(packet: AedesPublishPacket): void
  /** Resolves when the message is with the sessions that want it, in the order of the calls. @throws ThingwireError of the store */
  enqueue(packet: AedesPublishPacket): Promise<void>
  /** What the session of a client is subscribed to. */
  filtersOf(clientId: string): readonly string[]
  sends(client: Client, packet: SentPacket): Promise<void>
  acked(client: Client, messageId: number): void
  replay(client: Client): AsyncIterable<ReplayedPacket>
}

/**
 * The persistence that Aedes is given: `aedes-persistence` says what it asks. Subscriptions are kept, retained messages sent, and wills
 * published, by the relay and the doors; QoS 2 packets of clients do not come so far as Aedes.
 */
export class RelayPersistence {
  readonly #store: RelayStore

  constructor(store: RelayStore) {
    this.#store = store
  }

  async setup(broker: Aedes): Promise<void> {
    this.#store.useBroker(broker)
  }

  async destroy(): Promise<void> {}

  async storeRetained(packet: AedesPublishPacket): Promise<void> {
    this.#store.retain(packet)
  }

  createRetainedStream(): Readable {
    return Readable.from([])
  }

  createRetainedStreamCombi(): Readable {
    return Readable.from([])
  }

  async addSubscriptions(): Promise<void> {}

  async removeSubscriptions(): Promise<void> {}

  async subscriptionsByClient({ id }: Pick<Client, 'id'>): Promise<Subscription[]> {
    return this.#store.filtersOf(id).map(topic => ({ topic, qos: 2 }))
  }

  async countOffline(): Promise<{ subsCount: number; clientsCount: number }> {
    return { subsCount: 0, clientsCount: 0 }
  }

  /** Aedes hands the list to `outgoingEnqueueCombi`, which finds the sessions itself, with their QoS. */
  async subscriptionsByTopic(): Promise<[]> {
    return []
  }

  async cleanSubscriptions(): Promise<void> {}

  outgoingEnqueueCombi(_subscriptions: unknown, packet: AedesPublishPacket): Promise<void> {
    return this.#store.enqueue(packet)
  }

  /** A retained message for one client: it is kept as such. */
  async outgoingEnqueue(): Promise<void> {}

  outgoingUpdate(client: Client, packet: SentPacket): Promise<void> {
    return this.#store.sends(client, packet)
  }

  async outgoingClearMessageId(client: Client, { messageId }: { messageId?: number }): Promise<void> {
    if (messageId !== undefined) this.#store.acked(client, messageId)
  }

  outgoingStream(client: Client): Readable {
    return Readable.from(this.#store.replay(client))
  }

  async incomingStorePacket(): Promise<void> {}

  async incomingGetPacket(): Promise<never> {
    throw new Error('no such packet')
  }

  async incomingDelPacket(): Promise<void> {}

  async putWill(): Promise<void> {}

  async getWill(): Promise<void> {}

  async delWill(): Promise<void> {}

  streamWill(): Readable {
    return Readable.from([])
  }

  getClientList(): Readable {
    return Readable.from([])
  }
}
