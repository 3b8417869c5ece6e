import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import type { Client } from 'aedes'
import { type Principal, principalName } from '../../access/principal.ts'
import { linger } from '../../core/async/linger.ts'
import type { Lock, TakenLock } from '../../core/locks.ts'
import type { ThingwireError } from '../../errors.ts'
import type { DoorOptions } from '../attach-options.ts'
import { LiveClient } from '../delivery/live-client.ts'
import type { Receiver } from '../delivery/outgoing.ts'
import { BrokerLink, type BrokerLinkHandlers } from '../host/broker-link.ts'
import type { MqttThings } from '../mqtt-things.ts'
import { type Codec, unacceptableLevel } from '../packets/codec.ts'
import { disconnect, encodeAck, pingresp } from '../packets/encode.ts'
import { type Closing, ConnectionClosed, type ConnectRefused } from '../packets/outcomes.ts'
import { type Ack, type Connect, MalformedPacket, type Packet, type QoS, types } from '../packets/packet.ts'
import type { RelayedClient } from '../relay/relayed-client.ts'
import type { MqttSession } from '../sessions/session.ts'
import { answersTopic } from '../topics.ts'
import { unlessRefused } from '../unless-refused.ts'
import type { KeptWillContent } from '../wills/will-documents.ts'
import { Acks } from './acks.ts'
import type { Admission } from './admission.ts'
import { InFlight } from './in-flight.ts'
import { Inbound, type InboundOwner, type Reading } from './inbound.ts'
import { KeepAlive } from './keep-alive.ts'
import { UsedTokens } from './used-tokens.ts'

export interface PacketHandler {
  /** @returns a promise if no later packet may be read until the promise resolves @throws Error to close the connection */
  take(packet: Packet): Promise<void> | undefined
}

/** Counts a refused request of a connection. @returns the error to answer with; see `Limits.countFailure` */
export type CountFailure = (connection: Connection, error: ThingwireError) => ThingwireError

export interface ConnectionParts {
  readonly things: Pick<MqttThings, 'access' | 'live' | 'clock' | 'observer'>
  readonly options: Pick<DoorOptions, 'drainTimeout' | 'onSilent' | 'onRefused'>
  readonly reading: Reading
}

export interface KeptWill {
  readonly name: string
  readonly will: KeptWillContent
  readonly lock: Lock | undefined
}

/**
 * `connecting`: CONNECT is not answered yet. `rejected`: CONNECT is refused. `connected`: CONNACK 0 was sent. `left`: the
 * connection is closed, and none of its packets is pending.
 */
type ConnectionState = 'connecting' | 'rejected' | 'connected' | 'left'

/**
 * `disconnect`: the client sent DISCONNECT, so its will does not apply (MQTT-3.14.4-3). `disconnect_with_will`: the client wants
 * its will to apply nevertheless.
 */
export type ConnectionEnd = 'disconnect' | 'disconnect_with_will' | Closing

let opened = 0

/** One network connection, with the state of its client. */
export class Connection implements InboundOwner, BrokerLinkHandlers, Receiver {
  /** Ordinal of the connection in this process, from 1. */
  readonly place = ++opened
  readonly socket: Duplex
  readonly broker: BrokerLink
  readonly inbound: Inbound
  readonly acks: Acks
  readonly live: LiveClient
  readonly inFlight = new InFlight()
  readonly #parts: ConnectionParts
  readonly #keepAlive = new KeepAlive()
  #handler: PacketHandler | undefined
  #onClosed: ((error: Error | null) => void) | undefined
  #state: ConnectionState = 'connecting'
  #end: ConnectionEnd | undefined
  /** Set by CONNECT. */
  asked: Connect | undefined
  #isClosing = false
  /** Time on the clock of `performance.now()`, milliseconds. */
  readonly openedAt = performance.now()
  /** Set before CONNECT is accepted or refused; undefined if the client has no known credential. */
  principal: Principal | undefined
  /** Set before CONNECT is accepted. */
  admission: Admission | undefined
  /** Resolves when the admission of the client has succeeded or failed. */
  admitting: Promise<void> | undefined
  session: MqttSession | undefined
  /** Set if the client may use topics that are not Thingwire's. */
  relayed: RelayedClient | undefined
  /** The lock of the client id. Set if the client has connected with a credential. */
  lock: TakenLock | undefined
  /** By thing id: the lock of an anonymous client for the thing. Set when the client has used the thing's token. */
  locksOfThings: Map<string, Lock> | undefined
  will: KeptWill | undefined
  /** By thing id: the token or id that the client used in its latest subscription to the thing (contract §7.4). */
  readonly aliases = new Map<string, string>()
  readonly tokens = new UsedTokens()

  /** @param accept passes a stream to Aedes, which uses it as the client's socket */
  constructor(socket: Duplex, accept: (stream: Duplex) => Client, parts: ConnectionParts) {
    this.socket = socket
    this.#parts = parts
    this.broker = new BrokerLink(socket, accept, this)
    const { things, options, reading } = parts
    const { live, clock, observer } = things
    const { drainTimeout } = options
    const { req: request } = this.client
    const { maxPacketSize } = reading
    const onDropped = (messages: number) => observer?.dropped(messages)
    const delivery = { live, clock, maxPacketSize, drainTimeout, onDropped }
    this.live = new LiveClient({ ...delivery, socket, request, receiver: this })
    this.inbound = new Inbound(socket, this, reading)
    this.acks = new Acks(this, this.inbound, reading.time, observer)
    // If the broker still has packets to read, it closes the connection after reading them.
    socket.once('end', () => this.broker.end() || void this.inbound.whenIdle().then(() => socket.destroy()))
    // If Node closed the socket when the client closes its side, a refusal of the last packet would come too late to be logged.
    socket.allowHalfOpen = true
    socket.once('error', error => this.broker.close(error))
  }

  get client(): Client {
    return this.broker.client
  }

  /**
   * Call this before the first packet arrives.
   *
   * @param onClosed called once, when the connection is closed, with the error that closed it
   */
  handleWith(handler: PacketHandler, onClosed: (error: Error | null) => void): void {
    this.#handler = handler
    this.#onClosed = onClosed
    this.socket.once('close', () => this.#gone(this.socket.errored))
  }

  take(packet: Packet, now: number): Promise<void> | undefined {
    this.#keepAlive.heard(now)
    if (packet.cmd === 'connect') {
      this.asked = packet
      this.#keepAlive.connected(packet.keepalive, now)
    }
    if (packet.cmd === 'pingreq') this.#keepAlive.answered(now)
    return this.#handler?.take(packet)
  }

  get codec(): Codec {
    return this.inbound.codec
  }

  /** Whether nothing can be sent any more. */
  get isClosed(): boolean {
    return this.#isClosing || this.socket.destroyed
  }

  /** @param packets complete packets */
  send(packets: Uint8Array): void {
    if (!this.isClosed && !this.socket.writableEnded) this.socket.write(packets)
  }

  get state(): ConnectionState {
    return this.#state
  }

  get isConnected(): boolean {
    return this.#state === 'connected'
  }

  /** Why the connection ended; undefined while it is open, or if it ended for any other reason. */
  get end(): ConnectionEnd | undefined {
    return this.#end
  }

  /** Refuses CONNECT. Call `refuse` when the broker asks whether to accept the client. */
  reject(): void {
    this.#state = 'rejected'
  }

  /** Sends the CONNACK of a refused CONNECT. The broker then closes the connection. */
  refuse(refusal: ConnectRefused): void {
    this.send(this.codec.connackRefusal(refusal))
    this.broker.refused()
  }

  /** Sends the CONNACK of an accepted client of Thingwire. */
  accept(): void {
    this.broker.becomeOurs(this.relayed !== undefined)
    const { wasPresent = false, expiry = 0 } = this.session ?? {}
    const assignedClientId = this.admission?.assignedClientId
    const { principal } = this
    const answers = principal?.kind === 'thing' ? answersTopic(principal.thingId) : undefined
    const { longest } = this.inbound
    const begun = { isPresent: wasPresent, expiry, assignedClientId, answersTopic: answers, longest }
    this.send(this.codec.connack(begun))
    this.resume()
  }

  /** Continues with the packets after CONNECT. */
  resume(): void {
    // The client may have left before the broker called `authenticate`.
    if (this.#state !== 'left') this.#state = 'connected'
    this.inbound.resume()
  }

  /** Call this at DISCONNECT: no packet may follow it (MQTT-3.14.4-1). */
  disconnected(keepsWill: boolean): void {
    this.#end ??= keepsWill ? 'disconnect_with_will' : 'disconnect'
    this.inbound.stop()
  }

  /** Closes the connection without acknowledging pending packets, so that the client sends those packets again. */
  close(error: Error): void {
    if (error instanceof ConnectionClosed) this.#end ??= error.why
    this.inbound.stop()
    if (this.isClosed) return
    const last = this.codec.closing(error)
    // A client that reads nothing does not get the packet.
    if (last && !this.socket.writableNeedDrain) this.#linger(error, last)
    else this.socket.destroy(this.#end === 'stopping' ? undefined : error)
  }

  /** The connection counts as closed at once, so that nothing waits for the client. */
  #linger(error: Error | null, last?: Uint8Array): void {
    this.#isClosing = true
    // Otherwise Aedes hears of the error from the socket, which ends without one here.
    if (error && this.#end !== 'stopping') this.broker.close(error)
    this.inbound.detach()
    linger(this.socket, last)
    this.#gone(error)
  }

  #gone(error: Error | null): void {
    this.#onClosed?.(error)
    this.#onClosed = undefined
  }

  /** Resolves when the socket is closed. */
  async whenClosed(): Promise<void> {
    if (!this.socket.closed) await once(this.socket, 'close').catch(() => {})
  }

  left(): void {
    this.#state = 'left'
  }

  /** Closes the connection after a DISCONNECT. */
  leave(): void {
    // Aedes handles the acks of a relayed client before DISCONNECT, and drops the will of a host's client at DISCONNECT.
    if (this.isHosts || this.relayed) this.broker.send(disconnect)
    else this.socket.destroy()
  }

  onFailed(error: Error): void {
    if (error instanceof MalformedPacket && error.violation === 'version')
      this.#parts.options.onRefused(this.client, unacceptableLevel)
    this.close(error)
  }

  passToBroker(): undefined {
    this.broker.send(this.inbound.raw)
  }

  passAckToBroker({ cmd, messageId }: Ack): void {
    this.broker.send(encodeAck(types[cmd], messageId))
  }

  relay(bytes: Buffer): void {
    this.broker.send(bytes)
  }

  get hasRoom(): boolean {
    return this.broker.hasRoom
  }

  onRoom(): void {
    this.inbound.read()
  }

  onClosedByBroker(error: Error | null): void {
    if (this.isClosed) return
    if (this.#state === 'rejected') this.#linger(error)
    else this.socket.destroy(error ?? undefined)
  }

  onMessages(bytes: Buffer, packets: readonly Buffer[]): void {
    const isPaced = this.relayed?.isPaced(bytes[0] ?? 0) === true
    for (const { bytes: some, unacked, isUrgent } of this.codec.fromBroker(bytes, packets)) {
      if (some && isUrgent) this.send(some)
      else if (some) this.live.brokerPackets.push(some, isPaced, unacked !== undefined)
      else this.#skip(unacked)
    }
  }

  /** A message from the broker that is too large for the client is dropped, and counts as acknowledged. */
  #skip(message: { readonly messageId: number; readonly qos: QoS } | undefined): void {
    this.#parts.things.observer?.dropped(1)
    if (!message) return
    const { messageId, qos } = message
    // The broker has not finished writing the message.
    setImmediate(() => this.endAtBroker(messageId, qos === 1 ? 'puback' : 'pubcomp'))
  }

  /** Passes the last ack of a message from the broker. */
  endAtBroker(messageId: number, cmd: 'puback' | 'pubcomp'): void {
    this.passAckToBroker({ cmd, messageId })
    if (this.broker.acked(messageId)) this.live.acked()
  }

  onHold(): void {
    this.live.brokerPackets.hold()
  }

  onRelease(): void {
    this.live.brokerPackets.release()
  }

  get unreadAnswers(): number {
    return this.live.unreadAnswers + this.broker.waitingBytes
  }

  onUnread(): void {
    this.live.watch()
  }

  /** Call this every half second. @param wasPaused whether the process was paused since the last call */
  tick(now: number, wasPaused: boolean): void {
    const { inbound, socket } = this
    const { isLimited, isIdle, unfinishedBytes } = inbound
    const arriving = (socket as Partial<ArrivingStream>).unfinishedBytes
    const bytes = unfinishedBytes === undefined ? arriving : unfinishedBytes + (arriving ?? 0)
    switch (this.#keepAlive.tick({ now, wasPaused, isLimited, isIdle, unfinishedBytes: bytes })) {
      case 'silent':
        this.#parts.options.onSilent(this.client)
        this.close(new ConnectionClosed('silent'))
        break
      case 'unfinished':
        this.close(new ConnectionClosed('unfinished'))
        break
      case 'ping':
        // A PINGRESP does not help a client that reads no answers, or a connection that is about to close.
        if (this.isConnected && inbound.isAnswering) this.send(pingresp)
        break
      default:
        this.broker.keepAlive(now, this.#keepAlive.interval)
    }
  }

  nextMessageId(): number {
    return this.broker.nextMessageId()
  }

  isUnacked(messageId: number): boolean {
    return this.session?.unacked.uses(messageId) === true
  }

  aliasOf(thingId: string): string {
    return this.aliases.get(thingId) ?? thingId
  }

  get reader(): string {
    return this.principal ? principalName(this.principal) : `connection.${this.place}`
  }

  /** @throws ThingwireError if the store is unavailable */
  async maySee(thingId: string): Promise<boolean> {
    const asking = this.#parts.things.access.authorise(thingId, this.admission?.credential, 'read')
    return (await unlessRefused(asking)) !== undefined
  }

  /** The lock under which the connection writes to a thing; undefined if there is none. Clients of the host never have a lock. */
  lockOf(thingId: string): Lock | undefined {
    return this.lock ?? this.locksOfThings?.get(thingId)
  }

  /** Whether the client belongs to the host, not to Thingwire. */
  get isHosts(): boolean {
    return this.admission?.kind === 'host'
  }

  /** Whether the connection has the lock that it needs to write to a thing. The host's clients need none. */
  actsFor(thingId: string): boolean {
    return this.isHosts || this.lockOf(thingId) !== undefined
  }

  get hasAuthenticated(): boolean {
    return this.principal !== undefined || this.locksOfThings !== undefined
  }
}

/** A WebSocket stream that exposes the number of received bytes of an incomplete message. */
export interface ArrivingStream {
  readonly unfinishedBytes: number | undefined
}
