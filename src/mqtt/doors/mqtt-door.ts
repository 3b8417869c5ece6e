import type { Duplex } from 'node:stream'
import type { AedesPublishPacket, Client, ConnectPacket } from 'aedes'
import type { Principal, Revocation } from '../../access/access.ts'
import { principalName } from '../../access/principal.ts'
import { isOutage } from '../../core/outage.ts'
import type { RefusedWrite } from '../../core/ports.ts'
import { describeRefusedWrite } from '../../core/refusals/refused-write.ts'
import { isNarrower } from '../../core/topics/topic-grant.ts'
import type { ThingwireError } from '../../errors.ts'
import type { Live } from '../../live/index.ts'
import type { DoorOptions } from '../attach-options.ts'
import {
  Connection,
  type ConnectionParts,
  type CountFailure,
  type PacketHandler,
} from '../connection/connection.ts'
import { ReadingTime } from '../connection/reading-time.ts'
import type { MqttThings } from '../mqtt-things.ts'
import { pingresp } from '../packets/encode.ts'
import { ConnectionClosed } from '../packets/outcomes.ts'
import type { Ack, Disconnect, Packet, Publish } from '../packets/packet.ts'
import type { Relay } from '../relay/relay.ts'
import { changeExpiry } from '../sessions/session.ts'
import { Sessions } from '../sessions/sessions.ts'
import { StoreRetries } from '../sessions/store-retries.ts'
import { isThingwireTopic } from '../topics.ts'
import { Wills } from '../wills/wills.ts'
import { ClientLocks } from './client-locks.ts'
import { type BrokerQuestion, ConnectDoor } from './connect-door.ts'
import { Departures } from './departures.ts'
import { Ownership } from './ownership.ts'
import { PublishDoor, type PublishDoorParts } from './publish-door.ts'
import { RejectedConnections } from './rejected-connections.ts'
import { SubscribeDoor } from './subscribe-door.ts'

/** Interval of keep-alive checks, milliseconds. A client with the shortest keep-alive, 1 s, is silent after 1.5 s. */
const tickInterval = 500

/** The MQTT door on one broker. */
export class MqttDoor {
  readonly #things: MqttThings
  readonly #options: DoorOptions
  readonly #connections = new Map<Client, Connection>()
  readonly #retries: StoreRetries
  readonly #sessions: Sessions
  readonly #rejections: RejectedConnections
  readonly #locks: ClientLocks
  readonly #departures: Departures
  readonly #connecting: ConnectDoor
  readonly #packets: PacketDoorParts
  readonly #parts: ConnectionParts
  readonly #stops: readonly (() => void)[]
  #isClosing = false

  constructor(things: MqttThings, options: DoorOptions) {
    const { locks, ingest, access } = things
    const { willGrace: grace, addressOf, onDefect, relay } = options
    this.#things = things
    this.#options = options
    const retries = new StoreRetries(options.onOutage)
    const onForgotten = (clientId: string) => relay?.forget(clientId)
    const sessions = new Sessions({ ...things, retries, onForgotten })
    const rejections = new RejectedConnections(ingest)
    const clientLocks = new ClientLocks(locks, (...replaced) => rejections.replaced(...replaced))
    const isRefused = (owner: string) => clientLocks.isRefused(owner)
    const onDeaths = (alive: ReadonlySet<string>) => sessions.adopt(alive)
    const wills = new Wills({ ...things, relay, isRefused, grace, onDeaths, onDefect })
    const onFailed = this.#onFailed
    const ownership = new Ownership({ locks: clientLocks, wills, retries, onFailed })
    this.#retries = retries
    this.#sessions = sessions
    this.#rejections = rejections
    this.#locks = clientLocks
    this.#departures = new Departures({ sessions, wills, ownership, relay, retries, onFailed })
    const countFailure: CountFailure = ({ client }, error) =>
      things.limits.countFailure(error, addressOf(client))
    const isClosing = () => this.#isClosing || options.isDraining()
    const shared = { things, sessions, relay, ownership, countFailure }
    this.#connecting = new ConnectDoor({ ...shared, wills, rejections, isClosing, ...options })
    const onElsewhere = ({ client }: Connection, error: ThingwireError) => {
      things.observer?.refusedWrite('mqtt', error.reason)
      options.onElsewhere(client, error)
    }
    this.#packets = {
      publishing: { ...shared, onElsewhere },
      subscribing: new SubscribeDoor({ ...shared, onElsewhere }),
      forgetWill: connection => this.#departures.forgetWill(connection),
    }
    const { maxPacketSize } = options
    const reading = { maxPacketSize, pendingOfAll: { packets: 0 }, time: new ReadingTime() }
    this.#parts = { things, options, reading }
    this.#stops = [
      ...this.#sendRefused(),
      ...this.#hearTopics(relay),
      access.onRevoke(revocation => void this.#revoke(revocation).catch(onFailed)),
      this.#tickConnections(),
    ]
  }

  #sendRefused(): readonly (() => void)[] {
    const { ingest, nodes, live } = this.#things
    const messages = new RefusedMessages(live)
    const send = (thingId: string, refused: RefusedWrite) => messages.send(thingId, refused)
    return [ingest.onRefused(send), nodes.onRefused(send)]
  }

  /** Closes the connections that lose a topic grant. Returning clients have only the permitted subscriptions. */
  #hearTopics(relay: Relay | undefined): readonly (() => void)[] {
    if (!relay) return []
    const { access } = this.#things
    const hear = async (changed: Principal | undefined): Promise<void> => {
      const name = changed && principalName(changed)
      for (const connection of this.#connections.values()) {
        const { principal, relayed } = connection
        if (!principal || !relayed || (name !== undefined && principalName(principal) !== name)) continue
        const grants = await access.topicsOf(principal)
        // The operator's connections stay, since each removal of a source would close them all.
        const isClosed = principal.kind !== 'admin' && isNarrower(grants, relayed.grants)
        if (isClosed) connection.close(new ConnectionClosed('topics_withdrawn'))
        else relayed.grants = grants
      }
      // The operator may use all topics that the server serves.
      const grants = await access.topicsOf(changed ?? { kind: 'admin' })
      await relay.restrictAll(name === undefined ? '' : `${name}:`, grants)
    }
    return [
      access.onTopics(thingId => {
        const changed = thingId === undefined ? undefined : ({ kind: 'thing', thingId } as const)
        void this.#retries.run(() => hear(changed)).catch(this.#onFailed)
      }),
    ]
  }

  #tickConnections(): () => void {
    let tickedAt = performance.now()
    const ticking = setInterval(() => {
      const now = performance.now()
      const wasPaused = now - tickedAt > 2 * tickInterval
      tickedAt = now
      for (const connection of this.#connections.values()) connection.tick(now, wasPaused)
    }, tickInterval)
    ticking.unref()
    return () => clearInterval(ticking)
  }

  /** @param accept passes a stream to the broker, which uses it as the client's socket */
  onConnection(socket: Duplex, accept: (stream: Duplex) => Client): Client {
    const connection = new Connection(socket, accept, this.#parts)
    const { client, inbound, broker } = connection
    this.#connections.set(client, connection)
    // The host's hooks are about to be restored, and will decide about this client.
    if (this.#isClosing && !this.#options.ownsBroker) inbound.stop()
    connection.handleWith(new PacketDoor(connection, this.#packets), error => {
      this.#connections.delete(client)
      inbound.letGo()
      if (connection.relayed && connection.isConnected) void broker.finish()
      else broker.close(null)
      this.#rejections.closed(connection, error)
      this.#departures.leave(connection)
    })
    return client
  }

  /** Whether the client has connected through the door. */
  knows(client: Client): boolean {
    return this.#connections.has(client)
  }

  /** Whether the client is the host's. Known only after `connect`. */
  isHosts(client: Client): boolean {
    return this.#connections.get(client)?.isHosts === true
  }

  /** Whether the broker may subscribe a client of Thingwire to a filter. */
  mayRelay(client: Client, filter: string): boolean {
    return this.#options.relay?.of(client)?.subscriptions.has(filter) === true
  }

  /** The message as the broker sends it to a client; null if the client must not get it; undefined if the host decides. */
  relayed(client: Client, packet: AedesPublishPacket): AedesPublishPacket | null | undefined {
    const { relay } = this.#options
    return relay && (relay.of(client)?.forward(packet) ?? null)
  }

  /** Answers a CONNECT; see `ConnectDoor.connect`. Never rejects. */
  async connect(
    client: Client,
    packet: ConnectPacket,
    handToBroker: () => Promise<BrokerQuestion>,
  ): Promise<void> {
    const connection = this.#connections.get(client)
    if (connection) await this.#connecting.connect(connection, packet, handToBroker)
    else (await handToBroker()).askHost()
  }

  onReady(client: Client): void {
    const connection = this.#connections.get(client)
    if (!connection?.isHosts) return
    connection.resume()
    this.#connecting.sendOwed(connection)
  }

  /** Closes connections that rely on revoked credentials, and ends the sessions of removed principals. */
  async #revoke({ hashes, principals, all, isChange }: Revocation): Promise<void> {
    for (const connection of this.#connections.values()) {
      if (!(all ? connection.tokens.hasSome : connection.tokens.hasAny(hashes))) continue
      connection.close(new ConnectionClosed('revoked'))
    }
    if (isChange) return
    for (const principal of principals) await this.#retries.run(() => this.#sessions.end(principal))
  }

  /** Finishes pending packets, leaves the host's clients to the host, and closes all other connections. */
  async close(putHooksBack: () => void): Promise<void> {
    this.#isClosing = true
    const connections = [...this.#connections.values()]
    for (const { inbound } of connections) inbound.stop()
    const leaving = this.#departures.leaveWills(connections)
    const drained = this.#things.ingest.drain()
    await Promise.all(connections.map(({ inbound }) => inbound.whenIdle())).finally(drained)
    await leaving
    // Waits until the last acks are written to the sockets.
    await new Promise(resolve => setImmediate(resolve))
    putHooksBack()
    for (const stop of this.#stops) stop()
    for (const connection of this.#connections.values()) {
      const { admission, isHosts, inbound } = connection
      // The host decides about a client that has not sent CONNECT yet.
      if (admission ? isHosts : !this.#options.ownsBroker) inbound.release()
      else connection.close(new ConnectionClosed('stopping'))
    }
    this.#sessions.close()
    // From here on, failed steps are not retried. Another node or the next start repeats them.
    this.#retries.close()
    for (const connection of connections) this.#departures.leave(connection)
    await this.#departures.close()
    this.#locks.close()
    await Promise.all(connections.map(each => each.isClosed && each.whenClosed()))
  }

  /** An outage is not a defect: `onOutage` has reported it, and the step was retried until the door closed. */
  readonly #onFailed = (error: unknown): void => {
    if (!isOutage(error)) this.#options.onDefect(error)
  }
}

/** Maximum number of messages about one thing within `window` (contract §7.2). */
const maximumMessages = 10
/** Period to which `maximumMessages` applies, milliseconds. */
const window = 1_000

/** Sends refused writes on `things/<id>/errors`, but not too many: a device that sends only nonsense must not flood subscribers. */
class RefusedMessages {
  readonly #live: Live
  /** Times of recent messages by thing id, oldest first; the thing with the newest message is the last entry of the map. */
  readonly #sent = new Map<string, number[]>()

  constructor(live: Live) {
    this.#live = live
  }

  send(thingId: string, refused: RefusedWrite): void {
    const now = performance.now()
    this.#forgetBefore(now - window)
    const times = this.#sent.get(thingId) ?? []
    while (times[0] !== undefined && times[0] <= now - window) times.shift()
    if (times.length >= maximumMessages) return
    times.push(now)
    this.#sent.delete(thingId)
    this.#sent.set(thingId, times)
    this.#live.sendRefused(thingId, Buffer.from(JSON.stringify(describeRefusedWrite(refused))))
  }

  #forgetBefore(time: number): void {
    for (const [thingId, times] of this.#sent) {
      if ((times.at(-1) ?? 0) > time) return
      this.#sent.delete(thingId)
    }
  }
}

interface PacketDoorParts {
  readonly publishing: PublishDoorParts
  readonly subscribing: SubscribeDoor
  /** Discards the will of a connection. @throws ThingwireError if the store fails */
  readonly forgetWill: (connection: Connection) => Promise<void> | undefined
}

/** Passes the packets of one connection to the doors, or to the host's broker. */
class PacketDoor implements PacketHandler {
  readonly #connection: Connection
  readonly #parts: PacketDoorParts
  readonly #publishing: PublishDoor

  constructor(connection: Connection, parts: PacketDoorParts) {
    this.#connection = connection
    this.#parts = parts
    this.#publishing = new PublishDoor(connection, parts.publishing)
  }

  take(packet: Packet): Promise<void> | undefined {
    const connection = this.#connection
    switch (packet.cmd) {
      case 'publish':
        return this.#takePublish(packet)
      case 'connect':
        // No later packet may be read before CONNACK.
        connection.inbound.hold()
        connection.broker.send(packet.forBroker ?? connection.inbound.raw)
        return undefined
      case 'subscribe':
        return this.#parts.subscribing.subscribe(connection, packet)
      case 'unsubscribe':
        return this.#parts.subscribing.unsubscribe(connection, packet)
      case 'pingreq':
        if (connection.isHosts) return connection.passToBroker()
        connection.send(pingresp)
        return undefined
      case 'disconnect':
        return this.#takeLeave(packet)
      default:
        return this.#takeAck(packet)
    }
  }

  #takePublish(packet: Publish): undefined {
    const isOfBroker = this.#connection.isHosts && !isThingwireTopic(packet.topic)
    if (isOfBroker) this.#connection.passToBroker()
    else this.#publishing.take(packet)
  }

  #takeAck(ack: Ack): undefined {
    const { cmd, messageId } = ack
    const connection = this.#connection
    const { live, broker, codec, isHosts } = connection
    if (cmd === 'pubrel' && this.#publishing.release(messageId)) return undefined
    if (cmd === 'pubrel' && !isHosts) {
      connection.send(codec.pubcomp(messageId, false))
      return undefined
    }
    if (cmd === 'puback' && live.ack(messageId)) {
      const waiting = broker.takeWaiting(messageId)
      if (waiting) connection.send(waiting)
      return undefined
    }
    // An ack from a client of Thingwire is ignored if its packet id is unknown.
    if (!isHosts && !broker.uses(messageId)) return undefined
    if (cmd === 'puback' || cmd === 'pubcomp') connection.endAtBroker(messageId, cmd)
    // The client has refused the message, so it waits for no PUBREL.
    else if (cmd === 'pubrec' && ack.isRefusal) connection.endAtBroker(messageId, 'pubcomp')
    else connection.passAckToBroker(ack)
    return undefined
  }

  /**
   * Discards the will before the connection is closed, so the will cannot apply afterwards even if the process dies. An earlier
   * packet that is refused meanwhile closes the connection with its reason, for the log.
   */
  async #takeLeave({ keepsWill = false, sessionExpiry }: Disconnect): Promise<void> {
    const connection = this.#connection
    if (sessionExpiry !== undefined && connection.session) changeExpiry(connection.session, sessionExpiry)
    connection.disconnected(keepsWill)
    const forgetting = keepsWill ? undefined : this.#parts.forgetWill(connection)
    await Promise.all([forgetting, connection.inbound.whenIdle()])
    connection.leave()
  }
}
