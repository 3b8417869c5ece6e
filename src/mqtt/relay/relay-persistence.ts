import { Readable } from 'node:stream'
import type { Aedes, AedesPublishPacket, Client, Subscription } from 'aedes'
import type { SentPacket } from './outgoing-queue.ts'
import type { PublishQueue } from './publish-queue.ts'
import type { RelayedClient } from './relayed-client.ts'

export interface RelayPersistenceParts {
  readonly publishing: PublishQueue
  /** Undefined: the client uses no topics beside those of things. */
  readonly of: (client: Client) => RelayedClient | undefined
  /** By client id. */
  readonly newest: (clientId: string) => RelayedClient | undefined
}

/**
 * The persistence that Aedes is given: `aedes-persistence` says what it asks. Subscriptions are kept, retained messages sent, and wills
 * published, by the relay and the doors; QoS 2 packets of clients do not come so far as Aedes.
 */
export class RelayPersistence {
  readonly #parts: RelayPersistenceParts

  constructor(parts: RelayPersistenceParts) {
    this.#parts = parts
  }

  async setup(broker: Aedes): Promise<void> {
    this.#parts.publishing.useBroker(broker)
  }

  async destroy(): Promise<void> {}

  async storeRetained(packet: AedesPublishPacket): Promise<void> {
    this.#parts.publishing.retain(packet)
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
    return this.#parts.newest(id)?.subscriptions.map(({ filter }) => ({ topic: filter, qos: 2 })) ?? []
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
    return this.#parts.publishing.enqueue(packet)
  }

  /** A retained message for one client: it is kept as such. */
  async outgoingEnqueue(): Promise<void> {}

  async outgoingUpdate(client: Client, packet: SentPacket): Promise<void> {
    await this.#parts.of(client)?.sends(packet)
  }

  async outgoingClearMessageId(client: Client, { messageId }: { messageId?: number }): Promise<void> {
    if (messageId !== undefined) this.#parts.of(client)?.queue?.acked(messageId)
  }

  outgoingStream(client: Client): Readable {
    return Readable.from(this.#parts.of(client)?.replay() ?? [])
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
