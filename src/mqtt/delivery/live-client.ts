import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ReceiptClock } from '../../core/time/clock.ts'
import { type Live, type LiveWrite, Outbox, type Slot, type Subscriber } from '../../live/index.ts'
import { encodePublish } from '../packets/encode.ts'
import { type Subscription, wantedQoS } from '../sessions/interest.ts'
import { findMissed } from '../sessions/missed.ts'
import type { MqttSession } from '../sessions/session.ts'
import { errorsTopic, selectionOf } from '../topics.ts'
import { type AckedParts, messageAt, type Outgoing } from './outgoing.ts'
import { RetainedDelivery } from './retained-delivery.ts'

/** Bytes of packets that leave in one write to the socket. */
const joinedBytes = 16 * 1024
/** What a message costs beside its payload while it waits. */
const messageOverhead = 64

interface LiveClientParts {
  readonly socket: Duplex
  /** With which a WebSocket began. */
  readonly request: IncomingMessage | undefined
  readonly live: Live
  readonly clock: ReceiptClock
  /** Bytes, as announced. */
  readonly maxPacketSize: number
  /** Milliseconds. */
  readonly drainTimeout: number
  readonly receiver: Receiver
}

/** Whoever is sent the messages. */
export interface Receiver {
  /** The next packet id, 1..65,535. */
  nextMessageId(): number
  /** How it spells a thing: token or id. */
  aliasOf(thingId: string): string
  /** In whose name it reads: as `principalName`, or of this connection alone. */
  readonly reader: string
  /** Whether it may see a thing. @throws ThingwireError if that cannot be determined now */
  maySee(thingId: string): Promise<boolean>
}

interface Resumption {
  readonly gap: Slot<Outgoing>
  /** Write number. */
  readonly upTo: number
  /** What was owed when the session was left. */
  readonly retained?: RetainedDelivery | undefined
  /** The subscriptions that these are for. */
  readonly shown?: readonly Subscription[]
}

/** What one connection is sent: retained, missed and live messages, each in its place. */
export class LiveClient implements Subscriber {
  readonly #parts: LiveClientParts
  readonly #outbox: Outbox<Outgoing>
  readonly brokerPackets: BrokerPackets
  #session: MqttSession | undefined
  /** Things of which it gets the live messages; `undefined`: every thing. */
  #subscribed: ReadonlySet<string | undefined> = new Set()
  /** What is to be sent once CONNACK is. */
  #missed: Resumption | undefined
  /** What is to be sent once SUBACK is. */
  #retained: RetainedDelivery | undefined
  /** What else is to be sent then. */
  readonly #answers: Outgoing[] = []
  /** By the packet ids of their messages that are not acknowledged. */
  readonly #retainedById = new Map<number, AckedParts>()
  #needsMessageId = false
  /** Not everything up to the newest write was delivered. */
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
      onStuck: why => this.#end(new Error(`the subscriber is stuck: ${why}`)),
    })
    this.brokerPackets = new BrokerPackets(this.#outbox)
  }

  /** Bytes of answers that the client has not read. */
  get unreadAnswers(): number {
    return this.#outbox.foreignBytes
  }

  /** Ends the connection if it goes on taking nothing. */
  watch(): void {
    this.#outbox.watch()
  }

  /**
   * From here on it gets what the session is subscribed to: live, behind what was missed.
   *
   * @throws ThingwireError of the store
   */
  async resume(session: MqttSession): Promise<void> {
    const owed = owedRetained(session)
    if (owed.length === 0) {
      if (!session.isFromElsewhere) return this.#begin(session)
      // Behind what the other node may have sent: commits reach that node before this one.
      return await this.#parts.live.catchUp(() => this.#isClosed || this.#begin(session))
    }
    const retained = await this.#prepareRetained(session, owed, () => this.#begin(session))
    if (this.#missed) Object.assign(this.#missed, { retained, shown: owed })
  }

  #begin(session: MqttSession): void {
    // One that is being taken over would go on acknowledging.
    session.receiver?.close()
    session.receiver = this
    this.#session = session
    session.maybeSent = Math.min(session.maybeSent, this.#parts.live.writeNumber)
    session.isFromElsewhere = false
    this.#missed = { gap: this.#outbox.openSlot(), upTo: this.#parts.live.writeNumber }
    this.#register()
  }

  /** CONNACK is sent. @returns how many missed messages were too many. @throws ThingwireError of the store */
  async sendMissed(): Promise<number> {
    const session = this.#session
    if (!this.#missed || !session) return 0
    const { gap, upTo, retained, shown = [] } = this.#missed
    this.#missed = undefined
    const sending = retained?.send()
    // Awaited below, unless the log fails before.
    sending?.catch(() => {})
    const { messages, dropped } = await findMissed(this.#parts.live.log, session, upTo)
    if (this.#isClosed) return 0
    session.unacked.keepOnly(new Set(messages.flatMap(({ messageId }) => messageId ?? [])))
    for (const { write, ...missed } of messages) {
      gap.push({ ...messageAt(write, missed.position.place, 1), ...missed })
    }
    gap.close()
    await sending
    if (dropped > 0) await this.#showPresent(session, shown)
    return dropped
  }

  /** What a session has lost for good, it would not know of until it changes again. */
  async #showPresent(session: MqttSession, shown: readonly Subscription[]): Promise<void> {
    const filters = new Set(shown.map(({ filter }) => filter))
    const owed = session.interests.oweRetained(this.#parts.live.writeNumber, filters)
    if (owed.length === 0) return
    const retained = await this.#prepareRetained(session, owed, () => {})
    await retained?.send()
  }

  /**
   * Adds subscriptions. Live messages from here on wait for the retained ones, which `sendRetained` sends.
   *
   * @throws ThingwireError of the store
   */
  async subscribe(subscriptions: readonly Omit<Subscription, 'from'>[]): Promise<void> {
    const { live } = this.#parts
    const session = this.#session
    if (!session) return
    const added: Subscription[] = []
    this.#retained = await this.#prepareRetained(session, added, () => {
      for (const subscription of subscriptions) {
        const { qos, filter } = subscription
        const isOwed = qos > 0 && selectionOf(filter).values !== undefined
        const from = live.writeNumber
        added.push({ ...subscription, from, ...(isOwed && { owedRetained: from }) })
      }
      for (const subscription of added) session.interests.add(subscription)
      this.#register()
    })
  }

  /** Calls `begin` at the place among the live messages where the retained ones are to be sent. */
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
      const { receiver, clock, maxPacketSize } = this.#parts
      const maySee = (thingId: string) => receiver.maySee(thingId)
      return new RetainedDelivery({
        reader: receiver.reader,
        snapshot,
        gap,
        subscriptions,
        interests,
        maySee,
        clock,
        maxPacketSize,
      })
    }
    await snapshot.close()
    return undefined
  }

  /** Sends a message to this client alone once SUBACK is sent. */
  answer({ topic, payload, qos }: { topic: string; payload: Buffer; qos: 0 | 1 }): void {
    this.#answers.push({ thingId: '', topic: () => topic, payload, qos })
  }

  /** SUBACK is sent. @throws ThingwireError of the store */
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

  /** @returns whether the packet id is that of a message that was sent from here */
  ack(messageId: number): boolean {
    if (this.#isClosed || !this.#session?.unacked.ack(messageId)) return false
    this.#retainedById.get(messageId)?.acked(messageId)
    this.#retainedById.delete(messageId)
    if (this.#needsMessageId) {
      this.#needsMessageId = false
      this.#outbox.pump()
    }
    return true
  }

  deliver(write: LiveWrite): void {
    const { thingId, stored, writeNumber } = write.commit
    if (!this.#session) return
    const interest = this.#session.interests.in(thingId)
    for (let place = 0; place <= write.wholePlace; place++) {
      const qos = wantedQoS(write, place, interest)
      if (qos === undefined) continue
      const message = messageAt(write, place, qos)
      // The number of a write that is not kept may be given to another one after a crash.
      this.#outbox.push(stored && qos === 1 ? { ...message, position: { writeNumber, place } } : message)
    }
  }

  deliverRefused(thingId: string, payload: Buffer): void {
    // Without a position, so it is not kept for a client that is away: the last 100 can be read over HTTP.
    const qos = this.#session?.interests.in(thingId).errors
    if (qos !== undefined) this.#outbox.push({ thingId, topic: errorsTopic, payload, qos })
  }

  missed(): void {
    this.#hasMissed = true
    this.#end(new Error('messages were missed'))
  }

  /** The client is to come back, and gets the present for what it has not got. */
  #end(error: Error): void {
    this.#session?.interests.oweRetained(this.#parts.live.writeNumber)
    this.#parts.socket.destroy(error)
  }

  /** Nothing is sent any more. Can be called more than once. */
  close(): void {
    if (this.#isClosed) return
    // What is all acknowledged, the session need not look through again.
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
    if (message.isEncoded) {
      this.brokerPackets.left(message.payload.length)
      return message.payload
    }
    const { thingId, topic, payload, qos, position, messageId, isDuplicate = false, retained } = message
    const { receiver } = this.#parts
    const id = qos === 0 ? undefined : (messageId ?? this.#session?.unacked.take(position, receiver))
    if (qos === 1 && id === undefined) {
      this.#needsMessageId = true
      return undefined
    }
    if (retained && id !== undefined) {
      this.#retainedById.set(id, retained)
      retained.sent(id)
    }
    return encodePublish({
      topic: topic(receiver.aliasOf(thingId)),
      payload,
      isRetained: retained !== undefined,
      messageId: id,
      isDuplicate,
    })
  }
}

function owedRetained({ interests }: MqttSession): readonly Subscription[] {
  return [...interests].filter(({ owedRetained }) => owedRetained !== undefined)
}

/** Bytes that wait up to which the broker is asked for more. */
const mostWaiting = 256 * 1024

/** Packets of the broker, on topics beside those of things, on their way through the outbox of a client. */
class BrokerPackets {
  readonly #outbox: Outbox<Outgoing>
  /** Bytes, of what is held too. */
  #waiting = 0
  /** What may not overtake the answer to a SUBSCRIBE or UNSUBSCRIBE. */
  #held: Outgoing[] | undefined
  #onRoom: (() => void)[] = []

  constructor(outbox: Outbox<Outgoing>) {
    this.#outbox = outbox
  }

  /** @param isPaced whoever sends them waits for room: they do not count as what a subscriber leaves waiting */
  push(packets: Buffer, isPaced: boolean): void {
    this.#waiting += packets.length
    const item = { thingId: '', topic: () => '', payload: packets, qos: 0, isEncoded: true, isPaced } as const
    if (this.#held) this.#held.push(item)
    else this.#outbox.pushBeside(item)
  }

  /** What is pushed from here on waits until `release`. */
  hold(): void {
    this.#held ??= []
  }

  release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const item of held) this.#outbox.pushBeside(item)
  }

  /** Resolves when the broker may have more for the client; undefined: it may. */
  room(): Promise<void> | undefined {
    return this.#waiting < mostWaiting ? undefined : new Promise(resolve => void this.#onRoom.push(resolve))
  }

  /** So many bytes leave the outbox. */
  left(bytes: number): void {
    this.#waiting -= bytes
    if (this.#waiting >= mostWaiting) return
    for (const resolve of this.#onRoom.splice(0)) resolve()
  }

  /** The outbox is closed: there is room for whatever it drops. */
  close(): void {
    this.left(Number.POSITIVE_INFINITY)
  }
}
