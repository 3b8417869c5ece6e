import type { AedesPublishPacket } from 'aedes'
import { type Hold, HoldLost, type TakenHold } from '../../core/holds.ts'
import { isOutage } from '../../core/outage.ts'
import type { DocumentPut, DocumentStore } from '../../core/ports.ts'
import type { QoS } from '../packets/packet.ts'
import {
  bytesOf,
  type MessagePlace,
  placeIn,
  type QueuedMessage,
  queuedName,
  topicQueueOf,
} from './documents.ts'
import { maximumQueued } from './queue-bounds.ts'
import { UntoldMessages } from './untold-messages.ts'

/** Messages that are read at once; each may be as large as a packet. */
const pageSize = 20
const keptAtOnce = 100
/** Twice what a client finds that was away for long. */
const mostUnacked = { messages: 2 * maximumQueued.messages, bytes: 2 * maximumQueued.bytes }
const nothing = Buffer.alloc(0)

/** What Aedes sends of the queue: with a packet id, or to be given one. */
export type ReplayedPacket =
  | (Pick<
      AedesPublishPacket,
      'topic' | 'payload' | 'qos' | 'retain' | 'dup' | 'brokerId' | 'brokerCounter'
    > & {
      readonly cmd: 'publish'
      readonly messageId: number | undefined
    })
  | { readonly cmd: 'pubrel'; readonly messageId: number }

/** What Aedes says of a packet that it is about to send. */
export type SentPacket = Pick<
  AedesPublishPacket,
  'topic' | 'payload' | 'qos' | 'brokerId' | 'brokerCounter'
> & {
  readonly cmd: string
  readonly messageId?: number | undefined
}

export interface OutgoingQueueParts {
  readonly documents: DocumentStore
  readonly clientId: string
  /** In whose name it is changed. */
  readonly hold: Hold | undefined
  /** Of the broker of this process. */
  readonly brokerId: string
  /** Resolves when the connection before this one of the client has ended its queue. */
  readonly before: Promise<void>
  /** Resolves when the client takes more; undefined: it does. */
  readonly room: () => Promise<void> | undefined
  /** The client is to be closed. */
  readonly onStuck: (why: string) => void
  /** Likewise: a message of another node has not come. */
  readonly onMissed: () => void
  readonly onFailed: (error: unknown) => void
}

/** A message that was sent. */
interface Unacked {
  readonly name: string
  readonly messageId: number
  readonly topic: string
  readonly payload: Buffer
  readonly qos: QoS
  isReceived: boolean
}

/**
 * The messages that a client which may come back is owed, as its connection has them: first what the store has, then what is
 * published from then on, each once and in its order.
 */
export class OutgoingQueue {
  readonly #parts: OutgoingQueueParts
  #hold: Hold | undefined
  /** By packet id, those that were sent; several where Aedes has gone through all ids meanwhile. */
  readonly #unacked = new Map<number, Unacked[]>()
  #unackedBytes = 0
  #isReplaying = true
  /** By broker, the newest message that came out of the store. */
  readonly #newest = new Map<string, number>()
  /** What was published during the replay, and is in the store, too. */
  #meanwhile: MessagePlace[] = []
  /** Names of messages that are on their way out of the store. */
  readonly #underWay = new Set<string>()
  readonly #untold: UntoldMessages
  #wake = () => {}
  #isEnded = false
  readonly #acked = new Set<string>()
  #removing: Promise<void> | undefined
  #ending: Promise<void> | undefined

  constructor(parts: OutgoingQueueParts) {
    this.#parts = parts
    this.#hold = parts.hold
    this.#untold = new UntoldMessages({ ...parts, isReading: () => this.#isReplaying })
  }

  /** The store has got a message from another node, or has lost it. */
  stored(name: string): void {
    this.#untold.stored(name)
  }

  /** A message is published. @returns whether it is to be sent now; otherwise it comes, or has come, out of the store */
  admits({ brokerId, brokerCounter }: Pick<AedesPublishPacket, 'brokerId' | 'brokerCounter'>): boolean {
    const place = { order: brokerCounter, brokerId }
    this.#untold.came(place)
    if (this.#isEnded || this.#hasCome(place)) return false
    if (!this.#isReplaying) return true
    this.#meanwhile.push(place)
    this.#wake()
    return false
  }

  /** What the store has. When it has come to its end, messages are to be sent as they are published. */
  async *replay(): AsyncGenerator<ReplayedPacket> {
    const { documents, clientId, before } = this.#parts
    await before
    const prefix = topicQueueOf(clientId)
    for (let after = prefix; ; ) {
      const page = await documents.list(prefix, { after, limit: pageSize })
      for (const [name, message] of page) yield* this.#give(name, message as QueuedMessage)
      const last = page.at(-1)
      if (!last || page.length < pageSize) break
      after = last[0]
    }
    while (!this.#isEnded) {
      const place = this.#meanwhile.shift()
      if (place) yield* this.#giveLater(place)
      else if (this.#underWay.size > 0) await new Promise<void>(resolve => (this.#wake = resolve))
      else break
    }
    this.#isReplaying = false
  }

  async *#giveLater(place: MessagePlace): AsyncGenerator<ReplayedPacket> {
    if (this.#hasCome(place)) return
    const { documents, clientId } = this.#parts
    const name = queuedName(clientId, place)
    const message = await documents.get(name)
    if (message) yield* this.#give(name, message as QueuedMessage)
  }

  async *#give(name: string, message: QueuedMessage): AsyncGenerator<ReplayedPacket> {
    await this.#parts.room()
    if (this.#isEnded) return
    const { order, brokerId } = placeIn(name)
    const { topic, payload, qos, messageId, isReceived } = message
    this.#newest.set(brokerId, order)
    this.#untold.came({ order, brokerId })
    this.#underWay.add(name)
    if (isReceived && messageId !== undefined) {
      this.#note({ name, messageId, topic, payload: nothing, qos, isReceived })
      yield { cmd: 'pubrel', messageId }
      return
    }
    yield {
      cmd: 'publish',
      topic,
      payload: Buffer.from(payload, 'base64'),
      qos,
      retain: false,
      // A process that was killed may have sent it.
      dup: messageId !== undefined || brokerId !== this.#parts.brokerId,
      messageId,
      brokerId,
      brokerCounter: order,
    }
  }

  /**
   * A packet is about to be sent. At QoS 2, what a client must not get twice is durable when this resolves.
   *
   * @throws HoldLost @throws ThingwireError of the store
   */
  async sends(packet: SentPacket): Promise<void> {
    const { messageId } = packet
    if (messageId === undefined || this.#isEnded) return
    if (packet.cmd === 'pubrel') await this.#received(messageId)
    else if (packet.qos > 0) await this.#sent(packet, messageId)
  }

  async #sent(
    { topic, payload, qos, brokerId, brokerCounter }: SentPacket,
    messageId: number,
  ): Promise<void> {
    const name = queuedName(this.#parts.clientId, { order: brokerCounter, brokerId })
    const sent = { name, messageId, topic, payload: bytesOf(payload), qos, isReceived: false }
    this.#note(sent)
    if (qos === 2) await this.#put({ [name]: documentOf(sent) })
    // Only now: what is published goes behind it.
    this.#arrived(name)
  }

  async #received(messageId: number): Promise<void> {
    const [unacked] = this.#unacked.get(messageId) ?? []
    if (!unacked) return
    this.#arrived(unacked.name)
    if (unacked.isReceived) return
    unacked.isReceived = true
    await this.#put({ [unacked.name]: documentOf(unacked) })
  }

  /** The client has it for good, or is not to have it. */
  acked(messageId: number): void {
    const all = this.#unacked.get(messageId)
    const unacked = all?.shift()
    if (all?.length === 0) this.#unacked.delete(messageId)
    if (!unacked) return
    this.#unackedBytes -= unacked.payload.length
    this.#arrived(unacked.name)
    this.#acked.add(unacked.name)
    this.#removing ??= this.#removeOn()
  }

  /**
   * Another connection has the client now: what is left to be done is done in its name, by `end`. But not if one of another node
   * had it in between: that has dealt with it.
   */
  handOver(hold: TakenHold): void {
    if (hold.before === this.#hold?.holder) this.#hold = hold
  }

  /**
   * The connection is gone: under which packet ids it was sent what, is kept. Can be called more than once.
   *
   * @throws HoldLost @throws ThingwireError of the store
   */
  end(): Promise<void> {
    this.#ending ??= this.#end().catch((error: unknown) => {
      this.#ending = undefined
      throw error
    })
    return this.#ending
  }

  async #end(): Promise<void> {
    this.#isEnded = true
    this.#untold.close()
    this.#wake()
    await this.#removing
    await this.#removeAcked()
    const sent = [...this.#unacked.values()].flat().filter(({ qos }) => qos === 1)
    for (let from = 0; from < sent.length; from += keptAtOnce) {
      const some = sent.slice(from, from + keptAtOnce)
      await this.#put(Object.fromEntries(some.map(each => [each.name, documentOf(each)])))
    }
    this.#unacked.clear()
  }

  #hasCome({ order, brokerId }: MessagePlace): boolean {
    return order <= (this.#newest.get(brokerId) ?? 0)
  }

  #note(unacked: Unacked): void {
    const all = this.#unacked.get(unacked.messageId)
    if (all) all.push(unacked)
    else this.#unacked.set(unacked.messageId, [unacked])
    this.#unackedBytes += unacked.payload.length
    const isTooMuch = this.#unacked.size > mostUnacked.messages || this.#unackedBytes > mostUnacked.bytes
    if (isTooMuch) this.#parts.onStuck('it acknowledges nothing')
  }

  #arrived(name: string): void {
    if (this.#underWay.delete(name)) this.#wake()
  }

  async #put(put: DocumentPut): Promise<void> {
    const hold = this.#hold
    await this.#parts.documents.put(put, hold).catch(async (error: unknown) => {
      if (!(error instanceof HoldLost) || this.#hold === hold) throw error
      await this.#put(put)
    })
  }

  /** What cannot be removed now, `end` removes. Never rejects. */
  async #removeOn(): Promise<void> {
    await this.#removeAcked().catch((error: unknown) => {
      if (!(error instanceof HoldLost || isOutage(error))) this.#parts.onFailed(error)
    })
    // What was acknowledged in between, goes with the next one.
    this.#removing = undefined
  }

  /** @throws HoldLost @throws ThingwireError of the store */
  async #removeAcked(): Promise<void> {
    while (this.#acked.size > 0) {
      const names = [...this.#acked]
      this.#acked.clear()
      try {
        await this.#put(Object.fromEntries(names.map(name => [name, null])))
      } catch (error) {
        for (const name of names) this.#acked.add(name)
        throw error
      }
    }
  }
}

function documentOf({ topic, payload, qos, messageId, isReceived }: Unacked): QueuedMessage {
  const message = { topic, payload: isReceived ? '' : payload.toString('base64'), qos, messageId }
  return isReceived ? { ...message, isReceived } : message
}
