import type { AedesPublishPacket } from 'aedes'
import { listDocuments } from '../../core/list-documents.ts'
import { type Lock, LockLost, type TakenLock } from '../../core/locks.ts'
import type { DocumentPut, DocumentStore } from '../../core/ports.ts'
import {
  type MessageDocument,
  type MessagePlace,
  type OwedDocument,
  placeIn,
  placeOf,
  placeText,
  topicMessagePrefix,
  topicQueueOf,
} from './documents.ts'
import type { RelayedConnection } from './relayed-connection.ts'

/** Messages that are read at once, as long as those before have fewer bytes: each may be as large as a packet. */
const readAtOnce = { messages: 100, bytes: 256 * 1024 }
const keptAtOnce = 100
/** Twice what a client finds that was away for long; its acks alone free the store of it while it is connected. */
const mostUnacked = { messages: 20_000, bytes: 32 * 1024 * 1024 }

/** A message with a packet id, or to be given one, or PUBREL. */
export type OutgoingPacket = AedesPublishPacket | { readonly cmd: 'pubrel'; readonly messageId: number }

interface OutgoingQueueParts {
  readonly documents: DocumentStore
  readonly clientId: string
  readonly connection: Pick<RelayedConnection, 'lock' | 'live' | 'close'>
  /** Of the broker of this process. */
  readonly brokerId: string
  /** Resolves when the connection before this one of the client has ended its queue. */
  readonly before: Promise<void>
  /** Called with what the store fails, too. */
  readonly onFailed: (error: unknown) => void
}

/** A message that was sent. */
interface Unacked {
  /** Of its entry. */
  readonly name: string
  owed: OwedDocument
}

/**
 * The messages that a client which may come back is owed, as its connection has them: first what the store has, then what is
 * published from then on, each once and in its order.
 */
export class OutgoingQueue {
  readonly #parts: OutgoingQueueParts
  /** In whose name it is changed. */
  #lock: Lock | undefined
  /** By packet id, those that were sent; several where Aedes has gone through all ids meanwhile. */
  readonly #unacked = new Map<number, Unacked[]>()
  #unackedBytes = 0
  /** Nothing but what the store has is sent, at QoS 1 and 2. */
  isReplaying = true
  #onReplayed = () => {}
  /** Resolves when messages are sent as they are published. */
  readonly replayed = new Promise<void>(resolve => (this.#onReplayed = resolve))
  /** By broker, the newest message that came out of the store. */
  readonly #newest = new Map<string, number>()
  /** What was published during the replay, and is in the store, too. */
  readonly #meanwhile: MessagePlace[] = []
  /** Name of the entry that is on its way out of the store: one at a time, since Aedes takes as many as it is given. */
  #underWay = ''
  #onSent = () => {}
  #isEnded = false
  readonly #acked = new Set<string>()
  #removing: Promise<void> | undefined
  #ending: Promise<void> | undefined

  constructor(parts: OutgoingQueueParts) {
    this.#parts = parts
    this.#lock = parts.connection.lock
  }

  /** A message is published. @returns whether it is to be sent now; otherwise it comes, or has come, out of the store */
  admits(packet: AedesPublishPacket): boolean {
    const place = placeOf(packet)
    if (this.#isEnded || this.#hasCome(place)) return false
    if (this.isReplaying) this.#meanwhile.push(place)
    return !this.isReplaying
  }

  /** What the store has. When it has come to its end, messages are to be sent as they are published. */
  async *replay(): AsyncGenerator<OutgoingPacket> {
    const { documents, clientId, before } = this.#parts
    await before
    const prefix = topicQueueOf(clientId)
    let some: [string, OwedDocument][] = []
    let bytes = 0
    for await (const entry of listDocuments<OwedDocument>(documents, prefix)) {
      if (this.#isEnded) break
      some.push(entry)
      bytes += placeIn(entry[0]).bytes
      if (some.length < readAtOnce.messages && bytes < readAtOnce.bytes) continue
      yield* this.#give(some)
      some = []
      bytes = 0
    }
    yield* this.#give(some)
    for (let next = this.#meanwhile.shift(); next && !this.#isEnded; next = this.#meanwhile.shift()) {
      if (this.#hasCome(next)) continue
      const place = placeText(next)
      const owed = await documents.get(prefix + place)
      if (owed) yield* this.#give([[place, owed as OwedDocument]])
    }
    this.isReplaying = false
    this.#onReplayed()
  }

  async *#give(some: readonly [place: string, OwedDocument][]): AsyncGenerator<OutgoingPacket> {
    const { documents, clientId } = this.#parts
    const messages = await Promise.all(some.map(([place]) => documents.get(topicMessagePrefix + place)))
    for (const [index, [place, owed]] of some.entries()) {
      if (this.#isEnded) return
      const { order, brokerId } = placeIn(place)
      this.#newest.set(brokerId, order)
      const name = topicQueueOf(clientId) + place
      const packet = this.#packetOf(name, owed, messages[index] as MessageDocument | undefined)
      if (!packet) continue
      this.#underWay = name
      const sent = new Promise<void>(resolve => (this.#onSent = resolve))
      yield packet
      await sent
    }
  }

  #packetOf(name: string, owed: OwedDocument, message?: MessageDocument): OutgoingPacket | undefined {
    const { qos, messageId, isReceived } = owed
    if (isReceived && messageId !== undefined) {
      this.#note(messageId, { name, owed })
      return { cmd: 'pubrel', messageId }
    }
    // It was dropped meanwhile, as one of too many.
    if (!message) return undefined
    const { order, brokerId } = placeIn(name)
    return {
      cmd: 'publish',
      topic: message.topic,
      payload: Buffer.from(message.payload, 'base64'),
      qos,
      retain: false,
      // A process that was killed may have sent it.
      dup: messageId !== undefined || brokerId !== this.#parts.brokerId,
      ...(messageId !== undefined && { messageId }),
      brokerId,
      brokerCounter: order,
    }
  }

  /**
   * A packet is about to be sent; one that the store had, when the client takes more. At QoS 2, what a client must not get twice is
   * durable when this resolves.
   *
   * @throws LockLost @throws ThingwireError of the store
   */
  async sends(packet: OutgoingPacket): Promise<void> {
    const { cmd, messageId } = packet
    if (this.isReplaying && cmd === 'publish') await this.#parts.connection.live.brokerPackets.room()
    if (messageId === undefined || this.#isEnded) return
    if (packet.cmd === 'pubrel') await this.#received(messageId)
    else if (packet.qos > 0) await this.#sent(packet, messageId)
  }

  async #sent(packet: AedesPublishPacket, messageId: number): Promise<void> {
    const { qos } = packet
    const name = topicQueueOf(this.#parts.clientId) + placeText(placeOf(packet))
    const owed = { qos, messageId }
    this.#note(messageId, { name, owed })
    if (qos === 2) await this.#put({ [name]: owed })
    // Only now: what is published goes behind it.
    if (name === this.#underWay) this.#onSent()
  }

  async #received(messageId: number): Promise<void> {
    const all = this.#unacked.get(messageId) ?? []
    const unacked = all.find(({ name }) => name === this.#underWay) ?? all[0]
    if (!unacked) return
    if (!unacked.owed.isReceived) {
      unacked.owed = { ...unacked.owed, isReceived: true }
      await this.#put({ [unacked.name]: unacked.owed })
    }
    if (unacked.name === this.#underWay) this.#onSent()
  }

  /** The client has it for good, or is not to have it. */
  acked(messageId: number): void {
    const all = this.#unacked.get(messageId)
    const unacked = all?.shift()
    if (all?.length === 0) this.#unacked.delete(messageId)
    if (!unacked) return
    this.#unackedBytes -= placeIn(unacked.name).bytes
    this.#acked.add(unacked.name)
    // What cannot be removed now, goes with the next one, or `end` removes it.
    this.#removing ??= this.#removeAcked()
      .catch(this.#parts.onFailed)
      .finally(() => (this.#removing = undefined))
  }

  /**
   * Another connection has the client now: what is left to be done is done in its name, by `end`. But not if one of another node
   * had it in between: that has dealt with it.
   */
  handOver(lock: TakenLock): void {
    if (lock.before === this.#lock?.owner) this.#lock = lock
  }

  /**
   * The connection is gone: under which packet ids it was sent what, is kept. Can be called more than once.
   *
   * @throws LockLost @throws ThingwireError of the store
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
    this.#onSent()
    await this.#removing
    await this.#removeAcked()
    const sent = [...this.#unacked.values()].flat().filter(({ owed }) => owed.qos === 1)
    for (let from = 0; from < sent.length; from += keptAtOnce) {
      const some = sent.slice(from, from + keptAtOnce)
      await this.#put(Object.fromEntries(some.map(({ name, owed }) => [name, owed])))
    }
    this.#unacked.clear()
  }

  #hasCome({ order, brokerId }: MessagePlace): boolean {
    return order <= (this.#newest.get(brokerId) ?? 0)
  }

  #note(messageId: number, unacked: Unacked): void {
    const all = this.#unacked.get(messageId)
    if (all) all.push(unacked)
    else this.#unacked.set(messageId, [unacked])
    this.#unackedBytes += placeIn(unacked.name).bytes
    if (this.#unacked.size > mostUnacked.messages || this.#unackedBytes > mostUnacked.bytes)
      this.#parts.connection.close(new Error('the subscriber is stuck: it acknowledges nothing'))
  }

  async #put(put: DocumentPut): Promise<void> {
    const lock = this.#lock
    await this.#parts.documents.put(put, 'essential', lock).catch(async (error: unknown) => {
      if (!(error instanceof LockLost) || this.#lock === lock) throw error
      await this.#put(put)
    })
  }

  /** @throws LockLost @throws ThingwireError of the store */
  async #removeAcked(): Promise<void> {
    while (this.#acked.size > 0) {
      const names = [...this.#acked]
      await this.#put(Object.fromEntries(names.map(name => [name, null])))
      for (const name of names) this.#acked.delete(name)
    }
  }
}
