import type { Ticket } from '../../core/async/ticket.ts'
import type { Observer } from '../../core/observer.ts'
import type { WriteAnswer } from '../../core/ports.ts'
import type { ThingwireError } from '../../errors.ts'
import type { Codec } from '../packets/codec.ts'
import type { PublishOutcome } from '../packets/outcomes.ts'
import type { Publish, QoS } from '../packets/packet.ts'
import type { Inbound } from './inbound.ts'
import type { ReadingTime } from './reading-time.ts'

class Entry implements Ticket<unknown>, PublishOutcome {
  readonly qos: QoS
  readonly messageId: number
  readonly bytes: number
  /** When the packet was read, by the clock of `ReadingTime`, milliseconds. */
  readonly takenAt: number
  readonly #owner: Pick<AcksOwner, 'codec'>
  readonly #onSettled: () => void
  readonly #onFailed: () => void
  isDone = false
  refusal: ThingwireError | undefined
  rejected: WriteAnswer['rejected']
  /** Set if the packet is not acknowledged. */
  error: Error | undefined

  constructor(
    packet: Publish,
    takenAt: number,
    owner: Pick<AcksOwner, 'codec'>,
    onSettled: () => void,
    onFailed: () => void,
  ) {
    this.#owner = owner
    this.qos = packet.qos
    this.messageId = packet.messageId
    this.bytes = packet.payload.length
    this.takenAt = takenAt
    this.#onSettled = onSettled
    this.#onFailed = onFailed
  }

  resolve(answer?: unknown): void {
    this.rejected = (answer as WriteAnswer | undefined)?.rejected
    this.isDone = true
    this.#onSettled()
  }

  reject(error: Error): void {
    if (this.#owner.codec.acknowledges(error, this.qos)) {
      this.refusal = error
      this.resolve()
    } else {
      this.error = error
      this.#onFailed()
      this.#onSettled()
    }
  }
}

interface AcksOwner {
  readonly codec: Pick<Codec, 'acks' | 'acknowledges'>
  /** Whether nothing can be sent any more. */
  readonly isClosed: boolean
  send(packets: Buffer): void
  /** Closes the connection for a packet that has failed. */
  close(error: Error): void
}

/** Sends acks in the order of their packets (MQTT-4.6.0-2, -3; contract §4). Acks of the same group commit are sent together. */
export class Acks {
  readonly #owner: AcksOwner
  readonly #readingTime: Pick<ReadingTime, 'readAt'>
  readonly #inbound: Pick<Inbound, 'begun' | 'finished'>
  readonly #observer: Observer | undefined
  #entries: Entry[] = []
  /** Number of entries at QoS 1. */
  unacked = 0
  #isFlushing = false

  constructor(
    owner: AcksOwner,
    inbound: Pick<Inbound, 'begun' | 'finished'>,
    readingTime: Pick<ReadingTime, 'readAt'>,
    observer?: Observer,
  ) {
    this.#owner = owner
    this.#readingTime = readingTime
    this.#inbound = inbound
    this.#observer = observer
  }

  /**
   * @param packet the packet that was read last
   * @param onFailed called if the packet fails and is not acknowledged; later packets are not acknowledged either
   * @returns the ticket to settle with the result of the write
   */
  expect(packet: Publish, onFailed: () => void): Ticket<unknown> {
    this.#inbound.begun(packet.payload.length)
    const entry = new Entry(packet, this.#readingTime.readAt, this.#owner, this.#settled, onFailed)
    this.#entries.push(entry)
    if (entry.qos === 1) this.unacked++
    return entry
  }

  /** All acks that are settled in one turn of the event loop are sent by one flush. */
  readonly #settled = (): void => {
    if (this.#isFlushing) return
    this.#isFlushing = true
    process.nextTick(this.flush)
  }

  /** Sends the settled acks. Call this before sending anything that must follow them. */
  readonly flush = (): void => {
    this.#isFlushing = false
    let count = 0
    let bytes = 0
    for (const entry of this.#entries) {
      if (!entry.isDone) break
      bytes += entry.bytes
      count++
      if (entry.qos === 1) this.unacked--
    }
    if (count > 0) {
      this.#send(this.#entries.slice(0, count))
      this.#entries = this.#entries.slice(count)
    }
    const error = this.#entries[0]?.error
    if (error) this.#end(error, count, bytes)
    else if (count > 0) this.#inbound.finished(count, bytes)
  }

  #send(entries: readonly Entry[]): void {
    if (this.#owner.isClosed) return
    const sentAt = this.#observer ? performance.now() : 0
    for (const { qos, takenAt } of entries)
      if (qos > 0) this.#observer?.acknowledged('mqtt', (sentAt - takenAt) / 1_000)
    const acks = this.#owner.codec.acks(entries)
    if (acks.length > 0) this.#owner.send(acks)
  }

  #end(error: Error, count: number, bytes: number): void {
    const left = this.#entries.splice(0)
    this.#owner.close(error)
    this.#inbound.finished(
      count + left.length,
      left.reduce((sum, entry) => sum + entry.bytes, bytes),
    )
  }
}
