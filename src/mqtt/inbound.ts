import type { Client } from 'aedes'
import { pingresp } from './acks.ts'
import { ClientSeam, type InboundPacket } from './aedes-seams.ts'
import type { ReadingTime } from './reading-time.ts'
import { SlowArrival } from './slow-arrival.ts'
import { UnaskedPings } from './unasked-pings.ts'

/** Most packets of a connection that are being dealt with; beyond it the socket is not read (contract §9). */
const maximumInHand = 256
/**
 * Most bytes of them: about one read of a socket. With 1 MiB, the packets of ten connections outlive two collections, which
 * then take 16 % of the time in place of 8 %.
 */
const maximumBytesInHand = 64 * 1024
/**
 * Most packets of all connections together; beyond it each has `leastInHand` at most. More of them make no disk faster, and
 * what lives for as long as they do has to be moved about by the collector.
 */
const maximumInHandOfAll = 1_024
/** Enough for a connection to hear when one is done, and to read on; and for 500 a second where a sync takes 30 ms. */
const leastInHand = 16
/** How many of one connection count at most, so that a few that flood do not leave the others with the least. */
const largestShare = 64

/** Nothing behind one of these may be looked at before it is dealt with: what follows depends on it. */
const exclusive: ReadonlySet<string> = new Set(['connect', 'subscribe', 'unsubscribe'])

export interface InboundHandlers {
  /**
   * Looks at each packet, in order, before Aedes does.
   *
   * @returns whether the packet is taken: it is then `finished` by whoever took it, and Aedes never sees it. A
   * promise: it goes to Aedes when that has resolved, and nothing behind it is looked at before
   * @throws Error to close the connection
   */
  onPacket(packet: InboundPacket): boolean | Promise<void>
  /** Bytes of answers that the client has not read. */
  unreadAnswers(): number
  /** The client is not read until its socket takes something: one that never does is to be disconnected. */
  onUnread(): void
  readonly maxPacketSize: number
  /** Shared by all connections. */
  readonly inHandOfAll: InHand
  /** Likewise. */
  readonly readingTime: ReadingTime
}

/** A stream that has received bytes which it cannot give yet: of a WebSocket message that is begun. */
export interface ArrivingStream {
  /** Undefined: none. */
  readonly unfinishedBytes: number | undefined
}

/** How many packets are being dealt with. */
export interface InHand {
  packets: number
}

/** What comes in on one connection, packet by packet, no faster than it is dealt with. */
export class Inbound {
  readonly #client: Client
  readonly #handlers: InboundHandlers
  readonly #seam: ClientSeam
  readonly #arrival = new SlowArrival()
  /** Of the packet that is begun, at the look before. */
  #unfinishedBytes: number | undefined
  #pings = new UnaskedPings(0)
  readonly #idle: (() => void)[] = []
  #inHand = 0
  #bytesInHand = 0
  #withAedes = 0
  #isHeld = false
  #isStopped = false
  #isParsing = false
  #isDraining = false
  #isGone = false

  constructor(client: Client, handlers: InboundHandlers) {
    this.#client = client
    this.#handlers = handlers
    this.#seam = new ClientSeam(client, {
      maxPacketSize: handlers.maxPacketSize,
      mayParse: () => this.#mayParse() && handlers.readingTime.isLeft(this.#read),
      onReadable: this.#read,
      onPacket: packet => this.#onPacket(packet),
      onMalformed: error => this.#end(error, error.answer),
      onPacketDone: () => this.#onAedesDone(),
    })
  }

  /** To be called of each packet that was taken, once, when it is acknowledged. @param bytes of all of them */
  finished(packets: number, bytes: number): void {
    this.#changeInHand(-packets)
    this.#bytesInHand -= bytes
    if (this.#isIdle()) for (const resolve of this.#idle.splice(0)) resolve()
    this.#read()
  }

  /** Reads nothing more. What is in hand goes on. */
  stop(): void {
    this.#isStopped = true
  }

  /** Resolves when every packet that was taken is dealt with. What Aedes was given may take as long as it likes. */
  whenIdle(): Promise<void> {
    return this.#isIdle() ? Promise.resolve() : new Promise(resolve => this.#idle.push(resolve))
  }

  #isIdle(): boolean {
    return this.#inHand === this.#withAedes
  }

  /**
   * To be called often, so that a client is not taken for silent, or for slow, while it is we who do not listen, or while a packet
   * of it is under way. One whose packet does not come to its end is closed.
   *
   * @param wasPaused the process was: what the client has sent meanwhile is still to be read
   */
  keepAlive(wasPaused: boolean): void {
    const now = performance.now()
    const isLimited = !this.#mayParse()
    const before = this.#unfinishedBytes
    this.#unfinishedBytes = this.#countUnfinishedBytes()
    if (wasPaused || isLimited) {
      this.#seam.keepAlive()
      this.#arrival.restart()
    } else if (this.#arrival.isOverdue(this.#unfinishedBytes, now)) {
      this.#end(new Error('a packet began but did not end in time'))
    } else if (this.#unfinishedBytes !== undefined && this.#unfinishedBytes !== before) {
      this.#seam.keepAlive()
    }
    this.#pingUnasked(isLimited, now)
  }

  #countUnfinishedBytes(): number | undefined {
    const { unfinishedBytes } = this.#seam
    const arriving = (this.#client.conn as Partial<ArrivingStream>).unfinishedBytes
    return unfinishedBytes === undefined ? arriving : unfinishedBytes + (arriving ?? 0)
  }

  #pingUnasked(isLimited: boolean, now: number): void {
    const { conn, connected, closed } = this.#client
    const isIdle = this.#inHand === 0 && conn.readableLength === 0
    if (!this.#pings.isDue(isLimited, isIdle, now)) return
    // Who does not read its answers, or is about to be closed, is not helped by one more.
    if (connected && !closed && !this.#isStopped && !this.#isDraining && !conn.writableNeedDrain) {
      conn.write(pingresp)
    }
  }

  nextMessageId(): number {
    return this.#seam.nextMessageId()
  }

  /** The connection is gone. What is in hand goes on. */
  letGo(): void {
    this.#handlers.inHandOfAll.packets -= Math.min(this.#inHand, largestShare)
    this.#isGone = true
    this.#seam.letGo()
  }

  /** Gives the connection back to Aedes as it was. */
  release(): void {
    this.#seam.release()
  }

  #mayParse(): boolean {
    return (
      // Nothing behind what Aedes has closed it for may be handed on.
      !this.#client.closed &&
      !this.#isHeld &&
      !this.#isStopped &&
      !this.#isDraining &&
      !this.#hasUnread() &&
      !this.#seam.isPaused &&
      this.#inHand < this.#mostInHand() &&
      this.#bytesInHand < maximumBytesInHand
    )
  }

  #changeInHand(packets: number): void {
    const before = Math.min(this.#inHand, largestShare)
    this.#inHand += packets
    if (!this.#isGone) this.#handlers.inHandOfAll.packets += Math.min(this.#inHand, largestShare) - before
  }

  #mostInHand(): number {
    return this.#handlers.inHandOfAll.packets < maximumInHandOfAll ? maximumInHand : leastInHand
  }

  readonly #read = (): void => {
    // A packet that is done at once calls back while the parser is still in the middle of it.
    if (this.#isParsing || this.#client.closed) return
    this.#isParsing = true
    try {
      this.#seam.parse()
    } finally {
      this.#isParsing = false
    }
    this.#drain()
  }

  /** A client that does not read its answers is not read either, or they would fill the memory. */
  #drain(): void {
    if (this.#isDraining || this.#client.closed || !this.#hasUnread()) return
    this.#isDraining = true
    this.#handlers.onUnread()
    this.#client.conn.once('drain', () => {
      this.#isDraining = false
      this.#read()
    })
  }

  /** Live messages that the client has not read do not count: its acks of them must be read. */
  #hasUnread(): boolean {
    const { conn } = this.#client
    return conn.writableNeedDrain && this.#handlers.unreadAnswers() >= conn.writableHighWaterMark
  }

  #onPacket(packet: InboundPacket): void {
    const bytes = sizeOf(packet)
    this.#changeInHand(1)
    this.#bytesInHand += bytes
    this.#arrival.restart()
    if (packet.cmd === 'connect') this.#pings = new UnaskedPings(packet.keepalive ?? 0)
    if (packet.cmd === 'pingreq') this.#pings.answered(performance.now())
    // Any packet says that the client is there (MQTT-3.1.2-24); of those that are taken, Aedes does not hear.
    this.#seam.keepAlive()
    try {
      const taking = this.#handlers.onPacket(packet)
      if (taking === true) return
      this.#bytesInHand -= bytes
      this.#withAedes++
      this.#isHeld = exclusive.has(packet.cmd)
      if (taking === false) this.#seam.passToAedes(packet)
      else taking.then(() => this.#seam.passToAedes(packet)).catch((error: Error) => this.#end(error))
    } catch (error) {
      this.#end(error as Error)
    }
  }

  /** @param answer sent before the connection is closed */
  #end(error: Error, answer?: Uint8Array): void {
    const { conn } = this.#client
    this.stop()
    if (answer) conn.write(answer, () => conn.destroy(error))
    else conn.destroy(error)
  }

  #onAedesDone(): void {
    this.#withAedes--
    // Aedes does not say which packet is done: the one that is waited for is when all are.
    if (this.#withAedes === 0) this.#isHeld = false
    this.finished(1, 0)
  }
}

/** Bytes of a packet that it counts for while it is in hand. */
export function sizeOf(packet: InboundPacket): number {
  return packet.cmd === 'publish' ? packet.payload.length : 0
}
