import type { Aedes, AedesPublishPacket } from 'aedes'
import { Slices } from '../../core/async/slices.ts'
import { type Turn, Turns } from '../../core/async/turns.ts'
import type { Lock } from '../../core/locks.ts'
import type { DocumentPut, DocumentStore, PutPurpose } from '../../core/ports.ts'
import type { ReceiptClock } from '../../core/time/clock.ts'
import type { QoS } from '../packets/packet.ts'
import {
  bytesOf,
  type MessageDocument,
  type OwedDocument,
  placeOf,
  placeText,
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

/** A message on its way to whoever is subscribed to its topic. */
export interface RelayedMessage {
  readonly topic: string
  readonly payload: Buffer
  readonly qos: QoS
  readonly isRetained: boolean
}

/** Entries that are put at a time, some tens of milliseconds of work: writes of things do not wait behind all that is published. */
const mostEntriesAtOnce = 4_000

/** What is put in one with a message: what the door must not forget once it has acked. */
export interface PutWithMessage {
  readonly documents: DocumentPut
  readonly lock: Lock | undefined
}

/**
 * The one way of messages to Aedes: one after another, the next one when the one before is put. Aedes passes over a message whose
 * counter is not greater than the one before, and takes several steps before it hands one out.
 */
export class PublishQueue {
  readonly #parts: PublishQueueParts
  #broker: Aedes | undefined
  #order = 0
  readonly #turns = new Turns()
  /** A message that hundreds of sessions are owed takes a millisecond or two: several are started in one turn, not all. */
  readonly #slices = new Slices()
  /** What is put with the message that is not put yet, and its turn. */
  #starting: { readonly together: PutWithMessage | undefined; readonly turn: Turn } | undefined
  #entriesBeingPut = 0
  /** Resolves when everything that was put is durable, or has failed. */
  #put: Promise<void> = Promise.resolve()

  constructor(parts: PublishQueueParts) {
    this.#parts = parts
  }

  useBroker(broker: Aedes): void {
    this.#broker = broker
  }

  /** As `Relay.publish`. */
  async publish(
    { topic, payload, qos, isRetained }: RelayedMessage,
    together?: PutWithMessage,
  ): Promise<void> {
    const { clock, brokerId, retained } = this.#parts
    if (isRetained && payload.length > 0) retained.assertRoom(topic, payload)
    const turn = this.#turns.take()
    await turn.wait()
    await this.#slices.pause()
    if (this.#entriesBeingPut >= mostEntriesAtOnce) await this.#put
    this.#order = Math.max(this.#order + 1, clock.now() * 1_000)
    const packet = {
      cmd: 'publish' as const,
      topic,
      payload,
      qos,
      retain: isRetained,
      dup: false,
      // Two lanes: a message at QoS 0 does not wait for those before it to be put, and must not count as newer than them.
      brokerId: qos === 0 ? `${brokerId}.0` : brokerId,
      brokerCounter: this.#order,
    }
    const isPut = qos > 0 || isRetained
    if (isPut) this.#starting = { together, turn }
    const publishing = new Promise<void>((resolve, reject) => {
      this.#broker?.publish(packet, error => (error ? reject(error) : resolve()))
    })
    if (!isPut) turn.done()
    await publishing.finally(() => turn.done())
  }

  /** Aedes asks to keep a retained message. */
  retain(packet: AedesPublishPacket): void {
    // Others are kept with what is to be enqueued.
    if (packet.qos === 0) this.#keep(packet).catch(this.#parts.onFailed)
  }

  /** Aedes asks to keep a message. Resolves, in the order of the calls, when it is durable. @throws ThingwireError of the store */
  enqueue(packet: AedesPublishPacket): Promise<void> {
    const { together, turn } = this.#starting ?? {}
    this.#starting = undefined
    const before = this.#put
    const keeping = this.#keep(packet, together)
    keeping.catch(() => {})
    const done = before.then(() => keeping)
    this.#put = done.catch(() => {})
    // Aedes hands out one after the other as these resolve.
    turn?.done()
    return done
  }

  async #keep(packet: AedesPublishPacket, together?: PutWithMessage): Promise<void> {
    const { documents, retained } = this.#parts
    const kept = this.#putsOf(packet)
    const put = { ...together?.documents, ...kept }
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

  /** The message, once, and an entry for each session that is owed it: who that is, is fixed here, since filters change later. */
  #putsOf(packet: AedesPublishPacket): DocumentPut {
    const { subscriptions, owed, retained } = this.#parts
    const { topic, qos, retain } = packet
    const payload = bytesOf(packet.payload)
    const place = placeOf(packet)
    const put: Record<string, DocumentPut[string]> = {}
    const wanting = qos > 0 ? subscriptions.wanting(topic) : new Map<string, QoS>()
    if (wanting.size > 0) {
      const text = placeText(place)
      const message: MessageDocument = { topic, payload: payload.toString('base64') }
      put[topicMessagePrefix + text] = message
      for (const [clientId, wanted] of wanting) {
        put[topicQueueOf(clientId) + text] = { qos: wanted < qos ? wanted : qos } satisfies OwedDocument
      }
      owed.note(wanting.keys(), place.bytes)
    }
    return retain ? { ...put, ...retained.change({ topic, payload, qos, ...place }) } : put
  }
}

/** A message that nothing is kept of, or that removes a retained one, is put for its packet id or its will alone. */
function purposeOf(kept: DocumentPut): PutPurpose {
  return Object.values(kept).some(document => document !== null) ? 'keep' : 'essential'
}
