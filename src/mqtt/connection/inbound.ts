import type { Duplex } from 'node:stream'
import type { Codec } from '../packets/codec.ts'
import { Decoder, type PacketSink } from '../packets/decoder.ts'
import type { Packet } from '../packets/packet.ts'
import type { ReadingTime } from './reading-time.ts'

/** Number of pending packets of a connection at which its socket is no longer read (contract §9). */
const maximumPending = 256
/**
 * Maximum number of pending bytes of a connection: about as many as one read of a socket returns. With 1 MiB, the packets of ten
 * connections would survive two garbage collections, which would raise the time spent on garbage collection from 8 % to 16 %.
 */
const maximumPendingBytes = 64 * 1024
/**
 * Maximum number of pending packets of all connections. Once it is reached, each connection may have at most `leastPending`.
 * More packets would not make the disk faster, and would burden the garbage collector.
 */
const maximumPendingOfAll = 1_024
/** Allows a connection 500 packets a second if a disk sync takes 30 ms. With 0, an idle connection would never be read again. */
const leastPending = 16
/** At most this many packets of a connection count towards `maximumPendingOfAll`, so a few clients cannot use it up. */
const largestShare = 64
/** Maximum number of bytes per read. Bytes that the decoder does not take are put back into the stream and read again. */
const readSize = 16 * 1024

export interface Reading {
  /** Maximum length that a packet may announce, bytes. */
  readonly maxPacketSize: number
  readonly pendingOfAll: { packets: number }
  readonly time: ReadingTime
}

export interface InboundOwner {
  /**
   * Called with packets in the order of arrival.
   *
   * @param now when the packet was read, milliseconds, by the clock of `ReadingTime`
   * @returns a promise if no later packet may be read until the promise resolves
   * @throws Error to close the connection
   */
  take(packet: Packet, now: number): Promise<void> | undefined
  /** Called when a packet is malformed or has failed. */
  onFailed(error: Error): void
  /** Called with undecoded bytes after `release`. */
  relay(bytes: Buffer): void
  /** Whether the broker can take more packets or bytes. */
  readonly hasRoom: boolean
  /** Total length of the answers that the client has not read, bytes. */
  readonly unreadAnswers: number
  /** Called when reading pauses until the socket drains. Must disconnect the client if the socket never drains. */
  onUnread(): void
}

/** Reads one connection packet by packet, no faster than packets are handled. */
export class Inbound implements PacketSink {
  readonly #socket: Duplex
  readonly #owner: InboundOwner
  readonly #reading: Reading
  readonly #decoder: Decoder
  readonly #idle: (() => void)[] = []
  #pending = 0
  #pendingBytes = 0
  /** Number of bytes that were put back into the stream. */
  #givenBack = 0
  #isHeld = false
  /** Whether reading is held until a packet is handled. */
  #isDealing = false
  #isStopped = false
  #isReading = false
  #isDraining = false
  #isGone = false
  /** Whether all bytes are passed to the host's broker undecoded. Set by `release`. */
  #isReleased = false

  constructor(socket: Duplex, owner: InboundOwner, reading: Reading) {
    this.#socket = socket
    this.#owner = owner
    this.#reading = reading
    this.#decoder = new Decoder(reading.maxPacketSize)
    socket.on('readable', this.read)
  }

  /** Maximum length that a packet may announce, bytes. */
  get longest(): number {
    return this.#decoder.longest
  }

  /** @param sourcePacketSize maximum length that a packet may announce from now on, bytes */
  allowSourcePackets(sourcePacketSize: number): void {
    this.#decoder.longest = sourcePacketSize
    this.#decoder.sizeOption = 'sourcePacketSize'
  }

  /** The bytes of the packet that is being handled. */
  get raw(): Buffer {
    return this.#decoder.raw
  }

  /** Of the version that CONNECT chose. */
  get codec(): Codec {
    return this.#decoder.codec
  }

  /** Number of received bytes of an incomplete packet; undefined if no packet is incomplete. */
  get unfinishedBytes(): number | undefined {
    return this.#decoder.unfinishedBytes
  }

  /** Counts a packet as pending until `finished`. @param bytes length of the packet's payload */
  begun(bytes: number): void {
    this.#changePending(1)
    this.#pendingBytes += bytes
  }

  /** Call this when pending packets are acknowledged. @param bytes sum of the lengths of their payloads */
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

  /** Stops reading. Pending packets are still answered. */
  stop(): void {
    this.#isStopped = true
  }

  /** Resolves when no packet is pending. */
  whenIdle(): Promise<void> {
    return this.#pending === 0 ? Promise.resolve() : new Promise(resolve => this.#idle.push(resolve))
  }

  /** Whether no packet is pending and no received byte is unread. */
  get isIdle(): boolean {
    return this.#pending === 0 && this.#socket.readableLength === 0
  }

  /** Whether a limit keeps the server from reading from the client. */
  get isLimited(): boolean {
    return !this.#isFree()
  }

  /** Whether the client's packets are still read, and answers to them still sent. */
  get isAnswering(): boolean {
    return !this.#isStopped && !this.#isDraining && !this.#socket.writableNeedDrain
  }

  /** Leaves the socket to another reader. */
  detach(): void {
    this.#socket.off('readable', this.read)
  }

  /** Call this when the connection is closed. Pending packets are still stored. */
  letGo(): void {
    this.#reading.pendingOfAll.packets -= Math.min(this.#pending, largestShare)
    this.#isGone = true
  }

  /** Stops decoding. All bytes after the last handled packet are relayed. */
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

  /** Reads as much as the limits allow. */
  readonly read = (): void => {
    // When a packet is handled synchronously, this method is called while the decoder is still running.
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
      // Bytes that were put back form one buffer. Reading beyond its end would copy these bytes again for each packet.
      const size = this.#givenBack || Math.min(socket.readableLength, readSize)
      this.#givenBack = 0
      // Without a size, `read()` makes an empty stream fetch more bytes.
      const bytes = socket.read(size || undefined) as Buffer | null
      if (bytes === null) return
      const rest = this.#read(bytes)
      // Unhandled bytes are put back: reading the last byte would end the stream before the client's last packets are handled.
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

  /** Stops reading from a client that does not read its answers. Otherwise unread answers would fill the memory. */
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
    // Unread live messages do not count, since a client may write for a long time before it reads live messages.
    return socket.writableNeedDrain && this.#owner.unreadAnswers >= socket.writableHighWaterMark
  }
}
