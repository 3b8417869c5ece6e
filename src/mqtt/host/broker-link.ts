import { Duplex } from 'node:stream'
import type { Client } from 'aedes'
import type { Packet as OtherPacket } from 'mqtt-packet'
import { encode, pingreq } from '../packets/encode.ts'
import { headerAt, qosOf, typeOf } from '../packets/header.ts'
import { ConnectionClosed } from '../packets/outcomes.ts'
import { type AskedFilter, publishFlags, types } from '../packets/packet.ts'

export interface BrokerLinkHandlers {
  /** Called when the broker can take more bytes. */
  onRoom(): void
  /** Called when the broker has closed the connection. @param error null if `client.close()` was called */
  onClosedByBroker(error: Error | null): void
  /** Called with packets for a relayed client. @param bytes of all `packets`, each of which is complete */
  onMessages(bytes: Buffer, packets: readonly Buffer[]): void
  /** Called when later packets for a relayed client must wait until a SUBACK or UNSUBACK is sent. */
  onHold(): void
  /** Called when the SUBACK or UNSUBACK is sent. */
  onRelease(): void
  /** Whether an unacknowledged message of Thingwire, not of the broker, has this packet id. */
  isUnacked(messageId: number): boolean
}

const nothing = Buffer.alloc(0)
const maximumMessageId = 65_535

/**
 * Links a connection to the host's broker. The broker sees the link as a normal client. The broker gets only the packets that it
 * has to handle, and PINGREQs that stand for all other packets.
 */
export class BrokerLink implements BrokerSideHandlers {
  /** The broker's object for the connection. The host's hooks and events receive this object. */
  readonly client: Client
  readonly #socket: Duplex
  readonly #side: BrokerSide
  readonly #handlers: BrokerLinkHandlers
  /** Whether the client is Thingwire's. Thingwire answers such a client without the broker. */
  #isOurs = false
  /** Whether the client is Thingwire's, and the broker has messages for it. */
  #isRelayed = false
  #isFinishing = false
  #isRefused = false
  /** Packet id of the broker's newest message to a relayed client; 0 if there was none. */
  #newestId = 0
  /** Packet id of Thingwire's newest message to the client. */
  #newestOwnId = 0
  /** Number of unanswered PINGREQs that the client did not send. */
  #pings = 0
  #pingedAt = performance.now()
  /** The received part of an incomplete packet from the broker. */
  #unfinished: Buffer = nothing
  /** Called once, with the next SUBACK or UNSUBACK. */
  #onAnswered: ((packet: Buffer) => void) | undefined
  /** Packets for a client that is not relayed, if they must not overtake the answer to a SUBSCRIBE or UNSUBSCRIBE. */
  #held: Buffer[] | undefined
  /** Packet ids of messages from the broker that the client has not acknowledged. */
  #ids: Set<number> | undefined
  /** Messages from the broker that wait until Thingwire's message with the same packet id is acknowledged. */
  #waiting: Map<number, Buffer> | undefined

  /** @param accept passes a stream to the broker, which uses it as the client's socket */
  constructor(socket: Duplex, accept: (stream: Duplex) => Client, handlers: BrokerLinkHandlers) {
    this.#socket = socket
    this.#handlers = handlers
    this.#side = new BrokerSide(socket, this)
    this.client = accept(this.#side)
  }

  /** Whether the broker keeps up with the packets that it is sent. */
  get hasRoom(): boolean {
    return this.#side.hasRoom
  }

  /** Number of bytes from the broker that the socket does not accept yet. */
  get waitingBytes(): number {
    return this.#side.writableLength
  }

  /**
   * Call this when the client is known to be Thingwire's. Unless `isRelayed`, failures at the broker are ignored from then on.
   *
   * @param isRelayed whether the broker has messages for the client
   */
  becomeOurs(isRelayed = false): void {
    this.#isOurs = true
    this.#isRelayed = isRelayed
  }

  /** Call this when a CONNACK was sent that refuses the client. The broker's own CONNACK is dropped. */
  refused(): void {
    this.#isRefused = true
  }

  /** @param bytes complete packets, or all bytes of a released connection */
  send(bytes: Uint8Array): void {
    if (bytes.length > 0 && !this.#side.destroyed && !this.#isFinishing) this.#side.push(bytes)
  }

  /** Call this when the client's stream has ended. @returns whether the broker still reads, and will close the connection */
  end(): boolean {
    if ((this.#isOurs && !this.#isRelayed) || this.#side.destroyed) return false
    if (!this.#isFinishing) this.#side.push(null)
    this.#isFinishing = true
    return true
  }

  /** Call this when the connection is closed. Resolves when the broker has handled all packets of the client. */
  async finish(): Promise<void> {
    const side = this.#side
    if (!side.readableEnded && !this.#isFinishing) side.push(null)
    this.#isFinishing = true
    if (!side.closed) await new Promise(resolve => side.once('close', resolve))
  }

  close(error: Error | null): void {
    const destroy = () => void this.#side.destroy(error ?? undefined)
    // Aedes registers a client once the persistence has answered. A client closed before that would stay registered for ever.
    if (this.#isOurs && this.client.connecting) this.client.once('connected', destroy)
    else destroy()
  }

  /**
   * Call this often while the client is connected, since the broker does not see all packets of the client.
   *
   * @param interval maximum time without a packet to the broker, milliseconds
   */
  keepAlive(now: number, interval: number): void {
    if (now - this.#pingedAt < interval || !this.client.connected || this.#side.readableLength > 0) return
    this.#pingedAt = now
    this.#pings++
    this.send(pingreq)
  }

  /**
   * Subscribes the client. Later packets from the broker wait for `release`. Filters of a host's client are requested one after
   * another: a broker that keeps its sessions in Redis may not answer a SUBSCRIBE with several filters.
   *
   * @param filters at least one
   * @returns the granted QoS of each filter, or 128 if it is refused
   */
  async subscribe(messageId: number, filters: readonly AskedFilter[]): Promise<readonly number[]> {
    this.#hold()
    const codes: number[] = []
    for (const asked of this.#isRelayed ? [filters] : filters.map(each => [each])) {
      const suback = await this.#ask({ cmd: 'subscribe', messageId, subscriptions: [...asked] })
      codes.push(...suback.subarray(-asked.length))
    }
    return codes
  }

  /** @param filters at least one */
  async unsubscribe(messageId: number, filters: readonly string[]): Promise<void> {
    this.#hold()
    await this.#ask({ cmd: 'unsubscribe', messageId, unsubscriptions: [...filters] })
  }

  /** Resolves with the SUBACK or UNSUBACK; never if the connection is closed before that. */
  #ask(packet: OtherPacket): Promise<Buffer> {
    return new Promise(resolve => {
      this.#onAnswered = resolve
      this.send(encode(packet, 4))
    })
  }

  #hold(): void {
    if (this.#isRelayed) this.#handlers.onHold()
    else this.#held ??= []
  }

  /** Sends the packets that were held since `subscribe` or `unsubscribe` was called. */
  release(): void {
    if (this.#isRelayed) this.#handlers.onRelease()
    const held = this.#held ?? []
    this.#held = undefined
    if (held.length > 0) this.#socket.write(Buffer.concat(held))
  }

  /** Whether the packet id belongs to a message from the broker that the client has not acknowledged yet. */
  uses(messageId: number): boolean {
    return this.#ids?.has(messageId) === true
  }

  /** A packet id for a message of Thingwire, 1 to 65,535, that the broker does not use. */
  nextMessageId(): number {
    // The broker counts up without checking which ids are in use, so these ids stay far from its next ids.
    const ahead = (this.#newestOwnId - this.#newestId + maximumMessageId) % maximumMessageId
    if (this.#newestId > 0 && ahead < maximumMessageId / 4)
      this.#newestOwnId = (this.#newestId + (maximumMessageId >> 1)) % maximumMessageId
    do this.#newestOwnId = this.#newestOwnId >= maximumMessageId ? 1 : this.#newestOwnId + 1
    while (this.uses(this.#newestOwnId))
    return this.#newestOwnId
  }

  /** Call this when the client has sent PUBACK or PUBCOMP. @returns whether it was for a message from the broker */
  acked(messageId: number): boolean {
    return this.#ids?.delete(messageId) === true
  }

  /** Call this when a message of Thingwire is acknowledged. @returns the broker's message that waited for the packet id */
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
    // An empty slice would keep the whole buffer in memory.
    this.#unfinished = rest.length === 0 ? nothing : rest
    const passed = packets.filter(packet => this.#passes(packet))
    if (passed.length === 0) return undefined
    const answer =
      passed.length === packets.length ? whole.subarray(0, whole.length - rest.length) : Buffer.concat(passed)
    if (this.#isRelayed) this.#handlers.onMessages(answer, passed)
    else if (this.#held) this.#held.push(answer)
    else return answer
    return undefined
  }

  onClosed(error: Error | null): void {
    // A client of Thingwire that is not relayed does not depend on the broker's persistence.
    if (!error || !this.#isOurs || this.#isRelayed) this.#handlers.onClosedByBroker(error)
  }

  #passes(packet: Buffer): boolean {
    switch (typeOf(packet[0] ?? 0)) {
      case types.connack:
        return !this.#isOurs && !this.#isRefused
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

  /** @returns whether `#ask` waited for the answer. After `detach`, the client itself waits for it. */
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

  /** Closes the connection if a new message has a packet id in use: if it waited for the id, newer messages would overtake it. */
  #mayRelay(messageId: number, packet: Buffer): boolean {
    const isNew =
      typeOf(packet[0] ?? 0) === types.publish && ((packet[0] ?? 0) & publishFlags.duplicate) === 0
    if (isNew && (this.uses(messageId) || this.#handlers.isUnacked(messageId))) {
      this.#handlers.onClosedByBroker(new ConnectionClosed('no_packet_id'))
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

/** The complete packets at the beginning of the bytes, and the bytes after them. @throws MalformedPacket */
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

/** The packet id of a complete packet; 0 if it has none. */
export function messageIdOf(packet: Buffer): number {
  const header = headerAt(packet, 0)
  if (!header || header.length < 2) return 0
  const { firstByte, start } = header
  if (typeOf(firstByte) !== types.publish) return packet.readUInt16BE(start)
  return qosOf(firstByte) === 0 ? 0 : packet.readUInt16BE(start + 2 + packet.readUInt16BE(start))
}

/** Members of a TCP or TLS socket that describe the peer and the connection. */
const socketMembers =
  'remoteAddress remotePort remoteFamily localAddress localPort localFamily bytesRead bytesWritten ' +
  'encrypted authorized authorizationError servername alpnProtocol ' +
  'address getPeerCertificate getPeerX509Certificate getCertificate getProtocol getCipher'

/** Number of bytes that the broker may leave unread before the server stops reading from the client. */
const mostUnread = 16 * 1024

interface BrokerSideHandlers {
  /** Called when the broker can take more bytes. */
  onRoom(): void
  /** Called with bytes from the broker for the client. @returns the bytes to send now */
  onAnswer(bytes: Buffer): Buffer | undefined
  /** Called when the broker has closed the stream. @param error null if the stream was closed without an error */
  onClosed(error: Error | null): void
}

/**
 * The stream that a broker uses as the socket of a client. The broker reads the bytes that are pushed into this stream; handlers
 * decide which of the broker's bytes reach the client. The stream has the socket's address and TLS members, for the host's hooks.
 */
class BrokerSide extends Duplex {
  readonly #socket: Duplex
  readonly #handlers: BrokerSideHandlers

  constructor(socket: Duplex, handlers: BrokerSideHandlers) {
    super({ highWaterMark: mostUnread })
    this.#socket = socket
    this.#handlers = handlers
  }

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
    // The broker waits for a client that does not read, and finally disconnects the client.
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
