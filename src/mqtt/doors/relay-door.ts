import type { Access } from '../../access/access.ts'
import { Turns } from '../../core/async/turns.ts'
import type { Observer } from '../../core/observer.ts'
import type { WriteRate } from '../../core/ports.ts'
import { mayWrite } from '../../core/topics/topic-grant.ts'
import { isAcknowledged } from '../connection/acks.ts'
import type { Connection } from '../connection/connection.ts'
import { type Arrival, inFlightDocuments, isResend } from '../connection/in-flight.ts'
import type { Publish } from '../packets/packet.ts'
import type { Relay } from '../relay/relay.ts'
import type { RelayedClient } from '../relay/relayed-client.ts'

export interface RelayDoorParts {
  readonly access: Pick<Access, 'noteSeen'>
  readonly relay: Relay
  readonly rate: WriteRate
  readonly observer: Observer | undefined
}

/** Messages that one connection publishes on topics beside those of things: in the order of arrival. */
export class RelayDoor {
  readonly #connection: Connection
  readonly #relayed: RelayedClient
  readonly #parts: RelayDoorParts
  readonly #turns = new Turns()
  #hasFailed = false

  constructor(connection: Connection, relayed: RelayedClient, parts: RelayDoorParts) {
    this.#connection = connection
    this.#relayed = relayed
    this.#parts = parts
  }

  mayPublish(topic: string): boolean {
    return mayWrite(this.#relayed.grants, topic)
  }

  /**
   * Resolves when the message is to be acknowledged.
   *
   * @param arrival at QoS 2: a resend of the packet before is not published again (contract §4.4 (d))
   * @throws ThingwireError of the store; write_rate_exceeded; too_many_retained
   */
  async publish(packet: Publish, arrival?: Arrival): Promise<void> {
    const { access, relay, rate, observer } = this.#parts
    const turn = this.#turns.take()
    try {
      await turn.wait()
      if (this.#hasFailed) throw new Error('a packet before this one has failed')
      await arrival?.released
      if (arrival && isResend(packet.topic, packet, arrival)) {
        turn.done()
        await arrival.before?.committing
        return
      }
      const { topic, payload, qos, retain, messageId } = packet
      // Their rate is another than that of things' writes, so that neither takes from the other.
      const { clientId } = this.#relayed
      const payer = `topics of ${clientId.slice(0, clientId.indexOf(':'))}`
      await rate.enter({ thingId: payer, door: 'mqtt', body: payload })
      const { principal, session, lock } = this.#connection
      const documents = session && arrival && inFlightDocuments(session, messageId, arrival)
      const message = { topic, payload: Buffer.from(payload), qos, isRetained: retain }
      const publishing = relay.publish(message, { documents: documents ?? {}, lock })
      turn.done()
      await publishing
      observer?.relayed()
      if (principal?.kind === 'thing') access.noteSeen(principal.thingId)
    } catch (error) {
      this.#hasFailed ||= !isAcknowledged(error)
      throw error
    } finally {
      turn.done()
    }
  }
}
