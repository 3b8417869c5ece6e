import { setTimeout as delay } from 'node:timers/promises'
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
import { inFlightName, type Session } from './session.ts'
import { isThingwireTopic, isTopicName, refOfThingTopic, refOfWriteTopic } from './topics.ts'

export interface PublishDoorParts {
  readonly access: Access
  readonly ingest: Ingest
  readonly documents: DocumentStore
  /** The client may act for this thing. */
  readonly onProven: (connection: Connection, thingId: string) => void
  /** It may not publish there. */
  readonly onUnknown: (connection: Connection, error: ThingwireError) => void
}

/** What a write has that is to be stored once, however often its packet comes. */
interface Once {
  readonly documents?: DocumentPut | undefined
  /** Whether it was stored before; absent: it was not. */
  readonly whetherStored?: Promise<boolean> | undefined
  /** Of its session. */
  readonly withdrawal?: AbortSignal | undefined
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
  /** Of the latest packet: a device publishes on one topic. */
  #address: Address | undefined
  #hasFailed = false

  constructor(connection: Connection, parts: PublishDoorParts) {
    this.#connection = connection
    this.#parts = parts
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
    const release = this.#beginRelease(session, messageId) ?? session.releasing.get(messageId)
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
    const { inFlight, releasing, doubtful } = session
    const committing = inFlight.get(messageId) ?? (doubtful.has(messageId) ? committed : undefined)
    if (!committing) return undefined
    const release = this.#release(session, messageId, committing)
    // From here on the id may be used for another write (MQTT-4.3.3-2), even if the client does not wait for PUBCOMP.
    inFlight.delete(messageId)
    doubtful.delete(messageId)
    releasing.set(messageId, release)
    release
      // The client will release it again.
      .catch(() => inFlight.has(messageId) || inFlight.set(messageId, committing))
      .finally(() => releasing.get(messageId) === release && releasing.delete(messageId))
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
    const session = this.#session()
    const { inFlight, doubtful } = session
    const first = inFlight.get(messageId)
    if (first) return first
    const name = inFlightName(session, messageId)
    const dealing = this.#dealInTurn(packet, {
      documents: name === undefined ? undefined : { [name]: {} },
      whetherStored: this.#whetherStored(session, packet, name),
      withdrawal: session.withdrawal?.signal,
    })
    inFlight.set(messageId, dealing)
    dealing.then(
      () => {
        doubtful.delete(messageId)
        if (inFlight.get(messageId) === dealing) inFlight.set(messageId, committed)
      },
      error => {
        // The store may have been late, and with a connection that is lost nobody else asks what came of it.
        if (name !== undefined && error instanceof ThingwireError) doubtful.add(messageId)
        if (inFlight.get(messageId) === dealing) inFlight.delete(messageId)
      },
    )
    return dealing
  }

  /** Whether the packet was stored before under its id; undefined: it was not. */
  #whetherStored(
    { doubtful, releasing, settledAt }: Session,
    { messageId = 0, dup }: PublishPacket,
    name: string | undefined,
  ): Promise<boolean> | undefined {
    if (name !== undefined && doubtful.has(messageId)) return this.#isStored(name)
    const unsettled = settledAt - performance.now()
    if (name !== undefined && dup && unsettled > 0) return delay(unsettled).then(() => this.#isStored(name))
    // Its PUBCOMP is still owed: what is kept of the write before must be gone before this one is.
    return releasing.get(messageId)?.then(
      () => false,
      () => {
        throw new Error('the packet id is not released')
      },
    )
  }

  /** Asked in the order of commits: behind whatever is still under way. */
  #isStored(name: string): Promise<boolean> {
    return this.#parts.documents.transact([name], ([found]) => ({ put: {}, result: found !== undefined }))
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
    const { whetherStored, withdrawal } = once
    const turn = this.#turns.take()
    const authorising = whetherStored
      ? whetherStored.then(isStored => (isStored ? undefined : this.#authorise(packet.topic)))
      : this.#authorise(packet.topic)
    authorising.catch(handledBelow)
    try {
      await turn.wait()
      const thingId = await authorising
      if (this.#hasFailed) throw new Error('a packet before this one has failed')
      withdrawal?.throwIfAborted()
      const dealing = thingId === undefined ? undefined : this.#writing(thingId, packet, once)
      turn.done()
      await dealing?.catch(throwUnlessAcknowledged)
    } catch (error) {
      this.#hasFailed = true
      turn.done()
      throw error
    }
  }

  #authoriseKnown(topic: string): string | undefined {
    const { ref } = this.#addressOf(topic)
    if (ref === undefined) return undefined
    const { access, onProven } = this.#parts
    const thingId = access.authoriseKnown(ref, this.#connection.admission?.credential, 'write')
    if (thingId !== undefined) onProven(this.#connection, thingId)
    return thingId
  }

  /** @throws ThingwireError for a topic on which the client may not publish at all */
  async #authorise(topic: string): Promise<string> {
    const { ref } = this.#addressOf(topic)
    if (ref === undefined) throw new ThingwireError('forbidden', 'the topic belongs to no thing')
    const { access, onProven, onUnknown } = this.#parts
    try {
      const thingId = await access.authorise(ref, this.#connection.admission?.credential, 'write')
      onProven(this.#connection, thingId)
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
    { documents, withdrawal }: Once = notOnce,
  ): undefined {
    const { ingest } = this.#parts
    const body = Buffer.isBuffer(payload) ? payload : Buffer.from(payload)
    if (!this.#addressOf(topic).isOfWrites) {
      return settle(
        ticket,
        ingest.noteRefused({ thingId, door: 'mqtt', error: this.#notAWriteTopic(topic), body }),
      )
    }
    const request = { thingId, door: 'mqtt', body, options: noOptions } as const
    try {
      ingest.submit(documents ? { ...request, documents, withdrawal } : request, ticket)
    } catch (error) {
      // Nothing that came in one piece with it may be written before it.
      if (qos !== 0) this.#hasFailed = true
      if (qos !== 0 || !(error instanceof ThingwireError) || !isRateExceeded(error)) throw error
      settle(ticket, ingest.noteRefused({ thingId, door: 'mqtt', error, body }))
    }
  }

  async #release(session: Session, messageId: number, committing: Promise<unknown>): Promise<void> {
    await committing
    const name = inFlightName(session, messageId)
    // Before PUBCOMP, or a new write under the same id could be taken for the old one after a crash.
    if (name !== undefined) await this.#parts.documents.put({ [name]: null })
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
