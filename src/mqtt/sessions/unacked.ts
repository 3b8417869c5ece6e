import { partitionPoint } from '../../core/algorithms/partition-point.ts'

/** Position of a message in the order of live messages: by write number, then by place in the write (see `LiveWrite`). */
export interface MessagePosition {
  readonly writeNumber: number
  /** Of a copy for a subscription identifier: a fraction behind the place of the message (see `placeOfCopy`). */
  readonly place: number
}

/** Largest subscription identifier (MQTT5-1.5.5). */
const largestIdentifier = 0x0fff_ffff

/** Every place and identifier fit in a double: a write has fewer than 2^14 places. @param identifier 0: none */
export function placeOfCopy(place: number, identifier: number): number {
  return place + identifier / (largestIdentifier + 1)
}

export function isBehind(a: MessagePosition, b: MessagePosition): boolean {
  return a.writeNumber - b.writeNumber > 0 || (a.writeNumber === b.writeNumber && a.place > b.place)
}

export interface Sent {
  readonly messageId: number
  readonly position: MessagePosition
  readonly isAcked: boolean
}

const maximumMessageId = 65_535

/** The unacknowledged QoS 1 messages of a session. Their number is limited only by the number of packet ids. */
export class Unacked {
  /** Every message up to and including this position is acknowledged. */
  #acked: MessagePosition
  /** Sent messages, in order. Those before the index `#first` are already acknowledged; the others are after `#acked`. */
  #sent: Sent[] = []
  /** Index of the first unacknowledged message. */
  #first = 0
  /** Unacknowledged messages by packet id; undefined stands for a message that has no position and is not sent again. */
  readonly #byId = new Map<number, Sent | undefined>()

  constructor(acked: MessagePosition, sent: readonly Sent[] = []) {
    this.#acked = acked
    for (const each of sent) {
      this.#sent.push(each)
      if (!each.isAcked) this.#byId.set(each.messageId, each)
    }
  }

  get acked(): MessagePosition {
    return this.#acked
  }

  /** Sent messages at positions after `acked`, in order. */
  get sent(): readonly Sent[] {
    return this.#sent.slice(this.#first)
  }

  /** The state in which only the newest `count` sent messages are owed. */
  newest(count: number): { readonly acked: MessagePosition; readonly sent: readonly Sent[] } {
    const { sent } = this
    const newest = sent.slice(-count)
    return { acked: sent[sent.length - newest.length - 1]?.position ?? this.#acked, sent: newest }
  }

  /** Moves `acked` forward to the position if all sent messages are acknowledged. */
  settle(position: MessagePosition): void {
    if (this.#first === this.#sent.length && isBehind(position, this.#acked)) this.#acked = position
  }

  /**
   * Assigns a packet id to a message.
   *
   * @param position undefined if the message is never sent again, even if the client does not acknowledge it
   * @param ids counter of the connection, 1 to 65,535
   * @returns undefined if every packet id is in use
   */
  take(position: MessagePosition | undefined, ids: { nextMessageId(): number }): number | undefined {
    if (this.#byId.size === maximumMessageId) return undefined
    // A message that is never acknowledged must not keep all later messages in memory.
    const oldest = this.#sent[this.#first]
    if (oldest && this.#sent.length - this.#first === maximumMessageId) this.ack(oldest.messageId)
    let messageId = ids.nextMessageId()
    while (this.#byId.has(messageId)) messageId = ids.nextMessageId()
    if (position) this.#add(messageId, position)
    else this.#byId.set(messageId, undefined)
    return messageId
  }

  /** Whether an unacknowledged message has this packet id. */
  uses(messageId: number): boolean {
    return this.#byId.has(messageId)
  }

  /** @returns whether the packet id was in use */
  ack(messageId: number): boolean {
    const sent = this.#byId.get(messageId)
    if (!this.#byId.delete(messageId)) return false
    if (sent) this.#ackSent(sent)
    return true
  }

  /** The packet id under which an owed message was sent, if it was sent; undefined if the message is not owed. */
  owed(position: MessagePosition): { readonly messageId: number | undefined } | undefined {
    if (!isBehind(position, this.#acked)) return undefined
    const sent = this.#find(position)
    return sent?.isAcked ? undefined : { messageId: sent?.messageId }
  }

  /** Call this for a new connection that sends only these messages again: all other messages then count as acknowledged. */
  keepOnly(messageIds: ReadonlySet<number>): void {
    for (const messageId of [...this.#byId.keys()]) if (!messageIds.has(messageId)) this.ack(messageId)
  }

  #find(position: MessagePosition): Sent | undefined {
    const found = this.#sent[this.#placeOf(position)]
    return found && !isBehind(found.position, position) ? found : undefined
  }

  /** Index of the first message in `#sent` at or after the position. */
  #placeOf(position: MessagePosition): number {
    return partitionPoint(this.#sent, sent => isBehind(position, sent.position), this.#first)
  }

  #ackSent(sent: Sent): void {
    const place = this.#placeOf(sent.position)
    this.#sent[place] = { ...sent, isAcked: true }
    if (place === this.#first) this.#advance()
  }

  #add(messageId: number, position: MessagePosition): void {
    const sent = { messageId, position, isAcked: false }
    this.#sent.push(sent)
    this.#byId.set(messageId, sent)
  }

  #advance(): void {
    for (let first = this.#sent[this.#first]; first?.isAcked; first = this.#sent[this.#first]) {
      this.#acked = first.position
      this.#first++
    }
    // Removes acknowledged entries only when they are at least half of the array, since each removal copies the rest.
    if (this.#first * 2 < this.#sent.length) return
    this.#sent = this.#sent.slice(this.#first)
    this.#first = 0
  }
}
