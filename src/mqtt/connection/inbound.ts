import type { Duplex } from 'node:stream'
import { Decoder, type PacketSink } from '../packets/decoder.ts'
import type { Packet } from '../packets/packet.ts'
import type { ReadingTime } from './reading-time.ts'

/** Most packets of a connection that are being dealt with; beyond it the socket is not read (contract §9). */
const maximumPending = 256
/**
 * Most bytes of them: about one read of a socket. With 1 MiB, the packets of ten connections outlive two collections, which
 * then take 16 % of the time in place of 8 %.
 */
const maximumPendingBytes = 64 * 1024
/**
 * Most packets of all connections together; beyond it each has `leastPending` at most. More of them make no disk faster, and
 * what lives for as long as they do has to be moved about by the collector.
 */
const maximumPendingOfAll = 1_024
/** Enough for a connection to hear when one is done, and to read on; and for 500 a second where a sync takes 30 ms. */
const leastPending = 16
/** How many of one connection count at most, so that a few that flood do not leave the others with the least. */
const largestShare = 64
/** Bytes that are read at once: of these, what is not decoded yet is given back, and read again. */
const readSize = 16 * 1024

/** Shared by all connections. */
export interface Reading {
  /** Largest length that a packet may announce, bytes. */
  readonly maxPacketSize: number
  readonly pendingOfAll: { packets: number }
  readonly time: ReadingTime
}

/** Whose packets are read. */
export interface InboundOwner {
  /**
   * A packet, in the order of arrival.
   *
   * @param now when it was read, milliseconds, by the clock of `ReadingTime`
   * @returns a promise: nothing behind the packet is looked at before that has resolved
   * @throws Error to close the connection
   */
  take(packet: Packet, now: number): Promise<void> | undefined
  /** What is read is no packet, or could not be dealt with. */
  onFailed(error: Error): void
  /** Bytes while the connection belongs to another: they are not looked at. */
  relay(bytes: Buffer): void
  /** Whether whoever is given packets, or bytes, can take more. */
  readonly hasRoom: boolean
  /** Bytes of answers that the client has not read. */
  readonly unreadAnswers: number
  /** The client is not read until its socket takes something: one that never does is to be disconnected. */
  onUnread(): void
}

/** What comes in on one connection, packet by packet, no faster than it is dealt with. */
export class Inbound implements PacketSink {
  readonly #socket: Duplex
  readonly #owner: InboundOwner
  readonly #reading: Reading
  readonly #decoder: Decoder
  readonly #idle: (() => void)[] = []
  #pending = 0
  #pendingBytes = 0
  /** Bytes that were given back to the socket. */
  #givenBack = 0
  #isHeld = false
  /** Whether it is held for a packet that is being dealt with. */
  #isDealing = false
  #isStopped = false
  #isReading = false
  #isDraining = false
  #isGone = false
  /** The connection belongs to another, or will as soon as it is not held any more. */
  #isReleased = false

  constructor(socket: Duplex, owner: InboundOwner, reading: Reading) {
    this.#socket = socket
    this.#owner = owner
    this.#reading = reading
    this.#decoder = new Decoder(reading.maxPacketSize)
    socket.on('readable', this.read)
  }

  /** The packet that is being taken, as it came. */
  get raw(): Buffer {
    return this.#decoder.raw
  }

  /** Bytes that were received of a packet that is begun; undefined: none is. */
  get unfinishedBytes(): number | undefined {
    return this.#decoder.unfinishedBytes
  }

  /** A packet is pending until it is `finished`. @param bytes for which it counts */
  begun(bytes: number): void {
    this.#changePending(1)
    this.#pendingBytes += bytes
  }

  /** Pending packets are acknowledged. @param bytes of all of them */
  finished(packets: number, bytes: number): void {
    this.#changePending(-packets)
    this.#pendingBytes -= bytes
    if (this.#pending === 0) for (const resolve of this.#idle.splice(0)) resolve()
    this.read()
  }

  /** Nothing is looked at until `resume`. */
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

  /** Resolves when every packet that was taken is dealt with. */
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

  /** Whether the client is heard, and its answers go out. */
  get isAnswering(): boolean {
    return !this.#isStopped && !this.#isDraining && !this.#socket.writableNeedDrain
  }

  /** The connection is gone. Pending packets are still stored. */
  letGo(): void {
    this.#reading.pendingOfAll.packets -= Math.min(this.#pending, largestShare)
    this.#isGone = true
  }

  /** From here on, whatever comes is relayed, from the first packet on that was not taken. */
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

  /** Takes what is there, as far as it may. */
  readonly read = (): void => {
    // A packet that is done at once calls back while the decoder is still in the middle of it.
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
      // What was given back is read as the one piece that it is: a copy for each packet would outweigh them all.
      const size = this.#givenBack || Math.min(socket.readableLength, readSize)
      this.#givenBack = 0
      // Asked for nothing, an empty stream goes to get more.
      const bytes = socket.read(size || undefined) as Buffer | null
      if (bytes === null) return
      const rest = this.#read(bytes)
      // A connection ends when its last byte is read: not before what the client sent before it left is dealt with.
      this.#givenBack = rest.length
      if (rest.length > 0) socket.unshift(rest)
    }
  }

  /** @returns what is left */
  #read(bytes: Buffer): Buffer {
    if (!this.#isReleased) return this.#decoder.read(bytes, this)
    this.#owner.relay(bytes)
    return bytes.subarray(bytes.length)
  }

  /** A client that does not read its answers is not read either, or they would fill the memory. */
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
    // Live messages alone are no reason: a client may write as long as it likes before it reads any.
    return socket.writableNeedDrain && this.#owner.unreadAnswers >= socket.writableHighWaterMark
  }
}
