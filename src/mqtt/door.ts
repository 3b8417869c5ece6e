import type { Client, ConnectPacket } from 'aedes'
import type { Revocation } from '../access/access.ts'
import type { RefusedWrite } from '../core/ports.ts'
import { ThingwireError } from '../errors.ts'
import type { InboundPacket } from './aedes-seams.ts'
import { Anonymous } from './anonymous.ts'
import { type Admission, admit, ConnectRefused, type ConnectWill } from './connect.ts'
import { Connection, type ConnectionHandlers } from './connection.ts'
import { LatestConnections } from './latest-connections.ts'
import { PublishDoor, type PublishDoorParts } from './publish-door.ts'
import { RefusedMessages } from './refused-messages.ts'
import type { Session } from './session.ts'
import { Sessions } from './sessions.ts'
import { SubscribeDoor } from './subscribe-door.ts'
import { restoreSpellings } from './subscriptions.ts'
import type { MqttThings } from './things.ts'
import { unlessRefused } from './unless-refused.ts'
import { Wills } from './wills.ts'

/** How long a CONNECT may wait for the store before CONNACK 3, milliseconds: less than the 5 s of contract §7. */
const connectDeadline = 4_500
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
}

/** Everything that this service does on one broker. */
export class MqttDoor {
  readonly sessions: Sessions
  /** Messages that sessions missed and do not get, because they are too many (contract §7). */
  notDelivered = 0
  readonly #things: MqttThings
  readonly #options: MqttDoorOptions
  readonly #wills: Wills
  readonly #latest: LatestConnections
  /** Names of the wills of clients that this process leaves: they wait for the next one, or for another node. */
  readonly #leftWills: string[] = []
  readonly #subscribing: SubscribeDoor
  readonly #publishing: PublishDoorParts
  readonly #connecting: Omit<ConnectionHandlers, 'onPacket'>
  readonly #anonymous = new Anonymous()
  readonly #connections = new Map<Client, Connection>()
  readonly #stopTelling: () => void
  readonly #stopRevoking: () => void
  readonly #keepAlive: NodeJS.Timeout
  #isClosing = false

  constructor(things: MqttThings, options: MqttDoorOptions) {
    const { documents, nodes, ingest, access, live, clock, limits, sessionLog: log } = things
    const { willGrace: grace, maxPacketSize, drainTimeout, addressOf, onDefect } = options
    this.#things = things
    this.#options = options
    this.sessions = new Sessions({ documents, nodes, live, log, onLost: session => this.#onLost(session) })
    this.#latest = new LatestConnections(documents, nodes)
    const onGone = (alive: ReadonlySet<string>) => this.#latest.removeLeft(alive)
    this.#wills = new Wills({ documents, nodes, ingest, access, grace, onGone, onDefect })
    this.#subscribing = new SubscribeDoor({
      things,
      sessions: this.sessions,
      addressOf,
      onProven: (connection, thingId) => this.#prove(connection, thingId),
    })
    this.#publishing = {
      access,
      ingest,
      documents,
      onProven: (connection, thingId) => this.#prove(connection, thingId),
      onUnknown: ({ client }, error) => limits.judge(error, addressOf(client)),
    }
    this.#connecting = {
      maxPacketSize,
      live: { live, clock, drainTimeout },
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
      this.#revoke(revocation).catch(onDefect)
    })
    this.#keepAlive = setInterval(() => {
      for (const { inbound } of this.#connections.values()) inbound.keepAlive()
    }, keepAliveInterval)
    this.#keepAlive.unref()
  }

  /** A client that Aedes has just made for a new socket. */
  welcome(client: Client): void {
    const connection: Connection = new Connection(client, {
      ...this.#connecting,
      onPacket: (connection, packet) => this.#take(connection, door, packet),
    })
    const door = new PublishDoor(connection, this.#publishing)
    this.#connections.set(client, connection)
    // Nothing of a client of the host is looked at any more: its own hooks are about to be put back.
    if (this.#isClosing && !this.#options.ownsBroker) connection.inbound.stop()
    client.conn.once('close', () => {
      this.#connections.delete(client)
      connection.inbound.letGo()
      this.#leave(connection).catch(this.#options.onDefect)
    })
  }

  connectionOf(client: Client): Connection | undefined {
    return this.#connections.get(client)
  }

  /** Decides on a CONNECT; a refusal is kept for the moment at which Aedes can answer it. */
  async connect(connection: Connection, packet: ConnectPacket): Promise<void> {
    // Aedes answers what it cannot speak with return code 1 by itself.
    if (packet.protocolVersion !== 3 && packet.protocolVersion !== 4) return
    try {
      await withDeadline(this.#admit(connection, packet), connectDeadline)
    } catch (error) {
      connection.refusal = this.#limited(connection, refusalOf(error))
      if (!(error instanceof ConnectRefused || error instanceof ThingwireError)) this.#options.onDefect(error)
    }
  }

  async #admit(connection: Connection, packet: ConnectPacket): Promise<void> {
    const { access, isReady } = this.#things
    const { ownsBroker, isDraining } = this.#options
    const isAway = this.#isClosing || isDraining() || !isReady()
    if (isAway && ownsBroker) throw new ConnectRefused(3, 'the store is away')
    const relyOn = (credential: string) => connection.relyOn(credential)
    const admission = await admit(packet, access, ownsBroker, relyOn)
    if (isAway && admission.kind !== 'host') throw new ConnectRefused(3, 'the store is away')
    connection.session = await this.#beginSession(connection, admission, packet.clean === true)
    if (admission.will) {
      connection.will = await this.#keepWill(connection, admission, admission.will)
      // Ours from here on: Aedes would keep its topic, token included, and publish it.
      delete packet.will
    }
    if (admission.kind === 'principal') await this.#wills.onClientBack(admission.clientId)
    packet.clientId = admission.clientId
    connection.admission = admission
    // It may have gone, or been refused for being late, while the store was asked.
    if (connection.refusal || !this.#connections.has(connection.client)) {
      await this.#leave(connection)
      return
    }
    restoreSpellings(connection)
    await connection.live.resume(connection.session)
    if (admission.kind === 'anonymous' && ownsBroker) this.#anonymous.expectProof(connection)
    if (admission.will) this.#prove(connection, admission.will.thingId)
  }

  async #beginSession(
    connection: Connection,
    { kind, clientId }: Admission,
    isClean: boolean,
  ): Promise<Session> {
    if (kind !== 'principal') return this.sessions.beginNew(clientId)
    const takenOver = () => connection.close(new Error('the client has connected on another node'))
    const claim = await this.#latest.claim(clientId, takenOver)
    connection.claim = claim
    return isClean ? await this.sessions.begin(clientId) : await this.sessions.resume(claim)
  }

  async #keepWill(connection: Connection, admission: Admission, will: ConnectWill) {
    const { thingId, credentialHash, body } = will
    const { kind, clientId } = admission
    const owner = kind === 'anonymous' ? this.#anonymous.ownerOf(admission, thingId) : clientId
    // Byte by byte: what is no UTF-8 is to be refused as it came.
    const struck = Buffer.from(connection.strikeOut(Buffer.from(body).toString('latin1')), 'latin1')
    const kept = { owner, thingId, credentialHash, body: struck.toString('base64') }
    return { name: await this.#wills.keep(kept), will: kept }
  }

  /** CONNACK is sent. */
  onConnected(client: Client): void {
    const connection = this.#connections.get(client)
    if (!connection) return
    const send = async () => {
      this.notDelivered += await connection.live.sendMissed()
      await connection.live.sendRetained()
    }
    send().catch((error: Error) => connection.close(error))
  }

  /** SUBACK is sent. */
  onSubscribed(client: Client): void {
    const connection = this.#connections.get(client)
    connection?.live.sendRetained().catch((error: Error) => connection.close(error))
  }

  /** Another node has taken the session. */
  #onLost(lost: Session): void {
    for (const connection of this.#connections.values()) {
      if (connection.session === lost) connection.close(new Error('the session is on another node'))
    }
  }

  /** Ends what relies on credentials that are dead, and the sessions of those who never come back. */
  async #revoke({ hashes, principals, all }: Revocation): Promise<void> {
    for (const connection of this.#connections.values()) {
      if (all ? connection.reliesOnSome : connection.reliesOnAny(hashes))
        connection.close(new Error('the credential was revoked'))
    }
    for (const principal of principals) await this.sessions.end(principal)
  }

  /** An address that presents one bad credential after another is told so (contract §9). */
  #limited({ client }: Connection, refusal: ConnectRefused): ConnectRefused {
    if (refusal.returnCode !== 4) return refusal
    const { limits } = this.#things
    const error = limits.judge(new ThingwireError('invalid_session'), this.#options.addressOf(client))
    return error.reason === 'invalid_session' ? refusal : new ConnectRefused(5, error.message)
  }

  /** A client has shown that it may act for a thing. */
  #prove(connection: Connection, thingId: string): void {
    if (connection.admission?.kind !== 'anonymous') return
    const owner = this.#anonymous.prove(connection, thingId)
    if (owner !== undefined) this.#wills.onClientBack(owner).catch(this.#options.onDefect)
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
    await Promise.all([this.#wills.close(), ...connections.map(connection => this.#leave(connection))])
    // Where the store is away, they are those of a process that has died.
    await this.#wills.leave(this.#leftWills).catch(() => {})
    await this.#latest.close()
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
        connection.inbound.finished(0)
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
  async #forgetWill(connection: Connection, { name }: NonNullable<Connection['will']>): Promise<void> {
    await this.#wills.discard(name)
    connection.will = undefined
  }

  /** The connection is gone. Can be called more than once. */
  async #leave(connection: Connection): Promise<void> {
    const { session, claim, will, hasTakenLeave, refusal } = connection
    connection.session = undefined
    connection.claim = undefined
    connection.will = undefined
    this.#anonymous.leave(connection)
    connection.live.close()
    if (claim) this.#latest.release(claim)
    const leaving = session && this.sessions.leave(session)
    if (will && (hasTakenLeave || refusal)) await this.#wills.discard(will.name)
    else if (will && this.#isClosing) this.#leftWills.push(will.name)
    else if (will) await this.#wills.write(will.name, will.will)
    await leaving
  }
}

function refusalOf(error: unknown): ConnectRefused {
  if (error instanceof ConnectRefused) return error
  return new ConnectRefused(3, 'the store is away')
}

async function withDeadline(task: Promise<void>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ConnectRefused(3, 'the store is late')), milliseconds)
  })
  await Promise.race([task, late]).finally(() => clearTimeout(timer))
}
