import type { PublishPacket, PubrelPacket } from 'aedes'
import type { Access } from '../access/access.ts'
import { promiseOf, settle, type Ticket } from '../core/async/ticket.ts'
import { Turns } from '../core/async/turns.ts'
import type { Ingest } from '../core/ingest.ts'
import type { DocumentPut, DocumentStore } from '../core/ports.ts'
import { isRateExceeded } from '../core/refusals/door-refusals.ts'
import { ThingwireError } from '../errors.ts'
import { isAcknowledged, pubcomp } from './acks.ts'
import type { Connection } from './connection.ts'
import { type Arrival, digestOfWrite, InFlight } from './in-flight.ts'
import { sizeOf } from './inbound.ts'
import type { Session } from './session.ts'
import { type InFlightDocument, type InFlightWrite, inFlightName } from './session-documents.ts'
import { isThingwireTopic, isTopicName, refOfThingTopic, refOfWriteTopic } from './topics.ts'
import { thingOf } from './turned-away.ts'

export interface PublishDoorParts {
  readonly access: Access
  readonly ingest: Ingest
  readonly documents: DocumentStore
  /** The client may act for this thing; resolves when the connection acts for it alone. @throws ThingwireError of the store */
  readonly onProven: (connection: Connection, thingId: string) => Promise<void> | undefined
  /** It may not publish there. */
  readonly onUnknown: (connection: Connection, error: ThingwireError) => void
  /** It has published there all the same, and writes for no one thing on whose list that could be. */
  readonly onElsewhere: (connection: Connection, error: ThingwireError) => void
}

/** The thing that is written to; undefined: the client may not publish there, and is told so on a list (contract §7.7). */
type Authorised = string | Promise<string | undefined>

/** Where a packet was published. */
interface Address {
  readonly topic: string
  /** In the topic of a thing; undefined: it is none that may be published on. */
  readonly ref: string | undefined
  /** Whether it is where a thing's writes are published. */
  readonly isOfWrites: boolean
}

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
  readonly #inFlight = new InFlight()
  /** Of the latest packet: a device publishes on one topic. */
  #address: Address | undefined
  #hasFailed = false

  constructor(connection: Connection, parts: PublishDoorParts) {
    this.#connection = connection
    this.#parts = parts
  }

  /** Of the session that the connection has: packets that are stored and not released. */
  resume(packets: readonly InFlightWrite[]): void {
    this.#inFlight.resume(packets)
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
    const release = this.#inFlight.release(messageId, () => this.#forget(session, messageId))
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

  #dealByQos(packet: PublishPacket, ticket: Ticket<unknown>): void {
    const { qos, messageId } = packet
    // Zero is no packet identifier (MQTT-2.3.1-1).
    if (qos !== 0 && !messageId) throw new Error('the packet identifier is 0')
    if (qos === 2) settle(ticket, this.#dealOnce(packet, messageId ?? 0))
    else this.#deal(packet, ticket)
  }

  #dealOnce(packet: PublishPacket, messageId: number): Promise<unknown> {
    return this.#inFlight.arrive(messageId, arrival => {
      const authorise = () => this.#authorise(packet.topic)
      return this.#dealInTurn(packet, arrival.released?.then(authorise) ?? authorise(), arrival)
    })
  }

  /** At once where nothing has to be asked: most writes are of a thing that has written before. */
  #deal(packet: PublishPacket, ticket: Ticket<unknown>): void {
    const isNext = this.#turns.isFree && !this.#hasFailed
    const thingId = this.#authorise(packet.topic)
    if (isNext && typeof thingId === 'string') this.#write(thingId, packet, ticket)
    else settle(ticket, this.#dealInTurn(packet, thingId))
  }

  /** One packet, whose turn it is when all before it were handed over. */
  async #dealInTurn(packet: PublishPacket, authorised: Authorised, arrival?: Arrival): Promise<void> {
    const turn = this.#turns.take()
    const authorising = Promise.resolve(authorised)
    authorising.catch(handledBelow)
    try {
      await turn.wait()
      const thingId = await authorising
      if (this.#hasFailed) throw new Error('a packet before this one has failed')
      const dealing =
        thingId === undefined
          ? this.#noteElsewhere(packet)
          : arrival
            ? this.#writeOnce(thingId, packet, arrival)
            : this.#writing(thingId, packet)
      turn.done()
      await dealing.catch(throwUnlessAcknowledged)
    } catch (error) {
      this.#hasFailed = true
      turn.done()
      throw error
    }
  }

  /** Rejects with an Error to close the connection. */
  #authorise(topic: string): Authorised {
    const { ref } = this.#addressOf(topic)
    if (ref === undefined) return this.#prove(topic, undefined)
    const thingId = this.#parts.access.authorise(ref, this.#connection.admission?.credential, 'write')
    const isProven = typeof thingId === 'string' && this.#connection.actsFor(thingId)
    return isProven ? thingId : this.#prove(topic, thingId)
  }

  async #prove(topic: string, authorised: string | Promise<string> | undefined): Promise<string | undefined> {
    if (!isTopicName(topic)) throw new Error('the topic is empty, or has a wildcard in it (MQTT-3.3.2-2)')
    const { onProven, onUnknown } = this.#parts
    try {
      if (authorised === undefined) throw new ThingwireError('forbidden', 'the topic belongs to no thing')
      const thingId = await authorised
      await onProven(this.#connection, thingId)
      return thingId
    } catch (error) {
      if (!(error instanceof ThingwireError)) throw error
      onUnknown(this.#connection, error)
      // Closed, a client would come again with it for ever, and nothing behind it would be stored.
      if (this.#connection.hasProven && !error.retryable) return undefined
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

  /** @param arrival at QoS 2: a resend of the packet before is no write (contract §4.4 (d)) */
  #writeOnce(thingId: string, packet: PublishPacket, { packet: arrived, before }: Arrival): Promise<unknown> {
    const write = digestOfWrite(thingId, bodyOf(packet))
    arrived.write = write
    if (packet.dup && before?.write === write) return before.committing
    const { clientId, isPersistent } = this.#session()
    const document: InFlightDocument = { write }
    const documents = { [inFlightName(clientId, packet.messageId ?? 0)]: document }
    return this.#writing(thingId, packet, isPersistent ? documents : undefined)
  }

  #writing(thingId: string, packet: PublishPacket, documents?: DocumentPut): Promise<unknown> {
    return promiseOf(ticket => this.#write(thingId, packet, ticket, documents))
  }

  /** @param documents put with the write */
  #write(
    thingId: string,
    packet: PublishPacket,
    ticket: Ticket<unknown>,
    documents?: DocumentPut,
  ): undefined {
    const { topic, qos } = packet
    const { ingest } = this.#parts
    const body = bodyOf(packet)
    if (!this.#addressOf(topic).isOfWrites) return settle(ticket, this.#noteElsewhere(packet, thingId))
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

  /** Before PUBCOMP, or a new write under the same id could be taken for the old one after a crash. */
  async #forget({ isPersistent, clientId }: Session, messageId: number): Promise<void> {
    if (!isPersistent) return
    await this.#parts.documents.put({ [inFlightName(clientId, messageId)]: null }, this.#connection.hold)
  }

  #session(): Session {
    const { session } = this.#connection
    if (!session) throw new Error('a packet before CONNECT was accepted')
    return session
  }

  /** @param owner the thing of the topic, if the client may write to it */
  async #noteElsewhere(packet: PublishPacket, owner?: string): Promise<void> {
    const { ingest, onElsewhere } = this.#parts
    const { principal } = this.#connection
    const error = this.#notAWriteTopic(packet.topic)
    const thingId = thingOf(this.#connection) ?? (principal ? undefined : owner)
    if (thingId === undefined) onElsewhere(this.#connection, error)
    else await ingest.noteRefused({ thingId, door: 'mqtt', error, body: bodyOf(packet) })
  }

  /** Names the topic, which the device does not say again, but no token in it. */
  #notAWriteTopic(topic: string): ThingwireError {
    const { ref, isOfWrites } = this.#addressOf(topic)
    const shown = ref === undefined ? topic : topic.replace(ref, '<ref>')
    const told = this.#parts.access.redactor.redact(shown, longestTold)
    const why = isOfWrites ? 'is not of a thing that this client may write to' : 'takes no writes'
    return new ThingwireError('not_a_write_topic', `\`${told}\` ${why}: publish on \`things/<ref>/write\`.`)
  }
}

function throwUnlessAcknowledged(error: unknown): void {
  if (!isAcknowledged(error)) throw error
}

function bodyOf({ payload }: PublishPacket): Buffer {
  return Buffer.isBuffer(payload) ? payload : Buffer.from(payload)
}
