import type { Client } from 'aedes'
import type { Revocation } from '../access/access.ts'
import type { Hold, TakenHold } from '../core/holds.ts'
import { isOutage } from '../core/outage.ts'
import type { RefusedWrite } from '../core/ports.ts'
import type { ThingwireError } from '../errors.ts'
import type { InboundPacket } from './aedes-seams.ts'
import { Anonymous } from './anonymous.ts'
import { ClientHolds } from './client-holds.ts'
import { ConnectDoor } from './connect-door.ts'
import { Connection, type ConnectionHandlers, type KeptWill } from './connection.ts'
import { PublishDoor, type PublishDoorParts } from './publish-door.ts'
import { ReadingTime } from './reading-time.ts'
import { RefusedMessages } from './refused-messages.ts'
import { Sessions } from './sessions.ts'
import { StoreRetries } from './store-retries.ts'
import { SubscribeDoor } from './subscribe-door.ts'
import type { MqttThings } from './things.ts'
import { TurnedAwayConnections } from './turned-away.ts'
import { unlessRefused } from './unless-refused.ts'
import { Wills } from './wills.ts'

/** The shortest keepalive is a second, of which Aedes waits one and a half. */
const keepAliveInterval = 500

export interface MqttDoorOptions {
  readonly ownsBroker: boolean
  readonly maxPacketSize: number
  readonly willGrace: number
  readonly drainTimeout: number
  readonly addressOf: (client: Client) => string
  readonly isDraining: () => boolean
  readonly onDefect: (error: unknown) => void
  readonly onOutage: (error: unknown) => void
  /** Told of what a client of several things published where it may not, and which is on no thing's list. */
  readonly onElsewhere: (client: Client, error: ThingwireError) => void
}

/** Everything that this service does on one broker. */
export class MqttDoor {
  readonly sessions: Sessions
  readonly connecting: ConnectDoor
  /** Messages that sessions missed and do not get, because they are too many (contract §7). */
  notDelivered = 0
  readonly #things: MqttThings
  readonly #options: MqttDoorOptions
  readonly #wills: Wills
  readonly #turnedAway: TurnedAwayConnections
  readonly #holds: ClientHolds
  /** Names of the wills of clients that this process leaves: they wait for the next one, or for another node. */
  readonly #leftWills: string[] = []
  /** What is left to be done for connections that are gone. */
  readonly #retries: StoreRetries
  readonly #subscribing: SubscribeDoor
  readonly #publishing: PublishDoorParts
  readonly #handlers: Omit<ConnectionHandlers, 'onPacket'>
  readonly #anonymous: Anonymous
  readonly #connections = new Map<Client, Connection>()
  readonly #publishDoors = new WeakMap<Connection, PublishDoor>()
  /** Of connections that are gone, until what they had under way is done. */
  readonly #leavings = new Set<Promise<void>>()
  readonly #stopTelling: () => void
  readonly #stopRevoking: () => void
  readonly #keepAlive: NodeJS.Timeout
  #isClosing = false

  constructor(things: MqttThings, options: MqttDoorOptions) {
    const { documents, nodes, holds, ingest, access, live, clock, limits, sessionLog: log } = things
    const { observer } = things
    const { willGrace: grace, ownsBroker, maxPacketSize, drainTimeout } = options
    const { addressOf, isDraining, onDefect, onOutage, onElsewhere } = options
    this.#things = things
    this.#options = options
    this.#retries = new StoreRetries(onOutage)
    this.sessions = new Sessions({ documents, nodes, holds, live, log, retries: this.#retries })
    this.#turnedAway = new TurnedAwayConnections(ingest)
    this.#holds = new ClientHolds(holds, (...replaced) => this.#turnedAway.replaced(...replaced))
    const isRefused = (holder: string) => this.#holds.isRefused(holder)
    this.#wills = new Wills({ documents, nodes, holds, ingest, access, isRefused, grace, onDefect })
    this.#anonymous = new Anonymous(async (connection, clientId, thingId) => {
      const hold = await this.#takeOver(connection, clientId)
      connection.holdsOfThings ??= new Map()
      connection.holdsOfThings.set(thingId, hold)
      if (connection.isLeft) this.#release(hold)
    })
    const onProven = (connection: Connection, thingId: string) => this.#prove(connection, thingId)
    this.connecting = new ConnectDoor({
      things,
      sessions: this.sessions,
      wills: this.#wills,
      anonymous: this.#anonymous,
      ownsBroker,
      addressOf,
      isClosing: () => this.#isClosing || isDraining(),
      isOpen: ({ client }) => this.#connections.has(client),
      takeOver: (connection, clientId) => this.#takeOver(connection, clientId),
      resume: (connection, packets) => this.#publishDoors.get(connection)?.resume(packets),
      onRefused: (connection, refusal) => this.#turnedAway.refused(connection, refusal),
      onProven,
      onDefect,
    })
    this.#subscribing = new SubscribeDoor({
      things,
      sessions: this.sessions,
      addressOf,
      onProven,
    })
    this.#publishing = {
      access,
      ingest,
      documents,
      onProven,
      onUnknown: ({ client }, error) => limits.judge(error, addressOf(client)),
      onElsewhere: ({ client }, error) => {
        observer?.refusedWrite('mqtt', error.reason)
        onElsewhere(client, error)
      },
    }
    this.#handlers = {
      maxPacketSize,
      inHandOfAll: { packets: 0 },
      readingTime: new ReadingTime(),
      live: { live, clock, drainTimeout },
      observer,
      maySee: async ({ admission }, thingId) => {
        const asking = access.authorise(thingId, admission?.credential, 'read')
        return (await unlessRefused(asking)) !== undefined
      },
    }
    const messages = new RefusedMessages(live)
    const tell = (thingId: string, refused: RefusedWrite) => messages.tell(thingId, refused)
    const stopsTelling = [ingest.onRefused(tell), nodes.onRefused(tell)]
    this.#stopTelling = () => {
      for (const stop of stopsTelling) stop()
    }
    this.#stopRevoking = access.onRevoke(revocation => {
      this.#revoke(revocation).catch(this.#onFailed)
    })
    let keptAliveAt = performance.now()
    this.#keepAlive = setInterval(() => {
      const now = performance.now()
      const wasPaused = now - keptAliveAt > 2 * keepAliveInterval
      keptAliveAt = now
      for (const { inbound } of this.#connections.values()) inbound.keepAlive(wasPaused)
    }, keepAliveInterval)
    this.#keepAlive.unref()
  }

  /** A client that Aedes has just made for a new socket. */
  welcome(client: Client): void {
    const connection: Connection = new Connection(client, {
      ...this.#handlers,
      onPacket: (connection, packet) => this.#take(connection, door, packet),
    })
    const door = new PublishDoor(connection, this.#publishing)
    this.#connections.set(client, connection)
    this.#publishDoors.set(connection, door)
    // Nothing of a client of the host is looked at any more: its own hooks are about to be put back.
    if (this.#isClosing && !this.#options.ownsBroker) connection.inbound.stop()
    client.conn.once('close', () => {
      this.#connections.delete(client)
      connection.inbound.letGo()
      this.#turnedAway.closed(connection, client.conn.errored)
      this.#leave(connection)
    })
  }

  connectionOf(client: Client): Connection | undefined {
    return this.#connections.get(client)
  }

  /** CONNACK is sent. */
  onConnected(client: Client): void {
    const connection = this.#connections.get(client)
    if (!connection) return
    const send = async () => {
      const dropped = await connection.live.sendMissed()
      this.notDelivered += dropped
      this.#things.observer?.dropped(dropped)
      await connection.live.sendRetained()
    }
    send().catch((error: Error) => connection.close(error))
  }

  /** SUBACK is sent. */
  onSubscribed(client: Client): void {
    const connection = this.#connections.get(client)
    connection?.live.sendRetained().catch((error: Error) => connection.close(error))
  }

  /** Ends what relies on credentials that are dead, and the sessions of those who never come back. */
  async #revoke({ hashes, principals, all }: Revocation): Promise<void> {
    for (const connection of this.#connections.values()) {
      if (!(all ? connection.reliesOnSome : connection.reliesOnAny(hashes))) continue
      connection.isDismissed = true
      connection.close(new Error('the credential was revoked'))
    }
    for (const principal of principals) await this.#retries.run(() => this.sessions.end(principal))
  }

  /** A client has shown that it may act for a thing. */
  #prove(connection: Connection, thingId: string): Promise<void> | undefined {
    const { admission } = connection
    if (admission?.kind !== 'anonymous') return undefined
    return this.#anonymous.prove(connection, admission, thingId)
  }

  /** From when this resolves on the connection acts for the client, and the will of the one before it is dealt with. */
  async #takeOver(connection: Connection, clientId: string): Promise<TakenHold> {
    const hold = await this.#holds.take(connection, clientId)
    try {
      await this.#wills.takeOver(clientId, hold, hold.before)
      return hold
    } catch (error) {
      this.#release(hold)
      throw error
    }
  }

  /** What the store fails, ends with the node. */
  #release(hold: Hold): void {
    this.#retries.run(() => this.#holds.release(hold)).catch(this.#onFailed)
  }

  /** Finishes what is in hand, and lets go of every connection. */
  async close(putHooksBack: () => void): Promise<void> {
    this.#isClosing = true
    const connections = [...this.#connections.values()]
    for (const { inbound } of connections) inbound.stop()
    const hurried = this.#things.ingest.hurry()
    await Promise.all(connections.map(({ inbound }) => inbound.whenIdle())).finally(hurried)
    // The last acks are on their way to the socket.
    await new Promise(resolve => setImmediate(resolve))
    putHooksBack()
    for (const { admission, inbound, client } of this.#connections.values()) {
      // Who has not said yet who it is, is for the host to judge.
      const isHost = admission ? admission.kind === 'host' : !this.#options.ownsBroker
      if (isHost) inbound.release()
      else client.close()
    }
    this.#stopTelling()
    this.#stopRevoking()
    clearInterval(this.#keepAlive)
    this.sessions.close()
    // What the store fails from here on, is left to another node or the next start.
    this.#retries.close()
    for (const connection of connections) this.#leave(connection)
    await Promise.all([this.#wills.close(), ...this.#leavings])
    // Where the store is away, they are those of a process that has died.
    await this.#wills.leave(this.#leftWills).catch(() => {})
    this.#holds.close()
  }

  #take(connection: Connection, door: PublishDoor, packet: InboundPacket): boolean | Promise<void> {
    switch (packet.cmd) {
      case 'publish':
        return connection.client.connected && door.takePublish(packet)
      case 'pubrel':
        return door.takePubrel(packet)
      case 'subscribe':
        return this.#subscribing.subscribe(connection, packet)
      case 'unsubscribe':
        return this.#subscribing.unsubscribe(connection, packet)
      case 'puback':
        if (!connection.live.ack(packet.messageId)) return false
        connection.inbound.finished(1, 0)
        return true
      case 'disconnect':
        connection.hasTakenLeave = true
        // Nothing may follow (MQTT-3.14.4-1).
        connection.inbound.stop()
        return connection.will ? this.#forgetWill(connection, connection.will) : false
      default:
        return false
    }
  }

  /** Before the connection is closed: a client that sees it closed has no will any more, even if the process dies. */
  async #forgetWill(connection: Connection, { name, hold }: KeptWill): Promise<void> {
    await this.#wills.discard(name, hold)
    connection.will = undefined
  }

  /** What the store fails is no defect: it was told of, and tried again until the door was closed. */
  #onFailed = (error: unknown): void => {
    if (!isOutage(error)) this.#options.onDefect(error)
  }

  /** The connection is gone. Can be called more than once. Never rejects. */
  #leave(connection: Connection): Promise<void> {
    const leaving = this.#leaveWith(connection)
      .catch(this.#onFailed)
      .finally(() => this.#leavings.delete(leaving))
    this.#leavings.add(leaving)
    return leaving
  }

  async #leaveWith(connection: Connection): Promise<void> {
    this.#anonymous.leave(connection)
    connection.live.close()
    await connection.admitting
    // What was published before comes before the will, and is covered by the hold.
    await connection.inbound.whenIdle()
    const { session, will, hasTakenLeave, refusal } = connection
    connection.session = undefined
    connection.will = undefined
    const left = session && this.sessions.leave(session)
    await Promise.all([left, will && this.#leaveWill(will, hasTakenLeave || refusal !== undefined)])
    connection.isLeft = true
    const { hold, holdsOfThings } = connection
    for (const each of holdsOfThings?.values() ?? []) this.#release(each)
    if (hold) this.#release(hold)
  }

  async #leaveWill({ name, will, hold }: KeptWill, isVoid: boolean): Promise<void> {
    // In nobody's name: if the hold was lost, whoever takes the client next would find a will that never applied, and write it.
    if (isVoid) await this.#retries.run(() => this.#wills.discard(name, undefined))
    else if (this.#isClosing) this.#leftWills.push(name)
    else await this.#wills.write(name, will, hold)
  }
}
