import type { Duplex } from 'node:stream'
import type { Client } from 'aedes'
import { type Principal, principalName } from '../../access/principal.ts'
import type { Lock, TakenLock } from '../../core/locks.ts'
import type { ThingwireError } from '../../errors.ts'
import type { DoorOptions } from '../attach-options.ts'
import { LiveClient, type Receiver } from '../delivery/live-client.ts'
import { BrokerLink, type BrokerLinkHandlers } from '../host/broker-link.ts'
import type { MqttThings } from '../mqtt-things.ts'
import { disconnect, encodeConnack, pingresp } from '../packets/encode.ts'
import { type Connect, MalformedPacket, type Packet } from '../packets/packet.ts'
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

/** What becomes of the packets of a connection. */
export interface PacketHandler {
  /**
   * To be called in the order of arrival.
   *
   * @returns a promise: nothing behind the packet is looked at before that has resolved
   * @throws Error to close the connection
   */
  take(packet: Packet): Promise<void> | undefined
}

/**
 * To be called with what a request of a connection was refused with.
 *
 * @returns what to answer, as `Limits.countFailure`
 */
export type CountFailure = (connection: Connection, error: ThingwireError) => ThingwireError

/** What all connections share. */
export interface ConnectionParts {
  readonly things: Pick<MqttThings, 'access' | 'live' | 'clock' | 'observer'>
  readonly options: Pick<DoorOptions, 'drainTimeout' | 'onSilent' | 'onRefused'>
  readonly reading: Reading
}

/** A will of the connection, and in whose name it is kept. */
export interface KeptWill {
  readonly name: string
  readonly will: KeptWillContent
  readonly lock: Lock | undefined
}

/**
 * `connecting`: CONNECT is not answered yet. `rejected`: its answer is a refusal. `connected`: CONNACK 0 is sent. `left`: the
 * connection is gone, and nothing of it is pending.
 */
type ConnectionState = 'connecting' | 'rejected' | 'connected' | 'left'

/**
 * `disconnect`: a DISCONNECT was received, so that the will does not apply (MQTT-3.14.4-3). `eviction`: another connection took
 * the client over, or its credential or topics were withdrawn.
 */
export type ConnectionEnd = 'disconnect' | 'eviction'

const maximumMessageId = 65_535
let opened = 0

/** One network connection, and what is known of who is at its other end. */
export class Connection implements InboundOwner, BrokerLinkHandlers, Receiver {
  /** Greater than that of every connection that was opened before. */
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
  /** Protocol level of its CONNECT. */
  protocolVersion: Connect['protocolVersion'] = 4
  /** On the clock of `performance.now()`, milliseconds. */
  readonly openedAt = performance.now()
  /** Whom its credential names; known before it is decided whether to accept it. */
  principal: Principal | undefined
  /** From CONNECT on, before it is answered. */
  admission: Admission | undefined
  /** Resolves when what was begun for CONNECT is done. */
  admitting: Promise<void> | undefined
  session: MqttSession | undefined
  /** Its client may use topics beside those of things. */
  relayed: RelayedClient | undefined
  /** That it acts for its client, if that is a principal's. */
  lock: TakenLock | undefined
  /** Of an anonymous client, that it acts for it: by thing id, of each thing whose token it has used. */
  locksOfThings: Map<string, Lock> | undefined
  will: KeptWill | undefined
  /** By thing id, the spelling of its latest subscription (contract §7). */
  readonly aliases = new Map<string, string>()
  /** Those that it has used. */
  readonly tokens = new UsedTokens()

  /** @param accept gives the broker the stream that it takes for the socket */
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
    this.acks = new Acks(socket, this.inbound, reading.time, observer)
    // What the broker has been given before, it reads before it closes.
    socket.once('end', () => this.broker.end() || socket.destroy())
    socket.once('error', error => this.broker.close(error))
  }

  /** The object of the broker for it. */
  get client(): Client {
    return this.broker.client
  }

  /** To be called before anything is read. */
  handleWith(handler: PacketHandler): void {
    this.#handler = handler
  }

  take(packet: Packet, now: number): Promise<void> | undefined {
    this.#keepAlive.heard(now)
    if (packet.cmd === 'connect') {
      this.protocolVersion = packet.protocolVersion
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

  /** Why it ends; undefined if it goes on, or ends by a failure of the network or of a packet. */
  get end(): ConnectionEnd | undefined {
    return this.#end
  }

  /** CONNECT is refused: the answer follows when the broker asks for it. */
  reject(): void {
    this.#state = 'rejected'
  }

  /** Sends CONNACK 0 to a client that is not the host's. */
  accept(): void {
    this.broker.becomeOurs(this.relayed !== undefined)
    // MQTT 3.1 has no flag for a session that was present.
    this.socket.write(encodeConnack(0, this.protocolVersion > 3 && this.session?.wasPresent))
    this.resume()
  }

  /** CONNACK 0 is sent: takes what came behind CONNECT. */
  resume(): void {
    // The client can be gone by the time the broker asks for a decision.
    if (this.#state !== 'left') this.#state = 'connected'
    this.inbound.resume()
  }

  /** Nothing may follow a DISCONNECT (MQTT-3.14.4-1). */
  disconnected(): void {
    this.#end ??= 'disconnect'
    this.inbound.stop()
  }

  /** Closes the connection for what others have done. */
  evict(error: Error): void {
    this.#end ??= 'eviction'
    this.close(error)
  }

  /** Ends the connection without an ack: the client comes again. */
  close(error: Error): void {
    this.inbound.stop()
    this.socket.destroy(error)
  }

  /** The connection is gone, and nothing of it is pending. */
  left(): void {
    this.#state = 'left'
  }

  /** Closes the connection behind a DISCONNECT. */
  leave(): void {
    // The broker must not publish the will of a client of the host; of others, it keeps what they have acknowledged.
    if (this.isHosts || this.relayed) this.broker.send(disconnect)
    else this.socket.destroy()
  }

  onFailed(error: Error): void {
    this.inbound.stop()
    if (error instanceof MalformedPacket && error.returnCode !== undefined) {
      this.#parts.options.onRefused(this.client, error.returnCode)
      this.socket.write(encodeConnack(error.returnCode), () => this.socket.destroy(error))
    } else {
      this.socket.destroy(error)
    }
  }

  /** What the broker is to deal with: the packet that is being taken. */
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

  /** To be called every half second. @param wasPaused the process was */
  tick(now: number, wasPaused: boolean): void {
    const { inbound, socket } = this
    const { isLimited, isIdle, unfinishedBytes } = inbound
    const arriving = (socket as Partial<ArrivingStream>).unfinishedBytes
    const bytes = unfinishedBytes === undefined ? arriving : unfinishedBytes + (arriving ?? 0)
    switch (this.#keepAlive.tick({ now, wasPaused, isLimited, isIdle, unfinishedBytes: bytes })) {
      case 'silent':
        this.#parts.options.onSilent(this.client)
        this.close(new Error('keep alive timeout'))
        break
      case 'unfinished':
        this.close(new Error('a packet began but did not end in time'))
        break
      case 'ping':
        // Who does not read its answers, or is about to be closed, is not helped by one more.
        if (this.isConnected && inbound.isAnswering) socket.write(pingresp)
        break
      default:
        this.broker.keepAlive(now, this.#keepAlive.interval)
    }
  }

  /** A packet id for a PUBLISH to the client that the broker does not use. */
  nextMessageId(): number {
    this.#stayAhead()
    do this.#messageId = this.#messageId >= maximumMessageId ? 1 : this.#messageId + 1
    while (this.broker.uses(this.#messageId))
    return this.#messageId
  }

  /** The broker counts its ids up, whatever is in use: ours are far from those that it takes next. */
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

  /** How the client spells a thing. */
  aliasOf(thingId: string): string {
    return this.aliases.get(thingId) ?? thingId
  }

  get reader(): string {
    return this.principal ? principalName(this.principal) : `connection.${this.place}`
  }

  /** @throws ThingwireError if that cannot be determined now */
  async maySee(thingId: string): Promise<boolean> {
    const asking = this.#parts.things.access.authorise(thingId, this.admission?.credential, 'read')
    return (await unlessRefused(asking)) !== undefined
  }

  /** In whose name it writes to a thing; undefined: in nobody's, since it is a client of the host. */
  lockOf(thingId: string): Lock | undefined {
    return this.lock ?? this.locksOfThings?.get(thingId)
  }

  /** Whether its client is the host's, and none of ours. */
  get isHosts(): boolean {
    return this.admission?.kind === 'host'
  }

  /** Whether nothing is left to be taken before it writes to a thing that its client may write to. */
  actsFor(thingId: string): boolean {
    return this.isHosts || this.lockOf(thingId) !== undefined
  }

  /** Whether its client has shown a credential that counts. */
  get hasAuthenticated(): boolean {
    return this.principal !== undefined || this.locksOfThings !== undefined
  }
}

/** A stream that has received bytes which it cannot give yet: of a WebSocket message that is begun. */
export interface ArrivingStream {
  /** Undefined: none. */
  readonly unfinishedBytes: number | undefined
}
