import type { Duplex } from 'node:stream'
import { Decoder, type PacketSink } from '../packets/decoder.ts'
import type { Packet } from '../packets/packet.ts'
import type { ReadingTime } from './reading-time.ts'

/** Most pending packets of a connection; beyond it the socket is not read (contract §9). */
const maximumPending = 256
/**
 * Most bytes of them: about one read of a socket. With 1 MiB, the packets of ten connections outlive two garbage collections, which
 * then take 16 % of the time instead of 8 %.
 */
const maximumPendingBytes = 64 * 1024
/**
 * Most pending packets of all connections; beyond it each connection has at most `leastPending`. More of them do not speed up the
 * disk, and the garbage collector has to move them.
 */
const maximumPendingOfAll = 1_024
/** Allows 500 packets a second if a sync takes 30 ms; at least 1, or a connection would never read on. */
const leastPending = 16
/** At most this many packets of one connection count for all, so that a few flooding clients do not limit the others. */
const largestShare = 64
/** Bytes per read. Bytes that the decoder leaves go back to the socket, and are read again. */
const readSize = 16 * 1024

export interface Reading {
  /** Largest length that a packet may announce, bytes. */
  readonly maxPacketSize: number
  readonly pendingOfAll: { packets: number }
  readonly time: ReadingTime
}

export interface InboundOwner {
  /**
   * Called in the order of arrival.
   *
   * @param now when the packet was read, milliseconds, by the clock of `ReadingTime`
   * @returns a promise: no later packet is read before it resolves
   * @throws Error to close the connection
   */
  take(packet: Packet, now: number): Promise<void> | undefined
  /** A packet is malformed, or failed. */
  onFailed(error: Error): void
  /** Undecoded bytes of a released connection. */
  relay(bytes: Buffer): void
  /** Whether the broker can take more packets or bytes. */
  readonly hasRoom: boolean
  /** Bytes of answers that the client has not read. */
  readonly unreadAnswers: number
  /** Reading has stopped until the socket drains. Disconnect the client if that never happens. */
  onUnread(): void
}

/** Reads one connection packet by packet, no faster than the packets are handled. */
export class Inbound implements PacketSink {
  readonly #socket: Duplex
  readonly #owner: InboundOwner
  readonly #reading: Reading
  readonly #decoder: Decoder
  readonly #idle: (() => void)[] = []
  #pending = 0
  #pendingBytes = 0
  /** Bytes that were unshifted to the socket. */
  #givenBack = 0
  #isHeld = false
  /** Whether it is held until a packet is handled. */
  #isDealing = false
  #isStopped = false
  #isReading = false
  #isDraining = false
  #isGone = false
  /** All bytes go to the host's broker undecoded, once nothing is held. */
  #isReleased = false

  constructor(socket: Duplex, owner: InboundOwner, reading: Reading) {
    this.#socket = socket
    this.#owner = owner
    this.#reading = reading
    this.#decoder = new Decoder(reading.maxPacketSize)
    socket.on('readable', this.read)
  }

  /** The bytes of the packet that is being taken. */
  get raw(): Buffer {
    return this.#decoder.raw
  }

  /** Bytes received of the packet that is still arriving; undefined: there is none. */
  get unfinishedBytes(): number | undefined {
    return this.#decoder.unfinishedBytes
  }

  /** Counts a packet as pending until `finished`. @param bytes of its payload */
  begun(bytes: number): void {
    this.#changePending(1)
    this.#pendingBytes += bytes
  }

  /** Pending packets are acknowledged. @param bytes sum of their payloads */
  finished(packets: number, bytes: number): void {
    this.#changePending(-packets)
    this.#pendingBytes -= bytes
    if (this.#pending === 0) for (const resolve of this.#idle.splice(0)) resolve()
    this.read()
  }

  /** Stops decoding until `resume`. */
  hold(): void {
    this.#isHeld = true
  }

  resume(): void {
    this.#isHeld = false
    if (this.#isReleased) this.#owner.relay(this.#decoder.takeUnfinished())
    this.read()
  }

  /** Reads nothing more. Pending packets are still answered. */
  stop(): void {
    this.#isStopped = true
  }

  /** Resolves when no packet is pending. */
  whenIdle(): Promise<void> {
    return this.#pending === 0 ? Promise.resolve() : new Promise(resolve => this.#idle.push(resolve))
  }

  /** Whether nothing waits, read or unread. */
  get isIdle(): boolean {
    return this.#pending === 0 && this.#socket.readableLength === 0
  }

  /** Whether the client is not read because of a limit. */
  get isLimited(): boolean {
    return !this.#isFree()
  }

  /** Whether the client's packets are still read and its answers leave. */
  get isAnswering(): boolean {
    return !this.#isStopped && !this.#isDraining && !this.#socket.writableNeedDrain
  }

  /** The connection is closed. Pending packets are still stored. */
  letGo(): void {
    this.#reading.pendingOfAll.packets -= Math.min(this.#pending, largestShare)
    this.#isGone = true
  }

  /** Relays all bytes from the first packet that was not taken. */
  release(): void {
    this.#isReleased = true
    this.#isStopped = false
    if (!this.#isDealing) this.resume()
  }

  mayTake(): boolean {
    return this.#isFree() && this.#reading.time.isLeft(this.read)
  }

  #isFree(): boolean {
    return (
      !this.#isGone &&
      !this.#isHeld &&
      !this.#isStopped &&
      !this.#isDraining &&
      !this.#hasUnread() &&
      this.#owner.hasRoom &&
      this.#pending < this.#mostPending() &&
      this.#pendingBytes < maximumPendingBytes
    )
  }

  take(packet: Packet): void {
    try {
      const dealing = this.#owner.take(packet, this.#reading.time.readAt)
      if (dealing) this.#holdFor(dealing)
    } catch (error) {
      this.#owner.onFailed(error as Error)
    }
  }

  #holdFor(dealing: Promise<void>): void {
    this.hold()
    this.#isDealing = true
    dealing.then(
      () => {
        this.#isDealing = false
        this.resume()
      },
      (error: Error) => this.#owner.onFailed(error),
    )
  }

  #changePending(packets: number): void {
    const before = Math.min(this.#pending, largestShare)
    this.#pending += packets
    if (!this.#isGone) this.#reading.pendingOfAll.packets += Math.min(this.#pending, largestShare) - before
  }

  #mostPending(): number {
    return this.#reading.pendingOfAll.packets < maximumPendingOfAll ? maximumPending : leastPending
  }

  /** Reads as far as the limits allow. */
  readonly read = (): void => {
    // A packet that is handled synchronously calls back while the decoder is still running.
    if (this.#isReading || this.#isGone) return
    this.#isReading = true
    try {
      this.#readPieces()
    } catch (error) {
      this.#owner.onFailed(error as Error)
    } finally {
      this.#isReading = false
    }
    this.#drain()
  }

  #readPieces(): void {
    const socket = this.#socket
    while (this.mayTake()) {
      // Unshifted bytes are one buffer: reading a part of it would copy the rest for each packet.
      const size = this.#givenBack || Math.min(socket.readableLength, readSize)
      this.#givenBack = 0
      // `read()` without a size makes an empty stream fetch more.
      const bytes = socket.read(size || undefined) as Buffer | null
      if (bytes === null) return
      const rest = this.#read(bytes)
      // A stream ends when its last byte is read, which must not happen before the client's last packets are handled.
      this.#givenBack = rest.length
      if (rest.length > 0) socket.unshift(rest)
    }
  }

  /** @returns the bytes that were not taken */
  #read(bytes: Buffer): Buffer {
    if (!this.#isReleased) return this.#decoder.read(bytes, this)
    this.#owner.relay(bytes)
    return bytes.subarray(bytes.length)
  }

  /** Stops reading a client that does not read its answers: they would fill the memory. */
  #drain(): void {
    if (this.#isDraining || !this.#hasUnread()) return
    this.#isDraining = true
    this.#socket.once('drain', () => {
      this.#isDraining = false
      this.read()
    })
    this.#owner.onUnread()
  }

  #hasUnread(): boolean {
    const socket = this.#socket
    // Unread live messages do not count: a client may write for a long time before it reads any.
    return socket.writableNeedDrain && this.#owner.unreadAnswers >= socket.writableHighWaterMark
  }
}
