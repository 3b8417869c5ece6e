import { partitionPoint } from '../../core/algorithms/partition-point.ts'

/** Where a message stands among the live messages: by write number, then by place in the write (`LiveWrite`). */
export interface MessagePosition {
  readonly writeNumber: number
  readonly place: number
}

export function isBehind(a: MessagePosition, b: MessagePosition): boolean {
  return a.writeNumber - b.writeNumber > 0 || (a.writeNumber === b.writeNumber && a.place > b.place)
}

/** A message that was sent. */
export interface Sent {
  readonly messageId: number
  readonly position: MessagePosition
  readonly isAcked: boolean
}

const maximumMessageId = 65_535

/**
 * The QoS 1 messages that a session was sent and has not acknowledged, and how far it has acknowledged all. No window is
 * narrower than the packet ids: the socket paces a client.
 */
export class Unacked {
  /** Everything up to here is acknowledged. */
  #acked: MessagePosition
  /** What was sent behind that, by position: from `#first` on, which is not acknowledged. */
  #sent: Sent[] = []
  #first = 0
  /** Packet ids in use; undefined for messages that have no position, being kept nowhere. */
  readonly #byId = new Map<number, Sent | undefined>()

  /** @param sent as of `sent` */
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

  /** What was sent behind `acked`, in order. */
  get sent(): readonly Sent[] {
    return this.#sent.slice(this.#first)
  }

  /** The newest that was sent; what is older is not owed any more. @param count at most so many */
  newest(count: number): { readonly acked: MessagePosition; readonly sent: readonly Sent[] } {
    const { sent } = this
    const newest = sent.slice(-count)
    return { acked: sent[sent.length - newest.length - 1]?.position ?? this.#acked, sent: newest }
  }

  /** Nothing is owed up to here. */
  settle(position: MessagePosition): void {
    if (this.#first === this.#sent.length && isBehind(position, this.#acked)) this.#acked = position
  }

  /**
   * Gives a message that is about to be sent its packet id.
   *
   * @param position undefined: it is not to be sent again to a client that comes back without having acknowledged it
   * @param ids of the connection, 1..65,535, one after another
   * @returns undefined if every packet id is in use
   */
  take(position: MessagePosition | undefined, ids: { nextMessageId(): number }): number | undefined {
    if (this.#byId.size === maximumMessageId) return undefined
    // One that is never acknowledged must not keep all that are.
    const oldest = this.#sent[this.#first]
    if (oldest && this.#sent.length - this.#first === maximumMessageId) this.ack(oldest.messageId)
    let messageId = ids.nextMessageId()
    while (this.#byId.has(messageId)) messageId = ids.nextMessageId()
    if (position) this.#add(messageId, position)
    else this.#byId.set(messageId, undefined)
    return messageId
  }

  /** Whether a message has this packet id and is not acknowledged. */
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

  /** Whether a message is still owed to the session, and under which packet id it was sent, if it was. */
  owed(position: MessagePosition): { readonly messageId: number | undefined } | undefined {
    if (!isBehind(position, this.#acked)) return undefined
    const sent = this.#find(position)
    return sent?.isAcked ? undefined : { messageId: sent?.messageId }
  }

  /** The session has a new connection: only these messages are sent again, all others are not owed any more. */
  keepOnly(messageIds: ReadonlySet<number>): void {
    for (const messageId of [...this.#byId.keys()]) if (!messageIds.has(messageId)) this.ack(messageId)
  }

  #find(position: MessagePosition): Sent | undefined {
    const found = this.#sent[this.#placeOf(position)]
    return found && !isBehind(found.position, position) ? found : undefined
  }

  /** Where in `#sent` the first stands that was not sent before a position. */
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
    // To shift an array of many thousands costs as much as it is long.
    if (this.#first * 2 < this.#sent.length) return
    this.#sent = this.#sent.slice(this.#first)
    this.#first = 0
  }
}
