import { Readable } from 'node:stream'
import type { Aedes, AedesPublishPacket, Client, Subscription } from 'aedes'
import type { OutgoingPacket } from './outgoing-queue.ts'
import type { PublishQueue } from './publish-queue.ts'
import type { RelayedClient } from './relayed-client.ts'

export interface RelayedClients {
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
export function relayPersistence(publishing: PublishQueue, clients: RelayedClients) {
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
