import type { Duplex } from 'node:stream'
import type { Ticket } from '../../core/async/ticket.ts'
import type { Observer } from '../../core/observer.ts'
import { catalogue, ThingwireError } from '../../errors.ts'
import { type Publish, types } from '../packets/packet.ts'
import type { Inbound } from './inbound.ts'
import type { ReadingTime } from './reading-time.ts'

/** First byte of the ack of a PUBLISH, by QoS; QoS 0 has no ack. */
const ackHeaders = [undefined, types.puback << 4, types.pubrec << 4] as const
const ackLength = 4

/** Whether to acknowledge a refused PUBLISH and list it under the thing. Without an ack, the client would resend it for ever. */
export function isAcknowledged(error: unknown): boolean {
  return error instanceof ThingwireError && catalogue[error.reason].mqtt === 'report'
}

class Entry implements Ticket<unknown> {
  readonly header: number | undefined
  readonly messageId: number
  readonly bytes: number
  /** When the packet was read, by the clock of `ReadingTime`, milliseconds. */
  readonly takenAt: number
  readonly #onSettled: () => void
  readonly #onFailed: () => void
  isDone = false
  error: Error | undefined

  constructor(packet: Publish, takenAt: number, onSettled: () => void, onFailed: () => void) {
    this.header = ackHeaders[packet.qos]
    this.messageId = packet.messageId
    this.bytes = packet.payload.length
    this.takenAt = takenAt
    this.#onSettled = onSettled
    this.#onFailed = onFailed
  }

  resolve(): void {
    this.isDone = true
    this.#onSettled()
  }

  reject(error: Error): void {
    if (isAcknowledged(error)) {
      this.resolve()
    } else {
      this.error = error
      this.#onFailed()
      this.#onSettled()
    }
  }
}

/** Sends acks in the order of their packets (MQTT-4.6.0-2, -3; contract §4). Acks of the same group commit are sent together. */
export class Acks {
  readonly #socket: Duplex
  readonly #readingTime: Pick<ReadingTime, 'readAt'>
  readonly #inbound: Pick<Inbound, 'begun' | 'finished'>
  readonly #observer: Observer | undefined
  #entries: Entry[] = []
  #isFlushing = false

  constructor(
    socket: Duplex,
    inbound: Pick<Inbound, 'begun' | 'finished'>,
    readingTime: Pick<ReadingTime, 'readAt'>,
    observer?: Observer,
  ) {
    this.#socket = socket
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
    const entry = new Entry(packet, this.#readingTime.readAt, this.#settled, onFailed)
    this.#entries.push(entry)
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
    const socket = this.#socket
    if (socket.destroyed || socket.writableEnded) return
    const sentAt = this.#observer ? performance.now() : 0
    const acks = Buffer.allocUnsafe(entries.length * ackLength)
    let end = 0
    for (const { header, messageId, takenAt } of entries) {
      if (header === undefined) continue
      acks[end] = header
      acks[end + 1] = 2
      acks.writeUInt16BE(messageId, end + 2)
      end += ackLength
      this.#observer?.acknowledged('mqtt', (sentAt - takenAt) / 1_000)
    }
    if (end > 0) socket.write(end === acks.length ? acks : acks.subarray(0, end))
  }

  #end(error: Error, count: number, bytes: number): void {
    const left = this.#entries.splice(0)
    this.#socket.destroy(error)
    this.#inbound.finished(
      count + left.length,
      left.reduce((sum, entry) => sum + entry.bytes, bytes),
    )
  }
}
