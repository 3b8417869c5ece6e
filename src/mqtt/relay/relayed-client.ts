import type { AedesPublishPacket } from 'aedes'
import type { TakenHold } from '../../core/holds.ts'
import { matchesTopic } from '../../core/topics/topic-filter.ts'
import { mayRead, type TopicGrant } from '../../core/topics/topic-grant.ts'
import type { QoS } from '../packets/packet.ts'
import type { TopicSubscription } from './documents.ts'
import type { OutgoingQueue } from './outgoing-queue.ts'

export interface RelayedClientParts {
  /** Inside the broker. */
  readonly clientId: string
  readonly grants: readonly TopicGrant[]
  /** Of the session that it finds again. */
  readonly subscriptions: readonly TopicSubscription[]
  /** Undefined: its session ends with the connection. */
  readonly queue: OutgoingQueue | undefined
  /** Whether a retained message is the newest of its topic. */
  readonly isNewest: (topic: string, payload: unknown) => boolean
  /** Closes the connection: its client is to come again. */
  readonly close: (error: Error) => void
  /** Resolves when everything is dealt with that the client has sent; the connection ends. */
  readonly finish: () => Promise<void>
}

/** A connection whose client may use topics beside those of things. */
export class RelayedClient {
  readonly clientId: string
  readonly queue: OutgoingQueue | undefined
  readonly close: RelayedClientParts['close']
  readonly #finish: RelayedClientParts['finish']
  grants: readonly TopicGrant[]
  /** By filter, with which QoS. */
  readonly #subscriptions: Map<string, QoS>
  readonly #isNewest: RelayedClientParts['isNewest']

  constructor(parts: RelayedClientParts) {
    const { clientId, grants, subscriptions, queue, isNewest, close, finish } = parts
    this.clientId = clientId
    this.grants = grants
    this.queue = queue
    this.close = close
    this.#finish = finish
    this.#subscriptions = new Map(subscriptions.map(({ filter, qos }) => [filter, qos]))
    this.#isNewest = isNewest
  }

  /**
   * The connection is gone, or is to end. Resolves when it is kept what the client has acknowledged. Can be called more than once.
   *
   * @param hold of the connection that has the client now. @throws HoldLost @throws ThingwireError of the store
   */
  async end(hold?: TakenHold): Promise<void> {
    if (hold) this.queue?.handOver(hold)
    await this.#finish()
    await this.queue?.end()
  }

  get isPersistent(): boolean {
    return this.queue !== undefined
  }

  get subscriptions(): readonly TopicSubscription[] {
    return [...this.#subscriptions].map(([filter, qos]) => ({ filter, qos }))
  }

  isSubscribed(filter: string): boolean {
    return this.#subscriptions.has(filter)
  }

  subscribe({ filter, qos }: TopicSubscription): void {
    this.#subscriptions.set(filter, qos)
  }

  unsubscribe(filter: string): void {
    this.#subscriptions.delete(filter)
  }

  /**
   * What the client is sent of a message: at the greatest QoS that one of its filters has (MQTT-3.3.5-1).
   *
   * @returns null: nothing, now or at all
   */
  forward(packet: AedesPublishPacket): AedesPublishPacket | null {
    if (!mayRead(this.grants, packet.topic)) return null
    // Out of the queue: that knows its QoS.
    if (packet.messageId !== undefined) return packet
    const granted = this.#qosOf(packet.topic)
    if (granted === undefined) return null
    if (granted < packet.qos) packet.qos = granted
    // A newer one comes, or has come, as a message.
    if (packet.retain) return this.#isNewest(packet.topic, packet.payload) ? packet : null
    if (!this.queue || packet.qos === 0) return packet
    return this.queue.admits(packet) ? packet : null
  }

  #qosOf(topic: string): QoS | undefined {
    let greatest: QoS | undefined
    for (const [filter, qos] of this.#subscriptions) {
      if ((greatest === undefined || qos > greatest) && matchesTopic(filter, topic)) greatest = qos
    }
    return greatest
  }
}
