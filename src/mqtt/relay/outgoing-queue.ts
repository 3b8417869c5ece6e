import type { AedesPublishPacket } from 'aedes'
import { listDocuments } from '../../core/list-documents.ts'
import { type Lock, LockLost, type TakenLock } from '../../core/locks.ts'
import type { DocumentPut, DocumentStore } from '../../core/ports.ts'
import { ConnectionClosed } from '../packets/outcomes.ts'
import {
  decoded,
  extrasOf,
  identifierOf,
  type MessageDocument,
  type MessagePlace,
  messageNameOf,
  type OwedDocument,
  originOf,
  type PacketExtras,
  placeIn,
  placeOf,
  placeText,
  topicQueueOf,
} from './documents.ts'
import type { RelayedConnection } from './relayed-connection.ts'

/** A read from the store ends when it has this many messages or bytes. */
const readAtOnce = { messages: 100, bytes: 256 * 1024 }
const keptAtOnce = 100
/** A client with more unacknowledged messages or bytes is disconnected. These limits are twice the limits for an absent client. */
const mostUnacked = { messages: 20_000, bytes: 32 * 1024 * 1024 }

export type OutgoingPacket = AedesPublishPacket | { readonly cmd: 'pubrel'; readonly messageId: number }

interface OutgoingQueueParts {
  readonly documents: DocumentStore
  readonly clientId: string
  readonly connection: Pick<RelayedConnection, 'lock' | 'live' | 'close'>
  readonly brokerId: string
  /** Resolves when the queue of the client's previous connection has ended. */
  readonly before: Promise<void>
  /** Called with errors, including those of the store. */
  readonly onFailed: (error: unknown) => void
}

interface Unacked {
  /** Name of the message's `OwedDocument`. */
  readonly name: string
  owed: OwedDocument
}

/** Sends messages to a persistent session, each once and in order: first stored messages, then messages as they are published. */
export class OutgoingQueue {
  readonly #parts: OutgoingQueueParts
  /** The lock under which documents are changed. */
  #lock: Lock | undefined
  /** Sent messages by packet id. If Aedes has used all ids, several messages may have the same id. */
  readonly #unacked = new Map<number, Unacked[]>()
  #unackedBytes = 0
  /** While this is true, only stored messages are sent at QoS 1 and 2. */
  isReplaying = true
  #onReplayed = () => {}
  /** Resolves when the replay has ended. */
  readonly replayed = new Promise<void>(resolve => (this.#onReplayed = resolve))
  /** The `order` of the newest message that was read from the store, by broker id. */
  readonly #newest = new Map<string, number>()
  /** Places of messages published during the replay. At its end, the replay reads these messages from the store. */
  readonly #meanwhile: MessagePlace[] = []
  /** Name of the stored message that is being sent. Only one is sent at a time, since Aedes does not slow down a producer. */
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

  /** @returns whether to send a published message now. If not, the message was or will be read from the store. */
  admits(packet: AedesPublishPacket): boolean {
    const place = placeOf(packet)
    if (this.#isEnded || this.#hasCome(place)) return false
    if (this.isReplaying) this.#meanwhile.push(place)
    return !this.isReplaying
  }

  /** The stored messages. After the last stored message, messages are sent as they are published. */
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
    const messages = await Promise.all(some.map(([place]) => documents.get(messageNameOf(place))))
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
    const { qos, messageId, isReceived, isRetained = false } = owed
    if (isReceived && messageId !== undefined) {
      this.#note(messageId, { name, owed })
      return { cmd: 'pubrel', messageId }
    }
    // The message was dropped in the meantime, since the limits of the session were exceeded.
    if (!message) return undefined
    const { order, brokerId, expiresAt, bytes } = placeIn(name)
    const properties: PacketExtras = {
      properties: decoded(message.properties),
      expiresAt,
      copy: { identifier: identifierOf(brokerId), qos, isRetained },
      isSent: messageId !== undefined,
      bytes,
    }
    return {
      cmd: 'publish',
      topic: message.topic,
      payload: Buffer.from(message.payload, 'base64'),
      qos,
      retain: false,
      // A process that was killed may have sent this message without storing its packet id.
      dup: messageId !== undefined || originOf(brokerId) !== this.#parts.brokerId,
      ...(messageId !== undefined && { messageId }),
      brokerId,
      brokerCounter: order,
      properties: properties as object,
    }
  }

  /**
   * Must resolve before Aedes sends a packet. For a stored message, waits until there is room. Stores the packet id of a QoS 2
   * message, so that the client does not get the message twice.
   *
   * @throws LockLost @throws ThingwireError if the store fails
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
    const isRetained = extrasOf(packet).copy?.isRetained === true
    const owed: OwedDocument = { qos, messageId, ...(isRetained && { isRetained }) }
    this.#note(messageId, { name, owed })
    if (qos === 2) await this.#put({ [name]: owed })
    // The replay waits for this call. Otherwise, newly published messages could overtake this message when the replay ends.
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

  /** Call this when the client has acknowledged the message, or must not get it. */
  acked(messageId: number): void {
    const all = this.#unacked.get(messageId)
    const unacked = all?.shift()
    if (all?.length === 0) this.#unacked.delete(messageId)
    if (!unacked) return
    this.#unackedBytes -= placeIn(unacked.name).bytes
    this.#acked.add(unacked.name)
    // If the removal fails, the next ack or `end` tries again.
    this.#removing ??= this.#removeAcked()
      .catch(this.#parts.onFailed)
      .finally(() => (this.#removing = undefined))
  }

  /**
   * Call this with the lock of the client's new connection, so that `end` can finish under that lock. Has no effect if another node
   * had the client in between: that node has already taken over the queue.
   */
  handOver(lock: TakenLock): void {
    if (lock.before === this.#lock?.owner) this.#lock = lock
  }

  /** Stores the packet ids of sent messages. May be called more than once. @throws LockLost @throws ThingwireError if the store fails */
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
      this.#parts.connection.close(new ConnectionClosed('stuck', 'it acknowledges nothing'))
  }

  async #put(put: DocumentPut): Promise<void> {
    const lock = this.#lock
    await this.#parts.documents.put(put, 'essential', lock).catch(async (error: unknown) => {
      if (!(error instanceof LockLost) || this.#lock === lock) throw error
      await this.#put(put)
    })
  }

  /** @throws LockLost @throws ThingwireError if the store fails */
  async #removeAcked(): Promise<void> {
    while (this.#acked.size > 0) {
      const names = [...this.#acked]
      await this.#put(Object.fromEntries(names.map(name => [name, null])))
      for (const name of names) this.#acked.delete(name)
    }
  }
}
