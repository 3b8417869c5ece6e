import type { AedesPublishPacket } from 'aedes'
import { readSlices } from '../../core/async/slices.ts'
import { type MessageId, placeOf } from './documents.ts'
import type { RelayedConnection } from './relayed-connection.ts'
import { isSame, type RetainedMessage, type RetainedMessages } from './retained-messages.ts'

/** Pieces of the search that are looked at between two looks at the clock. */
const piecesAtOnce = 50
/** What is sent in one turn: when that many messages, or bytes of their payloads, are reached, the next one waits. */
const sentAtOnce = { messages: 50, bytes: 64 * 1024 }

/**
 * The retained messages that one SUBSCRIBE asks for, each once: a message that comes to the client as it is published, from the
 * making of this object on, is left out.
 */
export class RetainedStream {
  readonly #retained: RetainedMessages
  readonly #connection: Pick<RelayedConnection, 'client' | 'live'>
  /** By topic that has a retained message: that, if it came as it was published, otherwise another message that did. */
  readonly #came = new Map<string, MessageId>()
  /** Those that Aedes has not sent yet. */
  readonly #sending = new Set<RetainedMessage>()
  #sends: Promise<void>[] = []
  #bytes = 0

  constructor(retained: RetainedMessages, connection: Pick<RelayedConnection, 'client' | 'live'>) {
    this.#retained = retained
    this.#connection = connection
  }

  /** A message goes to the client as it is published. */
  note(packet: AedesPublishPacket): void {
    const { topic } = packet
    const came = placeOf(packet)
    const newest = this.#retained.newest(topic)
    if (newest && (isSame(newest, came) || !this.#came.has(topic))) this.#came.set(topic, came)
  }

  /** Whether a message on this topic is being sent, and still the newest. */
  isDue(topic: string): boolean {
    const newest = this.#retained.newest(topic)
    return newest !== undefined && this.#sending.has(newest) && !isSame(this.#came.get(topic), newest)
  }

  /** To be called once, when the filters are live. */
  async send(filters: readonly string[]): Promise<void> {
    const late: string[] = []
    let pieces = 0
    for (const topics of this.#retained.matching(filters)) {
      if (++pieces % piecesAtOnce === 0) await readSlices.pause()
      for (const topic of topics) if (!(await this.#give(topic))) late.push(topic)
    }
    for (const topic of late) {
      while (!(await this.#give(topic))) await this.#retained.untilPassed()
    }
    await this.#sent()
  }

  /** @returns false: it may come as it is published */
  async #give(topic: string): Promise<boolean> {
    const { live, client } = this.#connection
    await live.brokerPackets.room()
    const newest = this.#retained.newest(topic)
    if (!newest || client.closed) return true
    const came = this.#came.get(topic)
    // Behind one that came, it comes: it need not be waited for.
    if (newest.isComing) return came !== undefined
    if (isSame(came, newest)) return true
    this.#sending.add(newest)
    this.#sends.push(this.#send(newest))
    this.#bytes += newest.payload.length
    if (this.#sending.size >= sentAtOnce.messages || this.#bytes > sentAtOnce.bytes) await this.#sent()
    return true
  }

  /** Resolves when Aedes has sent it, or has left it out. */
  #send({ topic, payload, qos }: RetainedMessage): Promise<void> {
    const packet = { cmd: 'publish' as const, topic, payload, qos, retain: true, dup: false }
    return new Promise(resolve => this.#connection.client.publish(packet, () => resolve()))
  }

  async #sent(): Promise<void> {
    await Promise.all(this.#sends)
    this.#sends = []
    this.#sending.clear()
    this.#bytes = 0
  }
}
