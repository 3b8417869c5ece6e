import type { Aedes, AedesPublishPacket } from 'aedes'
import { Slices } from '../../core/async/slices.ts'
import { type Turn, Turns } from '../../core/async/turns.ts'
import type { Lock } from '../../core/locks.ts'
import type { DocumentPut, DocumentStore, PutPurpose } from '../../core/ports.ts'
import type { ReceiptClock } from '../../core/time/clock.ts'
import type { Carried, QoS } from '../packets/packet.ts'
import {
  bytesOf,
  copyId,
  extrasOf,
  type MessageDocument,
  type OwedDocument,
  type PacketExtras,
  placeOf,
  placeText,
  sizeOf,
  topicMessagePrefix,
  topicQueueOf,
  topicRetainedPrefix,
} from './documents.ts'
import type { OwedMessages } from './owed-messages.ts'
import type { RetainedMessages } from './retained-messages.ts'
import type { TopicSubscriptions } from './topic-subscriptions.ts'

interface PublishQueueParts {
  readonly documents: DocumentStore
  readonly clock: Pick<ReceiptClock, 'now'>
  readonly brokerId: string
  readonly retained: RetainedMessages
  readonly subscriptions: TopicSubscriptions
  readonly owed: OwedMessages
  readonly onFailed: (error: unknown) => void
}

export interface RelayedMessage extends Carried {
  readonly topic: string
  readonly payload: Buffer
  readonly qos: QoS
  readonly isRetained: boolean
  /** Client id of the publisher. */
  readonly from?: string
}

/** Maximum number of entries in pending puts: a few tens of milliseconds of work, so that writes of things need not wait long. */
const mostEntriesAtOnce = 4_000

/** Documents to put in the same commit as a message, for example the packet id of a QoS 2 PUBLISH. */
export interface PutWithMessage {
  readonly documents: DocumentPut | undefined
  readonly lock: Lock | undefined
}

/**
 * Passes messages to Aedes one at a time: the next message follows when the put of the previous message has begun. Otherwise,
 * messages could overtake each other inside Aedes, which would then drop the overtaken message because its counter is lower.
 */
export class PublishQueue {
  readonly #parts: PublishQueueParts
  #broker: Aedes | undefined
  #order = 0
  readonly #turns = new Turns()
  /** Spreads messages over turns of the event loop, since a message for hundreds of sessions takes a millisecond or two. */
  readonly #slices = new Slices()
  /** Documents and turn of the message that was passed to Aedes, until Aedes calls `enqueue`. */
  #starting: { readonly together: PutWithMessage | undefined; readonly turn: Turn } | undefined
  #entriesBeingPut = 0
  /** Resolves when all puts begun so far are durable or have failed. */
  #put: Promise<void> = Promise.resolve()

  constructor(parts: PublishQueueParts) {
    this.#parts = parts
  }

  useBroker(broker: Aedes): void {
    this.#broker = broker
  }

  /** See `Relay.publish`. */
  async publish(message: RelayedMessage, together?: PutWithMessage): Promise<void> {
    const { clock, brokerId, retained } = this.#parts
    const { topic, payload, qos, isRetained, from, properties, expiresAt } = message
    if (isRetained && payload.length > 0) retained.assertRoom(message)
    const turn = this.#turns.take()
    await turn.wait()
    await this.#slices.pause()
    if (this.#entriesBeingPut >= mostEntriesAtOnce) await this.#put
    this.#order = Math.max(this.#order + 1, clock.now() * 1_000)
    const extras: PacketExtras = { from, isRetained, properties, expiresAt, bytes: sizeOf(message, message) }
    const packet = {
      cmd: 'publish' as const,
      topic,
      payload,
      qos,
      retain: isRetained,
      dup: false,
      // QoS 0 messages overtake messages that wait for a put. With the same broker id, the overtaken messages would be dropped.
      brokerId: qos === 0 ? `${brokerId}.0` : brokerId,
      brokerCounter: this.#order,
      properties: extras as object,
    }
    const isPut = qos > 0 || isRetained
    if (isPut) this.#starting = { together, turn }
    const publishing = new Promise<void>((resolve, reject) => {
      this.#broker?.publish(packet, error => (error ? reject(error) : resolve()))
    })
    if (!isPut) turn.done()
    await publishing.finally(() => turn.done())
  }

  /** Called by Aedes with each retained message. Stores only messages at QoS 0; `enqueue` stores messages at QoS 1 and 2. */
  retain(packet: AedesPublishPacket): void {
    if (packet.qos === 0) this.#keep(packet).catch(this.#parts.onFailed)
  }

  /** Called at QoS 1 and 2. Resolves, in the order of calls, when the message is durable. @throws ThingwireError if the store fails */
  enqueue(packet: AedesPublishPacket): Promise<void> {
    const { together, turn } = this.#starting ?? {}
    this.#starting = undefined
    const before = this.#put
    const keeping = this.#keep(packet, together)
    keeping.catch(() => {})
    const done = before.then(() => keeping)
    this.#put = done.catch(() => {})
    // Aedes delivers the messages in the order in which these promises resolve.
    turn?.done()
    return done
  }

  async #keep(packet: AedesPublishPacket, together?: PutWithMessage): Promise<void> {
    const { documents, retained } = this.#parts
    const kept = this.#putsOf(packet)
    const put = together?.documents ? { ...together.documents, ...kept } : kept
    const entries = Object.keys(put).length
    if (entries === 0) return
    this.#entriesBeingPut += entries
    try {
      await documents.put(put, purposeOf(kept), together?.lock)
    } catch (error) {
      const names = Object.keys(kept).filter(name => name.startsWith(topicRetainedPrefix))
      await Promise.all(names.map(name => retained.hear(name))).catch(() => {})
      throw error
    } finally {
      this.#entriesBeingPut -= entries
    }
  }

  /** The message, and an entry for each session that is owed it. The sessions are chosen now, since filters may change later. */
  #putsOf(packet: AedesPublishPacket): DocumentPut {
    const { subscriptions, owed, retained } = this.#parts
    const { topic, qos, retain } = packet
    const payload = bytesOf(packet.payload)
    const { from, properties } = extrasOf(packet)
    const place = placeOf(packet)
    const put: Record<string, DocumentPut[string]> = {}
    const wanting = qos > 0 ? subscriptions.wanting(topic, from, retain) : undefined
    if (wanting && wanting.size > 0) {
      const said = properties && { properties: properties.toString('base64') }
      const message: MessageDocument = { topic, payload: payload.toString('base64'), ...said }
      put[topicMessagePrefix + placeText(place)] = message
      for (const [clientId, copies] of wanting) {
        const hasIdentifiers = subscriptions.hasIdentifiers(clientId)
        for (const { identifier, qos: wanted, isRetained } of copies) {
          const brokerId = hasIdentifiers ? copyId(place.brokerId, identifier) : place.brokerId
          const document: OwedDocument = {
            qos: wanted < qos ? wanted : qos,
            ...(isRetained && { isRetained }),
          }
          put[topicQueueOf(clientId) + placeText({ ...place, brokerId })] = document
        }
      }
      owed.note(wanting, place.bytes)
    }
    return retain ? { ...put, ...retained.change({ topic, payload, qos, properties, ...place }) } : put
  }
}

/** If no document is kept, for example when a retained message is removed, the put only concerns the packet id or the will. */
function purposeOf(kept: DocumentPut): PutPurpose {
  return Object.values(kept).some(document => document !== null) ? 'keep' : 'essential'
}
