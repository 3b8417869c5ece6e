import { randomUUID } from 'node:crypto'
import type { SourcePrincipal } from '../../access/access.ts'
import { Turns } from '../../core/async/turns.ts'
import { mayWrite } from '../../core/topics/topic-grant.ts'
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

/** Marks a promise as handled, because it is awaited later. */
const handledBelow = () => {}

/** Publishes the messages of one connection on topics that are not Thingwire's, in the order of arrival. */
export class RelayDoor {
  readonly #connection: Connection
  readonly #relayed: RelayedClient
  readonly #things: MqttThings
  readonly #relay: Relay
  readonly #turns = new Turns()
  /** Order in which the messages of a source are read; they are relayed in the order of `#turns`. */
  readonly #reads = new Turns()
  #hasFailed = false

  constructor(connection: Connection, relayed: RelayedClient, things: MqttThings, relay: Relay) {
    this.#connection = connection
    this.#relayed = relayed
    this.#things = things
    this.#relay = relay
  }

  mayPublish(topic: string): boolean {
    return mayWrite(this.#relayed.grants, topic)
  }

  /**
   * Resolves when the message may be acknowledged.
   *
   * @param arrival set at QoS 2: a resent packet is not published again (contract §4.4 (d))
   * @throws ThingwireError if the store fails; write_rate_exceeded; too_many_retained
   */
  async publish(packet: Publish, arrival?: Arrival): Promise<void> {
    const { access, observer, clock } = this.#things
    const { principal, session, lock } = this.#connection
    const reading = principal?.kind === 'source' ? this.#read(principal, packet, arrival) : undefined
    const turn = this.#turns.take()
    try {
      reading?.catch(handledBelow)
      await turn.wait()
      if (this.#hasFailed) throw new Error('a packet before this one has failed')
      await arrival?.released
      if (arrival && isResend(packet.topic, packet, arrival) && arrival.before?.id === undefined) {
        turn.done()
        await arrival.before?.committing
        return
      }
      const { topic, payload, qos, retain, messageId, properties = noProperties } = packet
      const { clientId } = this.#relayed
      await (reading ?? this.#enterRate(payload))
      const documents = session && arrival && inFlightDocuments(session, messageId, arrival)
      const { carried, messageExpiry } = properties
      // Without a spread, which would take as long as the rest of the way.
      const message: RelayedMessage = {
        topic,
        payload: Buffer.from(payload),
        qos,
        isRetained: retain,
        from: clientId,
        properties: carried,
        expiresAt: messageExpiry === undefined ? undefined : clock.now() + messageExpiry * 1_000,
      }
      const publishing = this.#relay.publish(message, { documents: documents ?? {}, lock })
      turn.done()
      await publishing
      observer?.relayed()
      if (principal?.kind === 'thing') access.noteSeen(principal.thingId)
    } catch (error) {
      this.#hasFailed ||= !this.#connection.codec.acknowledges(error, packet.qos)
      throw error
    } finally {
      turn.done()
    }
  }

  /** These messages have a rate of their own, so they do not slow down the client's writes. */
  #enterRate(body: Uint8Array): Promise<void> | undefined {
    const { clientId } = this.#relayed
    const payer = `topics of ${clientId.slice(0, clientId.indexOf(':'))}`
    return this.#things.limits.rate.enter({ thingId: payer, door: 'mqtt', body })
  }

  /** Resolves when the records of a source's message are durable. They are stored before the message is relayed. */
  async #read(source: SourcePrincipal, packet: Publish, arrival?: Arrival): Promise<void> {
    const { sourceMessages, documents } = this.#things
    const { session, lock, openedAt } = this.#connection
    const { topic, payload, retain, messageId } = packet
    const turn = this.#reads.take()
    try {
      const before = turn.wait()
      if (before) await before
      if (arrival?.released) await arrival.released
      const isAgain = arrival && isResend(topic, packet, arrival)
      const id = arrival && (isAgain ? arrival.before?.id : randomUUID())
      if (isAgain && id === undefined) return
      const entering = this.#enterRate(payload)
      if (entering) await entering
      // Committed before the records, so that a copy of the packet that comes after a crash stores none of them again.
      const inFlight = session && arrival && inFlightDocuments(session, messageId, arrival, id)
      const noting = inFlight && documents.put(inFlight, 'essential', lock)
      const isRepeated = retain && performance.now() - openedAt < repeatedFor
      const sender = this.#connection
      const taking = sourceMessages.take(source, {
        door: 'mqtt',
        topic,
        payload,
        isRepeated,
        id,
        lock,
        sender,
      })
      turn.done()
      if (noting) await Promise.all([noting, taking])
      else await taking
    } finally {
      turn.done()
    }
  }
}
