import { Duplex } from 'node:stream'
import type { Client } from 'aedes'
import { encodeSubscribe, encodeUnsubscribe, pingreq } from '../packets/encode.ts'
import { headerAt, qosOf, typeOf } from '../packets/header.ts'
import { type AskedFilter, publishFlags, types } from '../packets/packet.ts'

export interface BrokerLinkHandlers {
  /** The broker can take more. */
  onRoom(): void
  /** The broker has closed the connection. @param error undefined: `client.close()` was called */
  onClosedByBroker(error: Error | null): void
  /** Of a client that is ours: whole packets that it is sent in its turn. */
  onMessages(packets: Buffer): void
  /** Likewise: what comes from here on may not overtake an answer. */
  onHold(): void
  /** That answer is sent. */
  onRelease(): void
  /** Whether a message that the broker knows nothing of was sent under this packet id, and is not acknowledged. */
  isUnacked(messageId: number): boolean
}

const nothing = Buffer.alloc(0)

/**
 * A connection as the host's broker has it. The broker gets what is its affair, as bytes, and sees a client like any other. Of
 * all others it gets a PINGREQ now and then.
 */
export class BrokerLink implements BrokerSideHandlers {
  /** The broker's own object for the connection, which hooks and events of the host are given. */
  readonly client: Client
  readonly #socket: Duplex
  readonly #side: BrokerSide
  readonly #handlers: BrokerLinkHandlers
  /** Whether the client is none of the host's: it is answered without the broker. */
  #isOurs = false
  /** Whether it is ours, and the broker has messages for it. */
  #isRelayed = false
  #isFinishing = false
  #newestId = 0
  /** PINGREQs that were not the client's, and are not answered. */
  #pings = 0
  #pingedAt = performance.now()
  /** Of what the broker has written, a packet that has not come to its end. */
  #unfinished: Buffer = nothing
  /** Called with the next SUBACK or UNSUBACK. */
  #onAnswered: ((packet: Buffer) => void) | undefined
  /** Of a client that is not relayed, what may not overtake the answer to a SUBSCRIBE or UNSUBSCRIBE. */
  #held: Buffer[] | undefined
  /** Packet ids of messages of the broker that are not acknowledged. */
  #ids: Set<number> | undefined
  /** By packet id: messages of the broker, whose id is that of one which it knows nothing of. */
  #waiting: Map<number, Buffer> | undefined

  /** @param accept gives the broker the stream that it takes for the socket */
  constructor(socket: Duplex, accept: (stream: Duplex) => Client, handlers: BrokerLinkHandlers) {
    this.#socket = socket
    this.#handlers = handlers
    this.#side = new BrokerSide(socket, this)
    this.client = accept(this.#side)
  }

  /** Packet id of the newest message of the broker to a client of ours; 0: there was none. */
  get newestId(): number {
    return this.#newestId
  }

  /** Whether the broker keeps up with what it is sent. */
  get hasRoom(): boolean {
    return this.#side.hasRoom
  }

  /** Bytes that the broker has for the client, and the socket does not take. */
  get waitingBytes(): number {
    return this.#side.writableLength
  }

  /**
   * From here on it is of no importance what becomes of the connection at the broker, unless that is asked to close it.
   *
   * @param isRelayed it is of importance: the broker has messages for it
   */
  becomeOurs(isRelayed = false): void {
    this.#isOurs = true
    this.#isRelayed = isRelayed
  }

  /** @param bytes whole packets, unless nothing else is sent any more */
  send(bytes: Uint8Array): void {
    if (bytes.length > 0 && !this.#side.destroyed && !this.#isFinishing) this.#side.push(bytes)
  }

  /** The client has sent all that it will. @returns whether the broker has still to read it, and closes the connection then */
  end(): boolean {
    if ((this.#isOurs && !this.#isRelayed) || this.#side.destroyed) return false
    if (!this.#isFinishing) this.#side.push(null)
    this.#isFinishing = true
    return true
  }

  /** The client is gone. Resolves when the broker has dealt with all that it has sent. */
  async finish(): Promise<void> {
    const side = this.#side
    if (!side.readableEnded && !this.#isFinishing) side.push(null)
    this.#isFinishing = true
    if (!side.closed) await new Promise(resolve => side.once('close', resolve))
  }

  /** The connection is gone. */
  close(error: Error | null): void {
    const destroy = () => void this.#side.destroy(error ?? undefined)
    // A client that has gone is registered all the same when the persistence has answered, and would never be taken out again.
    if (this.#isOurs && this.client.connecting) this.client.once('connected', destroy)
    else destroy()
  }

  /**
   * To be called often while the client is there: the broker does not see all that it sends.
   *
   * @param interval at most so long the broker may hear nothing, milliseconds
   */
  keepAlive(now: number, interval: number): void {
    if (now - this.#pingedAt < interval || !this.client.connected || this.#side.readableLength > 0) return
    this.#pingedAt = now
    this.#pings++
    this.send(pingreq)
  }

  /**
   * Subscribes a client of the host's to one filter after the other: of several at once, a broker that keeps its sessions in Redis may
   * answer none. What the broker has for the client waits from here on until `release`.
   *
   * @param filters one or more
   * @returns the granted QoS, or 128, of each
   */
  async subscribe(messageId: number, filters: readonly AskedFilter[]): Promise<readonly number[]> {
    this.#hold()
    const codes: number[] = []
    for (const asked of this.#isRelayed ? [filters] : filters.map(each => [each])) {
      const suback = await this.#ask(encodeSubscribe(messageId, asked))
      codes.push(...suback.subarray(-asked.length))
    }
    return codes
  }

  /** @param filters one or more */
  async unsubscribe(messageId: number, filters: readonly string[]): Promise<void> {
    this.#hold()
    await this.#ask(encodeUnsubscribe(messageId, filters))
  }

  /** Resolves with the SUBACK or UNSUBACK; never if the connection is closed before. */
  #ask(packet: Buffer): Promise<Buffer> {
    return new Promise(resolve => {
      this.#onAnswered = resolve
      this.send(packet)
    })
  }

  #hold(): void {
    if (this.#isRelayed) this.#handlers.onHold()
    else this.#held ??= []
  }

  /** What has waited for an answer goes to the client. */
  release(): void {
    if (this.#isRelayed) this.#handlers.onRelease()
    const held = this.#held ?? []
    this.#held = undefined
    if (held.length > 0) this.#socket.write(Buffer.concat(held))
  }

  /** Whether a message of the broker has this packet id, and is not acknowledged. */
  uses(messageId: number): boolean {
    return this.#ids?.has(messageId) === true
  }

  /** The client has acknowledged a message of the broker for good. */
  acked(messageId: number): void {
    this.#ids?.delete(messageId)
  }

  /** The client has acknowledged a message that is not the broker's. @returns the one of the broker that has waited for its id */
  takeWaiting(messageId: number): Buffer | undefined {
    const packet = this.#waiting?.get(messageId)
    if (packet) {
      this.#waiting?.delete(messageId)
      this.#use(messageId)
    }
    return packet
  }

  onRoom(): void {
    this.#handlers.onRoom()
  }

  onAnswer(bytes: Buffer): Buffer | undefined {
    const whole = this.#unfinished.length === 0 ? bytes : Buffer.concat([this.#unfinished, bytes])
    const { packets, rest } = splitPackets(whole)
    // An empty piece would keep all that it was cut from.
    this.#unfinished = rest.length === 0 ? nothing : rest
    const passed = packets.filter(packet => this.#passes(packet))
    if (passed.length === 0) return undefined
    const answer =
      passed.length === packets.length ? whole.subarray(0, whole.length - rest.length) : Buffer.concat(passed)
    if (this.#isRelayed) this.#handlers.onMessages(answer)
    else if (this.#held) this.#held.push(answer)
    else return answer
    return undefined
  }

  onClosed(error: Error | null): void {
    // Its persistence may fail it, which is nothing to a client that is not the host's.
    if (!error || !this.#isOurs || this.#isRelayed) this.#handlers.onClosedByBroker(error)
  }

  #passes(packet: Buffer): boolean {
    switch (typeOf(packet[0] ?? 0)) {
      case types.connack:
        return !this.#isOurs
      case types.pingresp:
        if (this.#pings === 0) return true
        this.#pings--
        return false
      case types.suback:
      case types.unsuback:
        return !this.#takeAnswer(packet)
      case types.publish:
      case types.pubrel:
        return this.#mayUse(messageIdOf(packet), packet)
      default:
        return true
    }
  }

  /** @returns whether it was asked for here, and not by the client itself after the door was detached */
  #takeAnswer(packet: Buffer): boolean {
    const onAnswered = this.#onAnswered
    this.#onAnswered = undefined
    onAnswered?.(packet)
    return onAnswered !== undefined
  }

  #mayUse(messageId: number, packet: Buffer): boolean {
    if (messageId === 0) return true
    if (this.#isRelayed) return this.#mayRelay(messageId, packet)
    if (this.#handlers.isUnacked(messageId)) {
      this.#waiting ??= new Map()
      this.#waiting.set(messageId, packet)
      return false
    }
    this.#use(messageId)
    return true
  }

  /** A broker counts its ids up, whatever is in use, and what waited for one would come behind what is newer. */
  #mayRelay(messageId: number, packet: Buffer): boolean {
    const isNew =
      typeOf(packet[0] ?? 0) === types.publish && ((packet[0] ?? 0) & publishFlags.duplicate) === 0
    if (isNew && (this.uses(messageId) || this.#handlers.isUnacked(messageId))) {
      this.#handlers.onClosedByBroker(
        new Error('too many messages are not acknowledged: no packet id is left'),
      )
      return false
    }
    if (isNew) this.#newestId = messageId
    this.#use(messageId)
    return true
  }

  #use(messageId: number): void {
    this.#ids ??= new Set()
    this.#ids.add(messageId)
  }
}

/** The whole packets that bytes begin with, each as it is on the wire, and what is left of the bytes. @throws MalformedPacket */
export function splitPackets(bytes: Buffer): { readonly packets: readonly Buffer[]; readonly rest: Buffer } {
  const packets: Buffer[] = []
  let place = 0
  for (;;) {
    const header = headerAt(bytes, place)
    const end = header ? header.start + header.length : Number.POSITIVE_INFINITY
    if (end > bytes.length) return { packets, rest: bytes.subarray(place) }
    packets.push(bytes.subarray(place, end))
    place = end
  }
}

/** The packet id of a whole packet; 0: it has none. */
export function messageIdOf(packet: Buffer): number {
  const header = headerAt(packet, 0)
  if (!header || header.length < 2) return 0
  const { firstByte, start } = header
  if (typeOf(firstByte) !== types.publish) return packet.readUInt16BE(start)
  return qosOf(firstByte) === 0 ? 0 : packet.readUInt16BE(start + 2 + packet.readUInt16BE(start))
}

/** Members of a socket, of TCP or of TLS, that say who is at its other end and how. */
const socketMembers =
  'remoteAddress remotePort remoteFamily localAddress localPort localFamily bytesRead bytesWritten ' +
  'encrypted authorized authorizationError servername alpnProtocol ' +
  'address getPeerCertificate getPeerX509Certificate getCertificate getProtocol getCipher'

/** Bytes that the broker may leave unread before the client is not read any more. */
const mostUnread = 16 * 1024

interface BrokerSideHandlers {
  /** The broker has read what it was given, and can take more. */
  onRoom(): void
  /** What the broker has for the client. @returns what is to be sent of it now */
  onAnswer(bytes: Buffer): Buffer | undefined
  /** The broker has closed the connection. @param error undefined: it was asked to */
  onClosed(error: Error | null): void
}

/**
 * What a broker takes for the socket of a client. What is pushed here it reads, and what it writes goes to the client as far as
 * its handlers let it. The hooks of a host read of it what they would read of the socket.
 */
class BrokerSide extends Duplex {
  readonly #socket: Duplex
  readonly #handlers: BrokerSideHandlers

  constructor(socket: Duplex, handlers: BrokerSideHandlers) {
    super({ highWaterMark: mostUnread })
    this.#socket = socket
    this.#handlers = handlers
  }

  /** Whether the broker reads what it is given. */
  get hasRoom(): boolean {
    return this.readableLength < this.readableHighWaterMark
  }

  override _read(): void {
    this.#handlers.onRoom()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    this.#answer(chunk, callback)
  }

  override _writev(chunks: { chunk: Buffer }[], callback: () => void): void {
    this.#answer(Buffer.concat(chunks.map(({ chunk }) => chunk)), callback)
  }

  #answer(bytes: Buffer, callback: () => void): void {
    const answer = this.#handlers.onAnswer(bytes)
    // A broker waits for a client that does not read, and gives it up.
    if (!answer || this.#socket.destroyed || this.#socket.write(answer)) callback()
    else this.#socket.once('drain', callback)
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#handlers.onClosed(error)
    callback(error)
  }

  static {
    for (const name of socketMembers.split(' ')) {
      Object.defineProperty(BrokerSide.prototype, name, {
        get(this: BrokerSide): unknown {
          const value: unknown = Reflect.get(this.#socket, name)
          return typeof value === 'function' ? value.bind(this.#socket) : value
        },
      })
    }
  }
}
