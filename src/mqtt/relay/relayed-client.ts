import type { AedesPublishPacket } from 'aedes'
import { readSlices } from '../../core/async/slices.ts'
import type { TakenLock } from '../../core/locks.ts'
import type { ReceiptClock } from '../../core/time/clock.ts'
import { mayRead, type TopicGrant } from '../../core/topics/topic-grant.ts'
import { qosOf } from '../packets/header.ts'
import { ConnectionClosed } from '../packets/outcomes.ts'
import { publishFlags } from '../packets/packet.ts'
import {
  bytesOf,
  type Copy,
  copyId,
  extrasOf,
  type MessageId,
  originOf,
  type PacketExtras,
  placeOf,
  type TopicSubscription,
} from './documents.ts'
import { FilterTree } from './filter-tree.ts'
import type { OutgoingQueue } from './outgoing-queue.ts'
import type { RelayedConnection } from './relayed-connection.ts'
import { isSame, type RetainedMessage, type RetainedMessages } from './retained-messages.ts'
import { copiesOf } from './topic-subscriptions.ts'

interface RelayedClientParts {
  readonly connection: RelayedConnection
  /** The client id inside the broker. */
  readonly clientId: string
  readonly grants: readonly TopicGrant[]
  /** undefined if the session is not persistent. */
  readonly queue: OutgoingQueue | undefined
  readonly retained: RetainedMessages
  readonly clock: Pick<ReceiptClock, 'now'>
}

/** A connection whose client may use topics that are not Thingwire's. */
export class RelayedClient {
  readonly clientId: string
  readonly queue: OutgoingQueue | undefined
  grants: readonly TopicGrant[]
  readonly #connection: RelayedConnection
  readonly #retained: RetainedMessages
  readonly #clock: Pick<ReceiptClock, 'now'>
  readonly #subscriptions = new Map<string, TopicSubscription>()
  readonly #tree = new FilterTree<TopicSubscription>()
  /** Number of subscriptions with an identifier. */
  #identified = 0
  readonly #streams = new Set<RetainedStream>()
  /** Resolves when the next stream of retained messages may be sent. The first stream may be sent after the replay. */
  #ready: Promise<void>

  constructor({ connection, clientId, grants, queue, retained, clock }: RelayedClientParts) {
    this.#clock = clock
    this.clientId = clientId
    this.grants = grants
    this.queue = queue
    this.#connection = connection
    this.#retained = retained
    this.#ready = queue?.replayed ?? Promise.resolve()
  }

  /**
   * Call this when the connection is closed or must end. May be called more than once. Resolves when the client's acks are stored.
   *
   * @param lock lock of the client's new connection @throws LockLost @throws ThingwireError if the store fails
   */
  async end(lock?: TakenLock): Promise<void> {
    if (lock) this.queue?.handOver(lock)
    if (this.#connection.isConnected) await this.#connection.broker.finish()
    await this.queue?.end()
  }

  /** Call this when messages from another node were lost. A persistent client must reconnect: it then gets the stored messages. */
  miss(): void {
    if (this.isPersistent) this.#connection.close(new ConnectionClosed('missed_elsewhere'))
  }

  get isPersistent(): boolean {
    return this.queue !== undefined
  }

  /** Subscriptions by filter. */
  get subscriptions(): ReadonlyMap<string, TopicSubscription> {
    return this.#subscriptions
  }

  subscribe(subscription: TopicSubscription): void {
    const { filter } = subscription
    this.unsubscribe(filter)
    this.#subscriptions.set(filter, subscription)
    this.#tree.add(filter, subscription, filter)
    if (subscription.identifier !== undefined) this.#identified++
  }

  unsubscribe(filter: string): void {
    if (this.#subscriptions.get(filter)?.identifier !== undefined) this.#identified--
    this.#subscriptions.delete(filter)
    this.#tree.remove(filter, filter)
  }

  /**
   * Call this before a SUBSCRIBE takes effect.
   *
   * @param identifier of the SUBSCRIBE; 0: none
   * @returns a function that sends the retained messages; call it after SUBACK
   */
  beginRetained(identifier = 0): (filters: readonly string[]) => Promise<void> {
    const stream = new RetainedStream(this.#retained, this.#connection, identifier)
    this.#streams.add(stream)
    return filters => {
      const sending = this.#ready.then(() => stream.send(filters))
      this.#ready = sending.finally(() => this.#streams.delete(stream)).catch(() => {})
      return sending
    }
  }

  /** Whether packets are retained or replayed messages, which wait for room. @param header first byte of one of the packets */
  isPaced(header: number): boolean {
    if ((header & publishFlags.retain) !== 0) return true
    return this.queue?.isReplaying === true && qosOf(header) > 0
  }

  /** The message as this client gets it, at its QoS (MQTT-3.3.5-1). @returns null if the message must not be sent now */
  forward(packet: AedesPublishPacket): AedesPublishPacket | null {
    const { topic } = packet
    if (!mayRead(this.grants, topic)) return null
    const extras = extrasOf(packet)
    const { from, isRetained = false, stream, copy } = extras
    if (packet.messageId !== undefined) return this.#replayed(packet, extras)
    if (copy) return this.#admitted(packet, copy)
    const matches = this.#tree.match(topic)
    if (stream instanceof RetainedStream) {
      const ofStream = copiesOf(matches, false, false).find(each => each.identifier === stream.identifier)
      return ofStream && stream.isDue(topic) ? this.#as(packet, ofStream) : null
    }
    const copies = copiesOf(matches, from === this.clientId, isRetained)
    if (this.#identified === 0) return copies[0] ? this.#admitted(packet, copies[0]) : null
    for (const each of copies) this.#publish(packet, extras, each)
    return null
  }

  /** The QoS of a replayed message is already determined. A message that was sent before may be over. */
  #replayed(
    packet: AedesPublishPacket,
    { expiresAt, isSent, copy }: PacketExtras,
  ): AedesPublishPacket | null {
    if (!copy || (!isSent && expiresAt !== undefined && expiresAt <= this.#clock.now())) return null
    this.#note(packet, copy)
    return this.#as(packet, copy)
  }

  #admitted(packet: AedesPublishPacket, copy: Copy): AedesPublishPacket | null {
    if (copy.qos < packet.qos) packet.qos = copy.qos
    if (this.queue && packet.qos > 0 && !this.queue.admits(packet)) return null
    // The queue stores it with the packet id.
    if (copy.isRetained) Object.assign(packet, { properties: { ...extrasOf(packet), copy } })
    this.#note(packet, copy)
    return this.#as(packet, copy)
  }

  /** Passes a copy to Aedes, which takes it for a message of its own. */
  #publish(packet: AedesPublishPacket, extras: PacketExtras, copy: Copy): void {
    const { cmd, topic, payload, dup, brokerCounter } = packet
    const qos = copy.qos < packet.qos ? copy.qos : packet.qos
    const brokerId = copyId(packet.brokerId, copy.identifier)
    const properties: PacketExtras = { ...extras, copy }
    const message = { cmd, topic, payload, qos, retain: false, dup, brokerId, brokerCounter }
    this.#connection.client.publish({ ...message, properties: properties as object }, () => {})
  }

  #note(packet: AedesPublishPacket, { identifier }: Copy): void {
    for (const stream of this.#streams) if (stream.identifier === identifier) stream.note(packet)
  }

  #as(packet: AedesPublishPacket, { identifier, qos, isRetained }: Copy): AedesPublishPacket {
    const { properties, expiresAt } = extrasOf(packet)
    const left = expiresAt === undefined ? undefined : Math.max(0, expiresAt - this.#clock.now())
    const expiry = left === undefined ? undefined : Math.ceil(left / 1_000)
    const message = { properties, expiry, identifier, isRetained }
    packet.payload = this.#connection.codec.relayedPayload(bytesOf(packet.payload), message)
    if (qos < packet.qos) packet.qos = qos
    return packet
  }
}

/** Number of pieces after which the search checks whether its time slice is over. */
const piecesAtOnce = 50
/** Limits for one turn of the event loop: number of messages, and bytes of their payloads. */
const sentAtOnce = { messages: 50, bytes: 64 * 1024 }

/** Sends the retained messages for one SUBSCRIBE, except those that the client received live after this object was created. */
class RetainedStream {
  /** Subscription identifier of the SUBSCRIBE; 0: none. */
  readonly identifier: number
  readonly #retained: RetainedMessages
  readonly #connection: Pick<RelayedConnection, 'client' | 'live'>
  /** By topic with a retained message: that message if the client received it live, else the first message received live. */
  readonly #came = new Map<string, MessageId>()
  /** Messages that Aedes has not sent yet. */
  readonly #sending = new Set<RetainedMessage>()
  #sends: Promise<void>[] = []
  #bytes = 0

  constructor(
    retained: RetainedMessages,
    connection: Pick<RelayedConnection, 'client' | 'live'>,
    identifier: number,
  ) {
    this.identifier = identifier
    this.#retained = retained
    this.#connection = connection
  }

  /** Notes that a live message is sent to the client. */
  note(packet: AedesPublishPacket): void {
    const { topic } = packet
    const { order, brokerId } = placeOf(packet)
    const came = { order, brokerId: originOf(brokerId) }
    const newest = this.#retained.newest(topic)
    if (newest && (isSame(newest, came) || !this.#came.has(topic))) this.#came.set(topic, came)
  }

  /** Whether a retained message on this topic is being sent, and is still the newest. */
  isDue(topic: string): boolean {
    const newest = this.#retained.newest(topic)
    return newest !== undefined && this.#sending.has(newest) && !isSame(this.#came.get(topic), newest)
  }

  /** Call this once, when the filters are in effect. */
  async send(filters: readonly string[]): Promise<void> {
    const late: string[] = []
    let pieces = 0
    for (const topics of this.#retained.matching(filters)) {
      if (++pieces % piecesAtOnce === 0) await readSlices.pause()
      for (const topic of topics) if (!(await this.#give(topic))) late.push(topic)
    }
    for (const topic of late) {
      while (!(await this.#give(topic))) await this.#retained.untilPassed()
    }
    await this.#sent()
  }

  /** @returns false if the message may still come live */
  async #give(topic: string): Promise<boolean> {
    const { live, client } = this.#connection
    await live.brokerPackets.room()
    const newest = this.#retained.newest(topic)
    if (!newest || client.closed) return true
    const came = this.#came.get(topic)
    // If an earlier message on the topic came live, the newest message will also come live.
    if (newest.isComing) return came !== undefined
    if (isSame(came, newest)) return true
    this.#sending.add(newest)
    this.#sends.push(this.#send(newest))
    this.#bytes += newest.payload.length
    if (this.#sending.size >= sentAtOnce.messages || this.#bytes > sentAtOnce.bytes) await this.#sent()
    return true
  }

  /** Resolves when Aedes has sent or skipped the message. */
  #send({ topic, payload, qos, properties, expiresAt }: RetainedMessage): Promise<void> {
    const extras: PacketExtras = { properties, expiresAt, stream: this }
    const message = { cmd: 'publish' as const, topic, payload, qos, retain: true, dup: false }
    const packet = { ...message, properties: extras as object }
    return new Promise(resolve => this.#connection.client.publish(packet, () => resolve()))
  }

  async #sent(): Promise<void> {
    await Promise.all(this.#sends)
    this.#sends = []
    this.#sending.clear()
    this.#bytes = 0
  }
}
