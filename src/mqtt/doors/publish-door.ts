import { isOperatorsWrite } from '../../access/principal.ts'
import { promiseOf, settle, type Ticket } from '../../core/async/ticket.ts'
import { Turns } from '../../core/async/turns.ts'
import type { WriteOptions } from '../../core/parse.ts'
import { ThingwireError } from '../../errors.ts'
import type { Connection, CountFailure } from '../connection/connection.ts'
import { type Arrival, inFlightDocuments, isResend } from '../connection/in-flight.ts'
import type { MqttThings } from '../mqtt-things.ts'
import { MalformedPacket, type Publish } from '../packets/packet.ts'
import { writeOptionsIn } from '../packets/write-options.ts'
import type { Relay } from '../relay/relay.ts'
import type { MqttSession } from '../sessions/session.ts'
import { inFlightName } from '../sessions/session-documents.ts'
import { isThingwireTopic, refOfThingTopic, writeAddressOf } from '../topics.ts'
import { answeredTicket } from './answered-ticket.ts'
import type { Ownership } from './ownership.ts'
import { notAnotherTopic, notAWriteTopic } from './refused-topic.ts'
import { thingOf } from './rejected-connections.ts'
import { RelayDoor } from './relay-door.ts'

export interface PublishDoorParts {
  readonly things: MqttThings
  /** Serves topics that are not Thingwire's; undefined if the host serves them, or nobody does. */
  readonly relay: Relay | undefined
  readonly ownership: Ownership
  readonly countFailure: CountFailure
  /** Called for a refused message or filter that does not belong to exactly one thing, so that no thing can list the refusal. */
  readonly onElsewhere: (connection: Connection, error: ThingwireError) => void
}

/** Id of the topic's thing, or why the client may not publish on the topic; that reason is reported (contract §7.7). */
type Authorised = string | Promise<string | ThingwireError>

interface Address {
  readonly topic: string
  /** undefined if the topic does not belong to exactly one thing. */
  readonly ref: string | undefined
  readonly isOfWrites: boolean
  readonly format: string | undefined
}

/** Marks a promise as handled, because it is awaited later. */
const handledBelow = () => {}

/** Without properties, the options of a write are part of its body (contract §2). */
const noOptions: WriteOptions = {}

/** Commits and acknowledges the PUBLISHes of one connection in the order of arrival. */
export class PublishDoor {
  readonly #connection: Connection
  readonly #parts: PublishDoorParts
  readonly #turns = new Turns()
  /** Address of the latest packet. Most devices publish on one topic, which need not be parsed again. */
  #address: Address | undefined
  #hasFailed = false
  /** Set at the first message on a topic that is not Thingwire's. */
  #relaying: RelayDoor | undefined

  constructor(connection: Connection, parts: PublishDoorParts) {
    this.#connection = connection
    this.#parts = parts
  }

  /** Acknowledges a PUBLISH when it is committed or listed as refused; otherwise closes the connection. */
  take(packet: Publish): void {
    this.#assertFewUnacked(packet)
    const ticket = this.#connection.acks.expect(packet, this.#onFailed)
    try {
      if (packet.qos === 2) settle(ticket, this.#dealOnce(packet))
      else this.#deal(packet, ticket)
    } catch (error) {
      ticket.reject(error)
    }
  }

  /** @throws MalformedPacket if the client has more unacknowledged messages than it may have (MQTT5-3.3.4-9) */
  #assertFewUnacked({ qos, messageId }: Publish): void {
    const { acks, inFlight, codec } = this.#connection
    if (qos > 0 && inFlight.hasMany(codec.mostUnacked.received - acks.unacked, messageId))
      throw new MalformedPacket(
        'the client has more unacknowledged messages than Receive Maximum',
        'too_many',
      )
  }

  readonly #onFailed = (): void => {
    this.#hasFailed = true
    this.#connection.inbound.stop()
  }

  /** Handles PUBREL. @returns whether a PUBLISH with this packet id is known */
  release(messageId: number): boolean {
    const { session, codec, inbound, acks, inFlight } = this.#connection
    const release = session && inFlight.release(messageId, () => this.#forget(session, messageId))
    if (!release) return false
    inbound.begun(0)
    release
      .then(
        isStored => {
          // PUBREC is sent first, even if the client has not waited for it.
          acks.flush()
          this.#connection.send(codec.pubcomp(messageId, isStored))
        },
        (error: Error) => this.#connection.close(error),
      )
      .finally(() => inbound.finished(1, 0))
    return true
  }

  #dealOnce(packet: Publish): Promise<unknown> {
    return this.#connection.inFlight.arrive(
      packet.messageId,
      arrival => this.#outcomeOf(packet, ticket => this.#deal(packet, ticket, arrival)),
      error => this.#isAcknowledged(packet, error),
    )
  }

  /** Like `promiseOf`, but sets `#hasFailed` synchronously. */
  #outcomeOf(packet: Publish, begin: (ticket: Ticket<unknown>) => void): Promise<unknown> {
    return promiseOf(({ resolve, reject }) => {
      const failed = (error: unknown) => {
        this.#hasFailed ||= !this.#isAcknowledged(packet, error)
        reject(error)
      }
      begin({ resolve, reject: failed })
    })
  }

  /** Whether the connection goes on although the packet is refused. */
  #isAcknowledged({ qos }: Publish, error: unknown): error is ThingwireError {
    return this.#connection.codec.acknowledges(error, qos)
  }

  /** Writes synchronously if no promise has to be awaited, for example if this connection has written to the thing before. */
  #deal(packet: Publish, ticket: Ticket<unknown>, arrival?: Arrival): undefined {
    const relaying = this.#relayingOf(packet.topic)
    if (relaying) {
      if (this.#hasFailed) throw new Error('a packet before this one has failed')
      relaying.publish(packet, ticket, arrival)
      return
    }
    const authorised = arrival?.released
      ? arrival.released.then(() => this.#authorise(packet.topic))
      : this.#authorise(packet.topic)
    const isNext = this.#turns.isFree && !this.#hasFailed
    if (isNext && typeof authorised === 'string') return this.#write(authorised, packet, ticket, arrival)
    settle(ticket, this.#writeInTurn(packet, authorised, arrival))
  }

  /** The door of a topic that is not Thingwire's; undefined if the client may not publish there. */
  #relayingOf(topic: string): RelayDoor | undefined {
    const connection = this.#connection
    const { relayed } = connection
    const { things, relay } = this.#parts
    if (!relay || !relayed || isThingwireTopic(topic)) return undefined
    this.#relaying ??= new RelayDoor({ connection, relayed, things, relay, noteRefused: this.#noteRefused })
    return this.#relaying.mayPublish(topic) ? this.#relaying : undefined
  }

  /** Writes a packet when all earlier packets are submitted. */
  async #writeInTurn(packet: Publish, authorised: Authorised, arrival?: Arrival): Promise<void> {
    const turn = this.#turns.take()
    if (typeof authorised === 'object') authorised.catch(handledBelow)
    try {
      await turn.wait()
      const thingId = await authorised
      if (this.#hasFailed) throw new Error('a packet before this one has failed')
      const writing = this.#outcomeOf(packet, ticket => this.#write(thingId, packet, ticket, arrival))
      turn.done()
      await writing
    } catch (error) {
      this.#hasFailed ||= !this.#isAcknowledged(packet, error)
      turn.done()
      throw error
    }
  }

  /**
   * @returns id of the topic's thing, or why the client may not publish on the topic; that reason is reported (contract §7.7)
   * @throws Error to close the connection
   */
  #authorise(topic: string): Authorised {
    const { ref } = this.#addressOf(topic)
    if (ref === undefined) return this.#authenticate(undefined)
    const thingId = this.#parts.things.access.authorise(ref, this.#connection.admission?.credential, 'write')
    const isAuthenticated = typeof thingId === 'string' && this.#connection.actsFor(thingId)
    return isAuthenticated ? thingId : this.#authenticate(thingId)
  }

  async #authenticate(authorised: string | Promise<string> | undefined): Promise<string | ThingwireError> {
    const { ownership, countFailure } = this.#parts
    try {
      if (authorised === undefined) throw new ThingwireError('forbidden', 'the topic belongs to no thing')
      const thingId = await authorised
      await ownership.prove(this.#connection, thingId)
      return thingId
    } catch (error) {
      if (!(error instanceof ThingwireError)) throw error
      countFailure(this.#connection, error)
      // If the connection were closed, the client would resend the packet for ever, and no later packet would be stored.
      if (this.#connection.hasAuthenticated && !error.retryable) return error
      throw error
    }
  }

  /** Parses a topic. If it contains a token, the connection relies on that token from now on. */
  #addressOf(topic: string): Address {
    if (this.#address?.topic !== topic) {
      const ref = refOfThingTopic(topic)
      if (ref !== undefined) this.#connection.tokens.relyOn(ref)
      const ofWrites = writeAddressOf(topic)
      this.#address = { topic, ref, isOfWrites: ofWrites !== undefined, format: ofWrites?.format }
    }
    return this.#address
  }

  /** @param arrival set at QoS 2: a resent packet is not written again (contract §4.4 (d)) */
  #write(
    thingId: string | ThingwireError,
    packet: Publish,
    ticket: Ticket<unknown>,
    arrival: Arrival | undefined,
  ): undefined {
    const { topic, payload: body } = packet
    const { ingest } = this.#parts.things
    const isRefused = typeof thingId !== 'string'
    const { isOfWrites, format, ref = '' } = this.#addressOf(topic)
    if (!isRefused && arrival && isResend(targetOf(thingId, format), packet, arrival))
      return settle(ticket, arrival.before?.committing ?? Promise.resolve())
    if (isRefused || !isOfWrites) return settle(ticket, this.#refuseElsewhere(packet, thingId))
    const lock = this.#connection.lockOf(thingId)
    const documents = arrival && inFlightDocuments(this.#session(), packet.messageId, arrival)
    const sender = this.#connection
    const isOperators = isOperatorsWrite(ref, sender.principal) || undefined
    let answered = ticket
    let options = noOptions
    try {
      if (packet.properties?.responseTopic !== undefined)
        answered = answeredTicket(ticket, sender, packet, [thingId, ref])
      if (packet.properties) options = writeOptionsIn(packet.properties)
    } catch (error) {
      return settle(answered, this.#refuseWrite(thingId, packet, error))
    }
    try {
      ingest.submit(
        { thingId, door: 'mqtt', body, format, options, isOperators, lock, documents, sender },
        answered,
      )
    } catch (error) {
      if (this.#isAcknowledged(packet, error))
        return settle(answered, this.#refuseWrite(thingId, packet, error))
      // Later packets that came in the same read of the socket must not be written.
      this.#hasFailed = true
      throw error
    }
  }

  /** @throws `error`, when it is listed */
  async #refuseWrite(thingId: string, { payload: body }: Publish, error: unknown): Promise<never> {
    if (error instanceof ThingwireError)
      await this.#parts.things.ingest.noteRefused({ thingId, door: 'mqtt', error, body })
    throw error
  }

  /** Must be done before PUBCOMP is sent. Otherwise, after a crash, a new write with this packet id could be taken for a resend. */
  async #forget({ isPersistent, clientId }: MqttSession, messageId: number): Promise<void> {
    if (!isPersistent) return
    const name = inFlightName(clientId, messageId)
    await this.#parts.things.documents.put({ [name]: null }, 'essential', this.#connection.lock)
  }

  #session(): MqttSession {
    const { session } = this.#connection
    if (!session) throw new Error('a packet before CONNECT was accepted')
    return session
  }

  /**
   * @param asked id of the topic's thing if the client may write to the thing, else a reason why it may not
   * @throws ThingwireError when the refusal is listed
   */
  async #refuseElsewhere(packet: Publish, asked: string | ThingwireError): Promise<never> {
    const [owner, why] = typeof asked === 'string' ? [asked] : [undefined, asked]
    const { things, relay } = this.#parts
    const { access } = things
    const { topic } = packet
    const isOfRelay = relay !== undefined && !isThingwireTopic(topic)
    const refusal =
      (isOfRelay && (await notAnotherTopic(this.#connection, topic, access))) ||
      notAWriteTopic(topic, this.#addressOf(topic).isOfWrites ? why : undefined, access)
    await this.#noteRefused(packet, refusal, owner)
    throw refusal
  }

  readonly #noteRefused = async (packet: Publish, error: ThingwireError, owner?: string): Promise<void> => {
    const { things, onElsewhere } = this.#parts
    const { principal } = this.#connection
    const thingId = thingOf(this.#connection) ?? (principal ? undefined : owner)
    if (thingId === undefined) onElsewhere(this.#connection, error)
    else await things.ingest.noteRefused({ thingId, door: 'mqtt', error, body: packet.payload })
  }
}

/** What a write is for, whichever alias, id or token its topic names (contract §4.4 (d)). */
function targetOf(thingId: string, format: string | undefined): string {
  return format === undefined ? thingId : `${thingId}/${format}`
}
