import type { AedesPublishPacket } from 'aedes'
import type { TakenLock } from '../../core/locks.ts'
import { mayRead, type TopicGrant } from '../../core/topics/topic-grant.ts'
import { qosOf } from '../packets/header.ts'
import { publishFlags, type QoS } from '../packets/packet.ts'
import type { TopicSubscription } from './documents.ts'
import { FilterTree } from './filter-tree.ts'
import type { OutgoingQueue } from './outgoing-queue.ts'
import type { RelayedConnection } from './relayed-connection.ts'
import type { RetainedMessages } from './retained-messages.ts'
import { RetainedStream } from './retained-stream.ts'

export interface RelayedClientParts {
  readonly connection: RelayedConnection
  /** Inside the broker. */
  readonly clientId: string
  readonly grants: readonly TopicGrant[]
  /** Undefined: its session ends with the connection. */
  readonly queue: OutgoingQueue | undefined
  readonly retained: RetainedMessages
}

/** A connection whose client may use topics beside those of things. */
export class RelayedClient {
  readonly clientId: string
  readonly queue: OutgoingQueue | undefined
  grants: readonly TopicGrant[]
  readonly #connection: RelayedConnection
  readonly #retained: RetainedMessages
  readonly #subscriptions = new Map<string, TopicSubscription>()
  readonly #tree = new FilterTree<QoS>()
  readonly #streams = new Set<RetainedStream>()
  /** Resolves when retained messages may be sent: one stream after the other, behind what the store has for the client. */
  #ready: Promise<void>

  constructor({ connection, clientId, grants, queue, retained }: RelayedClientParts) {
    this.clientId = clientId
    this.grants = grants
    this.queue = queue
    this.#connection = connection
    this.#retained = retained
    this.#ready = queue?.replayed ?? Promise.resolve()
  }

  /**
   * The connection is gone, or is to end. Resolves when it is kept what the client has acknowledged. Can be called more than once.
   *
   * @param lock of the connection that has the client now. @throws LockLost @throws ThingwireError of the store
   */
  async end(lock?: TakenLock): Promise<void> {
    if (lock) this.queue?.handOver(lock)
    if (this.#connection.isConnected) await this.#connection.broker.finish()
    await this.queue?.end()
  }

  /** Messages of another node were lost: a session that may come back finds them in the store when it does. */
  miss(): void {
    if (this.isPersistent) this.#connection.close(new Error('messages of another node were lost'))
  }

  get isPersistent(): boolean {
    return this.queue !== undefined
  }

  /** By filter. */
  get subscriptions(): ReadonlyMap<string, TopicSubscription> {
    return this.#subscriptions
  }

  subscribe(subscription: TopicSubscription): void {
    const { filter, qos } = subscription
    this.#subscriptions.set(filter, subscription)
    this.#tree.add(filter, qos, filter)
  }

  unsubscribe(filter: string): void {
    this.#subscriptions.delete(filter)
    this.#tree.remove(filter, filter)
  }

  /**
   * To be called before a SUBSCRIBE counts.
   *
   * @returns sends the retained messages that its filters match, to be called when it is answered
   */
  beginRetained(): (filters: readonly string[]) => Promise<void> {
    const stream = new RetainedStream(this.#retained, this.#connection)
    this.#streams.add(stream)
    return filters => {
      const sending = this.#ready.then(() => stream.send(filters))
      this.#ready = sending.finally(() => this.#streams.delete(stream)).catch(() => {})
      return sending
    }
  }

  /**
   * Whether packets of the broker to the client are retained or kept messages, which wait for room.
   *
   * @param header first byte of the first of them
   */
  isPaced(header: number): boolean {
    if ((header & publishFlags.retain) !== 0) return true
    return this.queue?.isReplaying === true && qosOf(header) > 0
  }

  /**
   * What the client is sent of a message: at the greatest QoS that one of its filters has (MQTT-3.3.5-1).
   *
   * @returns null: nothing, now or at all
   */
  forward(packet: AedesPublishPacket): AedesPublishPacket | null {
    if (!mayRead(this.grants, packet.topic)) return null
    // Out of the queue: that knows its QoS.
    if (packet.messageId !== undefined) return this.#note(packet)
    const granted = Math.max(...this.#tree.match(packet.topic))
    if (granted < 0) return null
    if (granted < packet.qos) packet.qos = granted as QoS
    if (packet.retain) return [...this.#streams].some(stream => stream.isDue(packet.topic)) ? packet : null
    if (!this.queue || packet.qos === 0) return this.#note(packet)
    return this.queue.admits(packet) ? this.#note(packet) : null
  }

  #note(packet: AedesPublishPacket): AedesPublishPacket {
    for (const stream of this.#streams) stream.note(packet)
    return packet
  }
}
