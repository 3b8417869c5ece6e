import type { PublishPacket, PubrelPacket } from 'aedes'
import type { Access } from '../access/access.ts'
import { type Ingest, isRateExceeded } from '../core/ingest.ts'
import type { DocumentPut, DocumentStore } from '../core/ports.ts'
import { promiseOf, settle, type Ticket } from '../core/ticket.ts'
import { Turns } from '../core/turns.ts'
import { ThingwireError } from '../errors.ts'
import { isAcknowledged, pubcomp } from './acks.ts'
import type { Connection } from './connection.ts'
import { sizeOf } from './inbound.ts'
import type { Session } from './session.ts'
import { inFlightName } from './session-documents.ts'
import { isThingwireTopic, isTopicName, refOfThingTopic, refOfWriteTopic } from './topics.ts'

export interface PublishDoorParts {
  readonly access: Access
  readonly ingest: Ingest
  readonly documents: DocumentStore
  /** The client may act for this thing; resolves when the connection acts for it alone. @throws ThingwireError of the store */
  readonly onProven: (connection: Connection, thingId: string) => Promise<void> | undefined
  /** It may not publish there. */
  readonly onUnknown: (connection: Connection, error: ThingwireError) => void
}

/** What a write has that is to be stored once, however often its packet comes. */
interface Once {
  readonly documents?: DocumentPut | undefined
  /** What the write is to wait for. */
  readonly after?: Promise<void> | undefined
}

const notOnce: Once = {}

/** Where a packet was published. */
interface Address {
  readonly topic: string
  /** In the topic of a thing; undefined: it is none that may be published on. */
  readonly ref: string | undefined
  /** Whether it is where a thing's writes are published. */
  readonly isOfWrites: boolean
}

/** Stands for every packet whose write is committed: one promise for all of the 65,535 that there may be. */
const committed = Promise.resolve()

/** Characters of a topic in the message about it. */
const longestTold = 200

/** Rejects where it is awaited; until then Node is not to call it unhandled. */
const handledBelow = () => {}

/** A body goes through as it is: options travel in it (contract §2). */
const noOptions = {}

/** Writes that arrive on one connection: committed in the order of arrival, acknowledged in the same order. */
export class PublishDoor {
  readonly #connection: Connection
  readonly #parts: PublishDoorParts
  readonly #turns = new Turns()
  /**
   * Packet id → settles when that packet's write is committed; there until PUBREL. All ids may be in use: clients send thousands of
   * writes before they read the first PUBREC.
   */
  readonly #inFlight = new Map<number, Promise<unknown>>()
  /** Packet id → settles when it is durably forgotten; there from PUBREL to PUBCOMP. */
  readonly #releasing = new Map<number, Promise<void>>()
  /** Of the latest packet: a device publishes on one topic. */
  #address: Address | undefined
  #hasFailed = false

  constructor(connection: Connection, parts: PublishDoorParts) {
    this.#connection = connection
    this.#parts = parts
  }

  /** Of the session that the connection has: packets that are stored and not released. */
  resume(messageIds: Iterable<number>): void {
    for (const messageId of messageIds) this.#inFlight.set(messageId, committed)
  }

  /** @returns whether the packet is taken; only what a host's own client publishes on other topics is not */
  takePublish(packet: PublishPacket): boolean {
    const isHost = this.#connection.admission?.kind === 'host'
    if (isHost && !isThingwireTopic(packet.topic)) return false
    const ticket = this.#connection.acks.expect(packet, sizeOf(packet), this.#onFailed)
    try {
      this.#dealByQos(packet, ticket)
    } catch (error) {
      ticket.reject(error)
    }
    return true
  }

  readonly #onFailed = (): void => {
    this.#hasFailed = true
    this.#connection.inbound.stop()
  }

  /** @returns whether the packet is taken: its packet id is that of a write */
  takePubrel({ messageId }: PubrelPacket): boolean {
    const { session, client, inbound, acks } = this.#connection
    if (!session || messageId === undefined) return false
    // One that comes twice is answered twice, and not before the id is forgotten either.
    const release = this.#beginRelease(session, messageId) ?? this.#releasing.get(messageId)
    if (!release) return false
    release
      .then(
        () => {
          // Behind the PUBREC, if the client has not waited for it.
          acks.flush()
          if (!client.conn.destroyed) client.conn.write(pubcomp(messageId))
        },
        (error: Error) => this.#connection.close(error),
      )
      .finally(() => inbound.finished(1, 0))
    return true
  }

  #beginRelease(session: Session, messageId: number): Promise<void> | undefined {
    const committing = this.#inFlight.get(messageId)
    if (!committing) return undefined
    const release = this.#release(session, messageId, committing)
    // From here on the id may be used for another write (MQTT-4.3.3-2), even if the client does not wait for PUBCOMP.
    this.#inFlight.delete(messageId)
    this.#releasing.set(messageId, release)
    release
      // The connection ends, and the client will release it again.
      .catch(handledBelow)
      .finally(() => this.#releasing.get(messageId) === release && this.#releasing.delete(messageId))
    return release
  }

  #dealByQos(packet: PublishPacket, ticket: Ticket<unknown>): void {
    const { qos, messageId } = packet
    // Zero is no packet identifier (MQTT-2.3.1-1).
    if (qos !== 0 && !messageId) throw new Error('the packet identifier is 0')
    if (qos === 2) settle(ticket, this.#dealOnce(packet, messageId ?? 0))
    else this.#deal(packet, ticket)
  }

  /** A packet id that is not released yet stands for the write that it came with first (MQTT-4.3.3-2). */
  #dealOnce(packet: PublishPacket, messageId: number): Promise<unknown> {
    const first = this.#inFlight.get(messageId)
    if (first) return first
    const { clientId, isPersistent } = this.#session()
    const dealing = this.#dealInTurn(packet, {
      documents: isPersistent ? { [inFlightName(clientId, messageId)]: {} } : undefined,
      // Its PUBCOMP is still owed: what is kept of the write before must be gone before this one is.
      after: this.#releasing.get(messageId),
    })
    this.#inFlight.set(messageId, dealing)
    dealing.then(
      () => this.#inFlight.get(messageId) === dealing && this.#inFlight.set(messageId, committed),
      // With the connection, which it ends.
      handledBelow,
    )
    return dealing
  }

  /** At once where nothing has to be asked: most writes are of a thing that has written before. */
  #deal(packet: PublishPacket, ticket: Ticket<unknown>): void {
    const isNext = this.#turns.isFree && !this.#hasFailed
    const thingId = isNext ? this.#authoriseKnown(packet.topic) : undefined
    if (thingId === undefined) settle(ticket, this.#dealInTurn(packet))
    else this.#write(thingId, packet, ticket)
  }

  /** One packet, whose turn it is when all before it were handed over. */
  async #dealInTurn(packet: PublishPacket, once = notOnce): Promise<void> {
    const { after } = once
    const turn = this.#turns.take()
    const authorising = after
      ? after.then(() => this.#authorise(packet.topic))
      : this.#authorise(packet.topic)
    authorising.catch(handledBelow)
    try {
      await turn.wait()
      const thingId = await authorising
      if (this.#hasFailed) throw new Error('a packet before this one has failed')
      const dealing = this.#writing(thingId, packet, once)
      turn.done()
      await dealing.catch(throwUnlessAcknowledged)
    } catch (error) {
      this.#hasFailed = true
      turn.done()
      throw error
    }
  }

  #authoriseKnown(topic: string): string | undefined {
    const { ref } = this.#addressOf(topic)
    if (ref === undefined) return undefined
    const thingId = this.#parts.access.authoriseKnown(ref, this.#connection.admission?.credential, 'write')
    return thingId !== undefined && this.#connection.actsFor(thingId) ? thingId : undefined
  }

  /** @throws ThingwireError for a topic on which the client may not publish at all */
  async #authorise(topic: string): Promise<string> {
    const { ref } = this.#addressOf(topic)
    if (ref === undefined) throw new ThingwireError('forbidden', 'the topic belongs to no thing')
    const { access, onProven, onUnknown } = this.#parts
    try {
      const thingId = await access.authorise(ref, this.#connection.admission?.credential, 'write')
      await onProven(this.#connection, thingId)
      return thingId
    } catch (error) {
      if (error instanceof ThingwireError) onUnknown(this.#connection, error)
      throw error
    }
  }

  /** The connection relies on the ref that is in it. */
  #addressOf(topic: string): Address {
    if (this.#address?.topic !== topic) {
      const ref = isTopicName(topic) ? refOfThingTopic(topic) : undefined
      if (ref !== undefined) this.#connection.relyOn(ref)
      this.#address = { topic, ref, isOfWrites: refOfWriteTopic(topic) !== undefined }
    }
    return this.#address
  }

  #writing(thingId: string, packet: PublishPacket, once: Once): Promise<unknown> {
    return promiseOf(ticket => this.#write(thingId, packet, ticket, once))
  }

  #write(
    thingId: string,
    { topic, payload, qos }: PublishPacket,
    ticket: Ticket<unknown>,
    { documents }: Once = notOnce,
  ): undefined {
    const { ingest } = this.#parts
    const body = Buffer.isBuffer(payload) ? payload : Buffer.from(payload)
    if (!this.#addressOf(topic).isOfWrites) {
      return settle(
        ticket,
        ingest.noteRefused({ thingId, door: 'mqtt', error: this.#notAWriteTopic(topic), body }),
      )
    }
    const hold = this.#connection.holdOf(thingId)
    try {
      ingest.submit({ thingId, door: 'mqtt', body, options: noOptions, hold, documents }, ticket)
    } catch (error) {
      // Nothing that came in one piece with it may be written before it.
      if (qos !== 0) this.#hasFailed = true
      if (qos !== 0 || !(error instanceof ThingwireError) || !isRateExceeded(error)) throw error
      settle(ticket, ingest.noteRefused({ thingId, door: 'mqtt', error, body }))
    }
  }

  async #release(session: Session, messageId: number, committing: Promise<unknown>): Promise<void> {
    await committing
    if (!session.isPersistent) return
    // Before PUBCOMP, or a new write under the same id could be taken for the old one after a crash.
    const removal = { [inFlightName(session.clientId, messageId)]: null }
    await this.#parts.documents.put(removal, this.#connection.hold)
  }

  #session(): Session {
    const { session } = this.#connection
    if (!session) throw new Error('a packet before CONNECT was accepted')
    return session
  }

  /** Names the topic, which the device does not say again, but no token in it. */
  #notAWriteTopic(topic: string): ThingwireError {
    const ref = refOfThingTopic(topic) ?? ''
    const told = this.#parts.access.redactor.redact(topic.replace(ref, '<ref>'), longestTold)
    return new ThingwireError(
      'not_a_write_topic',
      `\`${told}\` takes no writes: publish on \`things/<ref>/write\`.`,
    )
  }
}

function throwUnlessAcknowledged(error: unknown): void {
  if (!isAcknowledged(error)) throw error
}
