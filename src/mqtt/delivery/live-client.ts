import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type LiveWrite, Outbox, type Slot, type Subscriber } from '../../live/index.ts'
import type { DoorOptions } from '../attach-options.ts'
import type { MqttThings } from '../mqtt-things.ts'
import { ConnectionClosed } from '../packets/outcomes.ts'
import { type Subscription, wantedCopies } from '../sessions/interest.ts'
import { findMissed } from '../sessions/missed.ts'
import type { MqttSession } from '../sessions/session.ts'
import { placeOfCopy } from '../sessions/unacked.ts'
import { errorsTopic, selectionOf } from '../topics.ts'
import { BrokerPackets } from './broker-packets.ts'
import { type AckedParts, messageAt, type Outgoing, type Receiver } from './outgoing.ts'
import { RetainedDelivery } from './retained-delivery.ts'

/** Packets are joined into one write to the socket until the write has at least this many bytes. */
const joinedBytes = 16 * 1024
const nothing = Buffer.alloc(0)
/** Memory that a queued message needs in addition to its payload, bytes. */
const messageOverhead = 64

interface LiveClientParts
  extends Pick<MqttThings, 'live' | 'clock'>,
    Pick<DoorOptions, 'maxPacketSize' | 'drainTimeout'> {
  /** Called with the number of messages that are not sent. */
  readonly onDropped: (messages: number) => void
  readonly socket: Duplex
  /** The upgrade request, if the client uses a WebSocket. */
  readonly request: IncomingMessage | undefined
  readonly receiver: Receiver
}

interface Resumption {
  readonly gap: Slot<Outgoing>
  /** Number of the newest write with missed messages. Later writes are delivered live. */
  readonly upTo: number
  /** Retained messages that the session is still owed. */
  readonly retained?: RetainedDelivery | undefined
  /** The subscriptions to which `retained` belongs. */
  readonly shown?: readonly Subscription[]
}

/** Sends retained, missed and live messages to one connection, in order. */
export class LiveClient implements Subscriber {
  readonly #parts: LiveClientParts
  readonly #outbox: Outbox<Outgoing>
  readonly brokerPackets: BrokerPackets
  #session: MqttSession | undefined
  /** Ids of subscribed things; `undefined` stands for every thing. */
  #subscribed: ReadonlySet<string | undefined> = new Set()
  /** Missed messages, sent after CONNACK. */
  #missed: Resumption | undefined
  /** Retained messages, sent after SUBACK. */
  #retained: RetainedDelivery | undefined
  /** Messages of `answer`, sent after SUBACK, before `#retained`. */
  readonly #answers: Outgoing[] = []
  /** Deliveries of retained messages, by the packet ids of unacknowledged messages. */
  readonly #retainedById = new Map<number, AckedParts>()
  /** Number of messages that this connection has sent and the client has not acknowledged. */
  #unacked = 0
  /** Whether the next message waits for an acknowledgement. */
  #waitsForAck = false
  /** Whether some messages up to the newest write were not delivered. */
  #hasMissed = false
  #isClosed = false

  constructor(parts: LiveClientParts) {
    const { socket, request, live, drainTimeout } = parts
    this.#parts = parts
    this.#outbox = new Outbox<Outgoing>({
      sink: socket,
      socket: request?.socket ?? (socket instanceof Socket ? socket : undefined),
      encode: message => this.#encode(message),
      weigh: ({ payload, isPaced }) => (isPaced ? 0 : payload.length + messageOverhead),
      joined: joinedBytes,
      drainTimeout,
      onSent: ({ committedAt }) => live.sent(committedAt),
      onStuck: why => this.#end(new ConnectionClosed('stuck', why)),
    })
    this.brokerPackets = new BrokerPackets(this.#outbox)
  }

  /** Total length of the answers that the client has not read, bytes. */
  get unreadAnswers(): number {
    return this.#outbox.foreignBytes
  }

  /** Ends the connection if its socket accepts no bytes for `drainTimeout`. */
  watch(): void {
    this.#outbox.watch()
  }

  /** Reserves a slot for missed messages, and queues live messages after that slot. @throws ThingwireError if the store fails */
  async resume(session: MqttSession): Promise<void> {
    const owed = owedRetained(session)
    if (owed.length === 0) {
      if (!session.isFromElsewhere) return this.#begin(session)
      // The session's previous node may have sent messages of commits that have not reached this node yet: wait for those commits.
      return await this.#parts.live.catchUp(() => this.#isClosed || this.#begin(session))
    }
    const retained = await this.#prepareRetained(session, owed, () => this.#begin(session))
    if (this.#missed) Object.assign(this.#missed, { retained, shown: owed })
  }

  #begin(session: MqttSession): void {
    // The previous connection must not acknowledge messages any more.
    session.receiver?.close()
    session.receiver = this
    this.#session = session
    session.maybeSent = Math.min(session.maybeSent, this.#parts.live.writeNumber)
    session.isFromElsewhere = false
    this.#missed = { gap: this.#outbox.openSlot(), upTo: this.#parts.live.writeNumber }
    this.#register()
  }

  /** Call this after CONNACK. @returns the number of dropped messages @throws ThingwireError if the store fails */
  async sendMissed(): Promise<number> {
    const session = this.#session
    if (!this.#missed || !session) return 0
    const { gap, upTo, retained, shown = [] } = this.#missed
    this.#missed = undefined
    const sending = retained?.send()
    // The promise is awaited below, unless reading the log fails first.
    sending?.catch(() => {})
    const { messages, dropped } = await findMissed(this.#parts.live.log, session, upTo)
    if (this.#isClosed) return 0
    session.unacked.keepOnly(new Set(messages.flatMap(({ messageId }) => messageId ?? [])))
    for (const { write, place, identifier, ...missed } of messages) {
      gap.push({ ...messageAt(write, place, { qos: 1, identifier }), ...missed })
    }
    gap.close()
    await sending
    if (dropped > 0) await this.#showPresent(session, shown)
    return dropped
  }

  /** Sends the retained messages of resources whose live messages were dropped. */
  async #showPresent(session: MqttSession, shown: readonly Subscription[]): Promise<void> {
    const filters = new Set(shown.map(({ filter }) => filter))
    const owed = session.interests.oweRetained(this.#parts.live.writeNumber, filters)
    if (owed.length === 0) return
    const retained = await this.#prepareRetained(session, owed, () => {})
    await retained?.send()
  }

  /**
   * Adds subscriptions. Their live messages are sent after the messages of `sendRetained`.
   *
   * @param shown filters whose retained messages are sent
   * @throws ThingwireError if the store fails
   */
  async subscribe(
    subscriptions: readonly Omit<Subscription, 'from'>[],
    shown: ReadonlySet<string>,
  ): Promise<void> {
    const { live } = this.#parts
    const session = this.#session
    if (!session) return
    const added: Subscription[] = []
    this.#retained = await this.#prepareRetained(session, added, () => {
      const from = live.writeNumber
      for (const subscription of subscriptions) {
        const { qos, filter } = subscription
        const isOwed = qos > 0 && shown.has(filter) && selectionOf(filter).values !== undefined
        const each = { ...subscription, from, ...(isOwed && { owedRetained: from }) }
        session.interests.add(each)
        if (shown.has(filter)) added.push(each)
      }
      this.#register()
    })
  }

  /** Takes a snapshot for retained messages. Calls `begin` between the live messages that the snapshot covers and later ones. */
  async #prepareRetained(
    { interests }: MqttSession,
    subscriptions: readonly Subscription[],
    begin: () => void,
  ): Promise<RetainedDelivery | undefined> {
    let gap: Slot<Outgoing> | undefined
    const snapshot = await this.#parts.live.snapshot(() => {
      if (this.#isClosed) return
      begin()
      gap = this.#outbox.openSlot()
    })
    if (gap && !this.#isClosed) {
      return new RetainedDelivery({ ...this.#parts, snapshot, gap, subscriptions, interests })
    }
    await snapshot.close()
    return undefined
  }

  /**
   * Sends the answer to a write to this client only, if it subscribes to the topic.
   *
   * @param topic `things/<ref>/answers/…` @param text JSON, as HTTP answers
   */
  answerWrite(thingId: string, topic: string, text: string, correlationData: Buffer | undefined): void {
    const payload = Buffer.from(text)
    for (const copy of this.#session?.interests.inAnswer(thingId, topic) ?? [])
      this.#outbox.push({ thingId, topic: () => topic, payload, correlationData, ...copy })
  }

  /** Sends a message to this client only, after SUBACK. */
  answer({ topic, payload, qos }: { topic: string; payload: Buffer; qos: 0 | 1 }): void {
    this.#answers.push({ thingId: '', topic: () => topic, payload, qos })
  }

  /** Call this after SUBACK. @throws ThingwireError if the store fails */
  async sendRetained(): Promise<void> {
    for (const answer of this.#answers.splice(0)) this.#outbox.push(answer)
    const retained = this.#retained
    this.#retained = undefined
    await retained?.send()
  }

  unsubscribe(filters: readonly string[]): void {
    for (const filter of filters) this.#session?.interests.delete(filter)
    this.#register()
  }

  /** @returns whether the packet id belongs to a message that this class has sent */
  ack(messageId: number): boolean {
    if (this.#isClosed || !this.#session?.unacked.ack(messageId)) return false
    this.#retainedById.get(messageId)?.acked(messageId)
    this.#retainedById.delete(messageId)
    this.acked()
    return true
  }

  /** Call this when the client has acknowledged a message of the broker. */
  acked(): void {
    // A client may acknowledge messages that an earlier connection has sent.
    this.#unacked = Math.max(0, this.#unacked - 1)
    if (!this.#waitsForAck) return
    this.#waitsForAck = false
    this.#outbox.pump()
  }

  deliver(write: LiveWrite): void {
    const { thingId, stored, writeNumber } = write.commit
    if (!this.#session) return
    const interest = this.#session.interests.in(thingId)
    for (let place = 0; place <= write.wholePlace; place++) {
      for (const copy of wantedCopies(write, place, interest)) {
        const message = messageAt(write, place, copy)
        // A write that is not stored gets no position: after a crash, another write may get the same write number.
        const hasPosition = stored && copy.qos === 1
        const position = hasPosition && { writeNumber, place: placeOfCopy(place, copy.identifier) }
        this.#outbox.push(position ? { ...message, position } : message)
      }
    }
  }

  deliverRefused(thingId: string, payload: Buffer): void {
    // Without a position, the message is not sent again to a returning client. The last 100 refused writes can be read over HTTP.
    for (const copy of this.#session?.interests.in(thingId).errors ?? [])
      this.#outbox.push({ thingId, topic: errorsTopic, payload, ...copy })
  }

  missed(): void {
    this.#hasMissed = true
    this.#end(new ConnectionClosed('missed'))
  }

  /** Disconnects the client, which gets the retained messages when it returns. */
  #end(error: ConnectionClosed): void {
    this.#session?.interests.oweRetained(this.#parts.live.writeNumber)
    this.#parts.receiver.close(error)
  }

  /** Stops sending. May be called more than once. */
  close(): void {
    if (this.#isClosed) return
    // If every message is acknowledged, the next connection need not search the commits so far for missed messages.
    if (this.#outbox.isEmpty && !this.#hasMissed) {
      const position = { writeNumber: this.#parts.live.writeNumber, place: Number.MAX_SAFE_INTEGER }
      this.#session?.unacked.settle(position)
    }
    this.#isClosed = true
    this.#outbox.close()
    this.brokerPackets.close()
    for (const thingId of this.#subscribed) this.#parts.live.unsubscribe(thingId, this)
    for (const retained of [this.#missed?.retained, this.#retained]) retained?.drop().catch(() => {})
    this.#missed = undefined
    this.#retained = undefined
  }

  #register(): void {
    const { live } = this.#parts
    const { interests } = this.#session ?? {}
    const wanted = new Set<string | undefined>(interests?.things())
    if (interests?.ofEveryThing) wanted.add(undefined)
    for (const thingId of wanted) if (!this.#subscribed.has(thingId)) live.subscribe(thingId, this)
    for (const thingId of this.#subscribed) if (!wanted.has(thingId)) live.unsubscribe(thingId, this)
    this.#subscribed = wanted
  }

  #encode(message: Outgoing): Buffer | undefined {
    const { thingId, topic, payload, qos, position, messageId, isDuplicate = false, retained } = message
    const { identifier = 0, correlationData } = message
    const { receiver } = this.#parts
    const mayTake = qos === 0 || this.#unacked < receiver.codec.mostUnacked.sent
    const unacked = mayTake && qos === 1 && !message.isEncoded ? this.#session?.unacked : undefined
    const id = messageId ?? unacked?.take(position, receiver)
    if (!mayTake || (qos === 1 && id === undefined && !message.isEncoded)) {
      this.#waitsForAck = true
      return undefined
    }
    if (qos === 1) this.#unacked++
    if (message.isEncoded) {
      this.brokerPackets.left(payload.length)
      return payload
    }
    if (retained && id !== undefined) {
      this.#retainedById.set(id, retained)
      retained.sent(id)
    }
    const packet = receiver.codec.publish({
      topic: topic(receiver.aliasOf(thingId)),
      payload,
      isRetained: retained !== undefined,
      identifier,
      correlationData,
      messageId: id,
      isDuplicate,
    })
    return packet ?? this.#drop(id)
  }

  /** A message that the client does not take counts as acknowledged. @returns no bytes */
  #drop(messageId: number | undefined): Buffer {
    this.#parts.onDropped(1)
    if (messageId !== undefined) this.ack(messageId)
    return nothing
  }
}

function owedRetained({ interests }: MqttSession): readonly Subscription[] {
  return [...interests].filter(({ owedRetained }) => owedRetained !== undefined)
}
