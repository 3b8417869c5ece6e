import type { Duplex } from 'node:stream'
import type { Client } from 'aedes'
import { type Principal, principalName } from '../../access/principal.ts'
import type { Lock, TakenLock } from '../../core/locks.ts'
import type { ThingwireError } from '../../errors.ts'
import type { DoorOptions } from '../attach-options.ts'
import { LiveClient, type Receiver } from '../delivery/live-client.ts'
import { BrokerLink, type BrokerLinkHandlers } from '../host/broker-link.ts'
import type { MqttThings } from '../mqtt-things.ts'
import { type Codec, codecOf, unacceptableLevel } from '../packets/codec.ts'
import { disconnect, pingresp } from '../packets/encode.ts'
import { type Closing, ConnectionClosed } from '../packets/outcomes.ts'
import { MalformedPacket, type Packet } from '../packets/packet.ts'
import type { RelayedClient } from '../relay/relayed-client.ts'
import type { MqttSession } from '../sessions/session.ts'
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

/** `disconnect`: the client sent DISCONNECT, so its will does not apply (MQTT-3.14.4-3). */
export type ConnectionEnd = 'disconnect' | Closing

const maximumMessageId = 65_535
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
  #messageId = 0
  #state: ConnectionState = 'connecting'
  #end: ConnectionEnd | undefined
  /** Of the version that CONNECT chose. */
  codec: Codec = codecOf(4)
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
    this.live = new LiveClient({ live, clock, maxPacketSize, drainTimeout, socket, request, receiver: this })
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

  /** Call this before the first packet arrives. */
  handleWith(handler: PacketHandler): void {
    this.#handler = handler
  }

  take(packet: Packet, now: number): Promise<void> | undefined {
    this.#keepAlive.heard(now)
    if (packet.cmd === 'connect') {
      this.codec = codecOf(packet.protocolVersion)
      this.#keepAlive.connected(packet.keepalive, now)
    }
    if (packet.cmd === 'pingreq') this.#keepAlive.answered(now)
    return this.#handler?.take(packet)
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

  /** Refuses CONNECT. CONNACK is sent later, when the broker calls `authenticate`. */
  reject(): void {
    this.#state = 'rejected'
  }

  /** Sends CONNACK 0 to a client of Thingwire. */
  accept(): void {
    this.broker.becomeOurs(this.relayed !== undefined)
    this.socket.write(this.codec.connack(this.session?.wasPresent === true))
    this.resume()
  }

  /** Continues with the packets after CONNECT. */
  resume(): void {
    // The client may have left before the broker called `authenticate`.
    if (this.#state !== 'left') this.#state = 'connected'
    this.inbound.resume()
  }

  /** Call this at DISCONNECT: no packet may follow it (MQTT-3.14.4-1). */
  disconnected(): void {
    this.#end ??= 'disconnect'
    this.inbound.stop()
  }

  /** Closes the connection without acknowledging pending packets, so that the client sends those packets again. */
  close(error: Error): void {
    if (error instanceof ConnectionClosed) this.#end ??= error.why
    this.inbound.stop()
    const last = this.codec.closing(error)
    if (last) this.socket.write(last, () => this.socket.destroy(error))
    else this.socket.destroy(error)
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
    if (!this.socket.destroyed) this.socket.destroy(error ?? undefined)
  }

  onMessages(packets: Buffer): void {
    this.live.brokerPackets.push(packets, this.relayed?.isPaced(packets[0] ?? 0) === true)
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
        if (this.isConnected && inbound.isAnswering) socket.write(pingresp)
        break
      default:
        this.broker.keepAlive(now, this.#keepAlive.interval)
    }
  }

  /** The next packet id for a PUBLISH to the client. Skips ids that the broker uses. */
  nextMessageId(): number {
    this.#stayAhead()
    do this.#messageId = this.#messageId >= maximumMessageId ? 1 : this.#messageId + 1
    while (this.broker.uses(this.#messageId))
    return this.#messageId
  }

  /** Keeps Thingwire's packet ids far from the broker's next ids. The broker counts up without checking which ids are in use. */
  #stayAhead(): void {
    const { newestId } = this.broker
    if (newestId === 0) return
    const ahead = (this.#messageId - newestId + maximumMessageId) % maximumMessageId
    if (ahead < maximumMessageId / 4)
      this.#messageId = (newestId + (maximumMessageId >> 1)) % maximumMessageId
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
