import type { AedesPublishPacket } from 'aedes'
import { type Hold, HoldLost, type TakenHold } from '../../core/holds.ts'
import { isOutage } from '../../core/outage.ts'
import type { DocumentPut, DocumentStore } from '../../core/ports.ts'
import type { QoS } from '../packets/packet.ts'
import {
  bytesOf,
  type MessageDocument,
  type MessagePlace,
  type OwedDocument,
  placeIn,
  placeText,
  placeTextIn,
  topicMessagePrefix,
  topicQueueOf,
} from './documents.ts'

const entriesAtOnce = 100
const keptAtOnce = 100
/** Twice what a client finds that was away for long; its acks alone free the store of it while it is connected. */
const mostUnacked = { messages: 20_000, bytes: 32 * 1024 * 1024 }
/** Bytes of messages that Aedes has been given and has not sent: it takes as many as it is given. */
const mostUnderWay = 256 * 1024

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
  readonly onFailed: (error: unknown) => void
}

/** A message that was sent. */
interface Unacked {
  /** Of its entry. */
  readonly name: string
  readonly messageId: number
  readonly qos: QoS
  isReceived: boolean
}

/** What tells a message from all others, and its size. */
type Placed = Pick<AedesPublishPacket, 'topic' | 'payload' | 'brokerId' | 'brokerCounter'>

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
  /** Names of messages that are on their way out of the store, and their bytes. */
  readonly #underWay = new Map<string, number>()
  #underWayBytes = 0
  #wake = () => {}
  #isEnded = false
  readonly #acked = new Set<string>()
  #removing: Promise<void> | undefined
  #ending: Promise<void> | undefined

  constructor(parts: OutgoingQueueParts) {
    this.#parts = parts
    this.#hold = parts.hold
  }

  /** A message is published. @returns whether it is to be sent now; otherwise it comes, or has come, out of the store */
  admits(packet: Placed): boolean {
    const place = placeOf(packet)
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
      const page = await documents.list(prefix, { after, limit: entriesAtOnce })
      yield* this.#giveAll(page as [string, OwedDocument][])
      const last = page.at(-1)
      if (!last || page.length < entriesAtOnce) break
      after = last[0]
    }
    while (!this.#isEnded) {
      const place = this.#meanwhile.shift()
      if (place) yield* this.#giveLater(place)
      else if (this.#underWay.size > 0) await this.#change()
      else break
    }
    this.#isReplaying = false
  }

  #change(): Promise<void> {
    return new Promise(resolve => (this.#wake = resolve))
  }

  async *#giveLater(place: MessagePlace): AsyncGenerator<ReplayedPacket> {
    if (this.#hasCome(place)) return
    const { documents, clientId } = this.#parts
    const name = topicQueueOf(clientId) + placeText(place)
    const owed = await documents.get(name)
    if (owed) yield* this.#giveAll([[name, owed as OwedDocument]])
  }

  /** Reads some messages at once, and as many as have `mostUnderWay` bytes: each may be as large as a packet. */
  async *#giveAll(owed: readonly [name: string, OwedDocument][]): AsyncGenerator<ReplayedPacket> {
    for (let next = 0; next < owed.length && !this.#isEnded; ) {
      const from = next
      let bytes = 0
      while (next < owed.length && (bytes === 0 || bytes < mostUnderWay))
        bytes += placeIn(owed[next++]?.[0] ?? '').bytes
      const some = owed.slice(from, next)
      const read = ([name]: [string, unknown]) =>
        this.#parts.documents.get(topicMessagePrefix + placeTextIn(name))
      const messages = await Promise.all(some.map(read))
      for (const [place, [name, each]] of some.entries())
        yield* this.#give(name, each, messages[place] as MessageDocument | undefined)
    }
  }

  async *#give(
    name: string,
    { qos, messageId, isReceived }: OwedDocument,
    message: MessageDocument | undefined,
  ): AsyncGenerator<ReplayedPacket> {
    await this.#parts.room()
    while (this.#underWayBytes > mostUnderWay && !this.#isEnded) await this.#change()
    if (this.#isEnded) return
    const { order, brokerId, bytes } = placeIn(name)
    this.#newest.set(brokerId, order)
    if (isReceived && messageId !== undefined) {
      this.#leaves(name, 0)
      this.#note({ name, messageId, qos, isReceived })
      yield { cmd: 'pubrel', messageId }
      return
    }
    // It was dropped meanwhile, as one of too many.
    if (!message) return
    const { topic, payload } = message
    this.#leaves(name, bytes)
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

  async #sent(packet: SentPacket, messageId: number): Promise<void> {
    const { qos } = packet
    const name = topicQueueOf(this.#parts.clientId) + placeText(placeOf(packet))
    const sent = { name, messageId, qos, isReceived: false }
    this.#note(sent)
    if (qos === 2) await this.#put({ [name]: owedOf(sent) })
    // Only now: what is published goes behind it.
    this.#arrived(name)
  }

  async #received(messageId: number): Promise<void> {
    const [unacked] = this.#unacked.get(messageId) ?? []
    if (!unacked) return
    this.#arrived(unacked.name)
    if (unacked.isReceived) return
    unacked.isReceived = true
    await this.#put({ [unacked.name]: owedOf(unacked) })
  }

  /** The client has it for good, or is not to have it. */
  acked(messageId: number): void {
    const all = this.#unacked.get(messageId)
    const unacked = all?.shift()
    if (all?.length === 0) this.#unacked.delete(messageId)
    if (!unacked) return
    this.#unackedBytes -= placeIn(unacked.name).bytes
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
    this.#wake()
    await this.#removing
    await this.#removeAcked()
    const sent = [...this.#unacked.values()].flat().filter(({ qos }) => qos === 1)
    for (let from = 0; from < sent.length; from += keptAtOnce) {
      const some = sent.slice(from, from + keptAtOnce)
      await this.#put(Object.fromEntries(some.map(each => [each.name, owedOf(each)])))
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
    this.#unackedBytes += placeIn(unacked.name).bytes
    const isTooMuch = this.#unacked.size > mostUnacked.messages || this.#unackedBytes > mostUnacked.bytes
    if (isTooMuch) this.#parts.onStuck('it acknowledges nothing')
  }

  #leaves(name: string, bytes: number): void {
    this.#underWay.set(name, bytes)
    this.#underWayBytes += bytes
  }

  #arrived(name: string): void {
    this.#underWayBytes -= this.#underWay.get(name) ?? 0
    if (this.#underWay.delete(name)) this.#wake()
  }

  async #put(put: DocumentPut): Promise<void> {
    const hold = this.#hold
    await this.#parts.documents.put(put, 'essential', hold).catch(async (error: unknown) => {
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

function placeOf({ topic, payload, brokerId, brokerCounter }: Placed): MessagePlace {
  const bytes = Buffer.byteLength(topic) + bytesOf(payload).length
  return { order: brokerCounter, brokerId, bytes }
}

function owedOf({ qos, messageId, isReceived }: Unacked): OwedDocument {
  return isReceived ? { qos, messageId, isReceived } : { qos, messageId }
}
