import { randomUUID } from 'node:crypto'
import type { SourcePrincipal } from '../../access/access.ts'
import { promiseOf, settle, type Ticket } from '../../core/async/ticket.ts'
import { Turns } from '../../core/async/turns.ts'
import { mayWrite, type TopicGrant } from '../../core/topics/topic-grant.ts'
import type { ThingwireError } from '../../errors.ts'
import type { Connection } from '../connection/connection.ts'
import { type Arrival, inFlightDocuments, isResend } from '../connection/in-flight.ts'
import type { MqttThings } from '../mqtt-things.ts'
import type { Properties, Publish } from '../packets/packet.ts'
import type { RelayedMessage } from '../relay/publish-queue.ts'
import type { Relay } from '../relay/relay.ts'
import type { RelayedClient } from '../relay/relayed-client.ts'

const noProperties: Properties = {}

/** Bridges and devices publish all their retained messages again within this time after CONNECT, milliseconds. */
const repeatedFor = 10_000
const topicsInMemory = 1_000

/**
 * A message until it is passed to the relay, and the ticket for what is read in it. Thousands may wait for the disk: the collector
 * would have to move each of their promises.
 */
class Arrived implements Ticket<unknown> {
  readonly packet: Publish
  readonly arrival: Arrival | undefined
  readonly ticket: Ticket<unknown>
  /** The message that arrived next. */
  next: Arrived | undefined
  isReady = false
  error: unknown
  readonly #onReady: () => void

  constructor(packet: Publish, arrival: Arrival | undefined, ticket: Ticket<unknown>, onReady: () => void) {
    this.packet = packet
    this.arrival = arrival
    this.ticket = ticket
    this.#onReady = onReady
  }

  resolve(): void {
    this.isReady = true
    this.#onReady()
  }

  reject(error: unknown): void {
    this.error = error
    this.resolve()
  }
}

interface RelayDoorParts {
  readonly connection: Connection
  readonly relayed: RelayedClient
  readonly things: MqttThings
  readonly relay: Relay
  /** Lists a refused message. */
  readonly noteRefused: (packet: Publish, error: ThingwireError) => Promise<void>
}

/** Publishes the messages of one connection on topics that are not Thingwire's, in the order of arrival. */
export class RelayDoor {
  readonly #parts: RelayDoorParts
  /** The messages that are not passed to the relay yet. */
  #oldest: Arrived | undefined
  #newest: Arrived | undefined
  /** Order in which the messages of a source are read. */
  readonly #reads = new Turns()
  /** Pays for the messages of a principal, whichever of its connections sends them. */
  readonly #payer: string
  /** Topics on which the client may publish, by the grants that it had then. */
  readonly #allowed = new Set<string>()
  #allowedBy: readonly TopicGrant[] | undefined
  #hasFailed = false

  constructor(parts: RelayDoorParts) {
    this.#parts = parts
    const { clientId } = parts.relayed
    this.#payer = `topics of ${clientId.slice(0, clientId.indexOf(':'))}`
  }

  mayPublish(topic: string): boolean {
    const { grants } = this.#parts.relayed
    if (grants !== this.#allowedBy || this.#allowed.size === topicsInMemory) this.#allowed.clear()
    else if (this.#allowed.has(topic)) return true
    this.#allowedBy = grants
    const mayPublish = mayWrite(grants, topic)
    if (mayPublish) this.#allowed.add(topic)
    return mayPublish
  }

  /**
   * The ticket resolves when the message may be acknowledged. It rejects with write_rate_exceeded and too_many_retained, and with a
   * ThingwireError if the store fails.
   *
   * @param arrival set at QoS 2: a resent packet is not published again (contract §4.4 (d))
   */
  publish(packet: Publish, ticket: Ticket<unknown>, arrival: Arrival | undefined): void {
    const arrived = new Arrived(packet, arrival, ticket, this.#relayReady)
    if (this.#newest) this.#newest.next = arrived
    else this.#oldest = arrived
    this.#newest = arrived
    try {
      this.#prepare(arrived)
    } catch (error) {
      arrived.reject(error)
    }
  }

  /** Waits for the rate, and for the records of a source's message, which are stored before the message is relayed. */
  #prepare(arrived: Arrived): void {
    const { principal } = this.#parts.connection
    const { packet, arrival } = arrived
    const source = principal?.kind === 'source' ? principal : undefined
    const isNext = !arrival && this.#reads.isFree
    const entering = isNext || !source ? this.#enterRate(packet.payload) : undefined
    if (source && (!isNext || entering)) settle(arrived, this.#readInTurn(source, arrived, entering))
    else if (source) this.#read(source, packet, undefined, arrived)
    else if (entering || arrival?.released) settle(arrived, Promise.all([entering, arrival?.released]))
    else arrived.resolve()
  }

  /** These messages have a rate of their own, so they do not slow down the client's writes. */
  #enterRate(body: Uint8Array): Promise<void> | undefined {
    return this.#parts.things.limits.rate.enter({ thingId: this.#payer, door: 'mqtt', body })
  }

  #read(
    source: SourcePrincipal,
    { topic, payload, retain }: Publish,
    id: string | undefined,
    ticket: Ticket<unknown>,
  ): void {
    const { connection: sender, things } = this.#parts
    const { lock, openedAt } = sender
    const isRepeated = retain && performance.now() - openedAt < repeatedFor
    things.sourceMessages.take(source, { door: 'mqtt', topic, payload, isRepeated, id, lock, sender }, ticket)
  }

  async #readInTurn(
    source: SourcePrincipal,
    { packet, arrival }: Arrived,
    entered: Promise<void> | undefined,
  ): Promise<void> {
    const { session, lock } = this.#parts.connection
    const { topic, payload, messageId } = packet
    const turn = this.#reads.take()
    try {
      await turn.wait()
      await arrival?.released
      const isAgain = arrival && isResend(topic, packet, arrival)
      const id = arrival && (isAgain ? arrival.before?.id : randomUUID())
      if (isAgain && id === undefined) return
      await (entered ?? this.#enterRate(payload))
      // Committed before the records, so that a copy of the packet that comes after a crash stores none of them again.
      const inFlight = session && arrival && inFlightDocuments(session, messageId, arrival, id)
      const noting = inFlight && this.#parts.things.documents.put(inFlight, 'essential', lock)
      const reading = promiseOf(ticket => this.#read(source, packet, id, ticket))
      turn.done()
      await Promise.all([noting, reading])
    } finally {
      turn.done()
    }
  }

  /** Passes on the messages before which none waits. */
  readonly #relayReady = (): void => {
    for (let arrived = this.#oldest; arrived?.isReady; arrived = this.#oldest) {
      this.#oldest = arrived.next
      if (!this.#oldest) this.#newest = undefined
      try {
        this.#relay(arrived)
      } catch (error) {
        this.#fail(arrived, error)
      }
    }
  }

  #relay(arrived: Arrived): undefined {
    const { packet, arrival, ticket, error } = arrived
    if (this.#hasFailed) throw new Error('a packet before this one has failed')
    if (error !== undefined) throw error
    if (arrival && isResend(packet.topic, packet, arrival) && arrival.before?.id === undefined)
      return settle(ticket, arrival.before?.committing ?? Promise.resolve())
    const { topic, payload, qos, retain, messageId, properties = noProperties } = packet
    const { relay, relayed, connection, things } = this.#parts
    const { session, lock } = connection
    const { carried, messageExpiry } = properties
    // Without a spread, which would take as long as the rest of the way.
    const message: RelayedMessage = {
      topic,
      payload: ownBytes(payload),
      qos,
      isRetained: retain,
      from: relayed.clientId,
      properties: carried,
      expiresAt: messageExpiry === undefined ? undefined : things.clock.now() + messageExpiry * 1_000,
    }
    const documents = session && arrival && inFlightDocuments(session, messageId, arrival)
    relay.publish(message, { documents, lock }).then(
      () => this.#succeed(ticket),
      (error: unknown) => this.#fail(arrived, error),
    )
  }

  #succeed(ticket: Ticket<unknown>): void {
    const { things, connection } = this.#parts
    const { principal } = connection
    things.observer?.relayed()
    if (principal?.kind === 'thing') things.access.noteSeen(principal.thingId)
    ticket.resolve(undefined)
  }

  #fail({ packet, ticket }: Arrived, error: unknown): void {
    const { connection, noteRefused } = this.#parts
    if (connection.codec.acknowledges(error, packet.qos)) {
      noteRefused(packet, error).then(
        () => ticket.reject(error),
        (failure: unknown) => ticket.reject(failure),
      )
      return
    }
    this.#hasFailed = true
    ticket.reject(error)
  }
}

/** A copy, unless the payload is most of the bytes that were received with it and would stay in memory. */
function ownBytes(payload: Uint8Array): Buffer {
  const { buffer, byteOffset, byteLength } = payload
  const isMost = byteLength * 2 > buffer.byteLength
  return isMost ? Buffer.from(buffer, byteOffset, byteLength) : Buffer.from(payload)
}
