import type { Client, PublishPacket } from 'aedes'
import type { Ticket } from '../core/async/ticket.ts'
import type { Observer } from '../core/observer.ts'
import { catalogue, ThingwireError } from '../errors.ts'
import type { ReadingTime } from './reading-time.ts'

const pubcompHeader = 0x70

/** First byte of the ack of a PUBLISH, by its QoS; undefined: it has none. */
const ackHeaders = [undefined, 0x40, 0x50] as const
const ackLength = 4

export function pubcomp(messageId: number): Buffer {
  return Buffer.from([pubcompHeader, 2, messageId >> 8, messageId & 0xff])
}

export const pingresp: Uint8Array = Uint8Array.of(0xd0, 0)

const subackHeader = 0x90

/** @param codes granted QoS, or 128, of every filter (MQTT-3.8.4-5) */
export function suback(messageId: number, codes: readonly number[]): Buffer {
  const lengthBytes: number[] = []
  let length = 2 + codes.length
  for (; length > 127; length >>>= 7) lengthBytes.push((length & 127) | 128)
  return Buffer.from([subackHeader, ...lengthBytes, length, messageId >> 8, messageId & 0xff, ...codes])
}

/** Whether what was refused is acknowledged: it is noted and told. To close would make the device send it again for ever. */
export function isAcknowledged(error: unknown): boolean {
  return error instanceof ThingwireError && catalogue[error.reason].mqtt === 'report'
}

/** A PUBLISH that was taken, in the order of arrival. */
class Entry implements Ticket<unknown> {
  readonly header: number | undefined
  readonly messageId: number
  readonly bytes: number
  /** When it was read, by the monotonic clock. */
  readonly takenAt: number
  readonly #onSettled: () => void
  readonly #onFailed: () => void
  isDone = false
  error: Error | undefined

  constructor(
    packet: PublishPacket,
    bytes: number,
    takenAt: number,
    onSettled: () => void,
    onFailed: () => void,
  ) {
    this.header = ackHeaders[packet.qos]
    this.messageId = packet.messageId ?? 0
    this.bytes = bytes
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

/**
 * Sends acknowledgements in the order of the packets that they are for (MQTT-4.6.0-2, -3; contract §4): those of one group
 * commit in one piece.
 */
export class Acks {
  readonly #client: Client
  readonly #readingTime: Pick<ReadingTime, 'readAt'>
  readonly #finished: (packets: number, bytes: number) => void
  readonly #observer: Observer | undefined
  #entries: Entry[] = []
  #isFlushing = false

  /** @param finished told how many packets are dealt with, and of their bytes */
  constructor(
    client: Client,
    readingTime: Pick<ReadingTime, 'readAt'>,
    finished: (packets: number, bytes: number) => void,
    observer?: Observer,
  ) {
    this.#client = client
    this.#readingTime = readingTime
    this.#finished = finished
    this.#observer = observer
  }

  /**
   * @param packet the one that was read last
   * @param bytes of the packet
   * @param onFailed called if the connection ends with it: nothing that comes after is acknowledged
   * @returns to be settled with what comes of its write
   */
  expect(packet: PublishPacket, bytes: number, onFailed: () => void): Ticket<unknown> {
    const entry = new Entry(packet, bytes, this.#readingTime.readAt, this.#settled, onFailed)
    this.#entries.push(entry)
    return entry
  }

  /** All that is settled in this turn goes together. */
  readonly #settled = (): void => {
    if (this.#isFlushing) return
    this.#isFlushing = true
    process.nextTick(this.flush)
  }

  /** Sends what is settled; to be called before what must not come before it is sent. */
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
    else if (count > 0) this.#finished(count, bytes)
  }

  #send(entries: readonly Entry[]): void {
    const { conn } = this.#client
    if (conn.destroyed || conn.writableEnded) return
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
    if (end > 0) conn.write(end === acks.length ? acks : acks.subarray(0, end))
  }

  #end(error: Error, count: number, bytes: number): void {
    const left = this.#entries.splice(0)
    this.#client.conn.destroy(error)
    this.#finished(
      count + left.length,
      left.reduce((sum, entry) => sum + entry.bytes, bytes),
    )
  }
}
