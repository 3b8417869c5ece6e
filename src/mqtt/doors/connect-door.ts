import { randomUUID } from 'node:crypto'
import type { ConnectPacket } from 'aedes'
import { LockLost } from '../../core/locks.ts'
import { ThingwireError } from '../../errors.ts'
import { type Admission, admit, ConnectRefused } from '../connection/admission.ts'
import type { Connection, CountFailure } from '../connection/connection.ts'
import type { MqttThings } from '../mqtt-things.ts'
import type { Relay } from '../relay/relay.ts'
import type { RelayedClient } from '../relay/relayed-client.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { WillContent } from '../wills/will-documents.ts'
import type { Wills } from '../wills/wills.ts'
import { restoreAliases } from './granting.ts'
import { type Ownership, ownerOf } from './ownership.ts'
import type { RejectedConnections } from './rejected-connections.ts'

/** How long a CONNECT may wait for the store before CONNACK 3, milliseconds: less than the 5 s of contract §7. */
const connectDeadline = 4_500

interface ConnectDoorParts {
  readonly things: Pick<MqttThings, 'access' | 'isReady' | 'observer'>
  readonly sessions: Sessions
  readonly wills: Wills
  readonly ownership: Ownership
  readonly rejections: RejectedConnections
  readonly ownsBroker: boolean
  /** Of topics beside those of things; undefined: there are none, or they are the host's. */
  readonly relay: Relay | undefined
  readonly countFailure: CountFailure
  /** Whether new clients are refused. */
  readonly isClosing: () => boolean
  /** Called with errors that are not the store's. */
  readonly onDefect: (error: unknown) => void
}

/** How the broker wants to know whether the client may come in: exactly one of these is called. */
export interface BrokerQuestion {
  readonly accept: () => void
  readonly refuse: (refusal: ConnectRefused) => void
  /** The client is the host's, and so is the decision. */
  readonly askHost: () => void
}

/** Answers CONNECT. Its methods stand in the order in which they run. */
export class ConnectDoor {
  readonly #parts: ConnectDoorParts

  constructor(parts: ConnectDoorParts) {
    this.#parts = parts
  }

  /**
   * CONNECT, from the decoded packet to the messages that the session is owed (contract §7.1). Never rejects.
   *
   * @param handToBroker gives the packet, as it is by then, to the broker; resolves when the broker asks for a decision
   */
  async connect(
    connection: Connection,
    packet: ConnectPacket,
    handToBroker: () => Promise<BrokerQuestion>,
  ): Promise<void> {
    const refusal = await this.#decide(connection, packet)
    if (!connection.isHosts) changeForBroker(packet, connection)
    const broker = await handToBroker()
    if (refusal) return broker.refuse(refusal)
    if (connection.isHosts) return broker.askHost()
    // The broker hears nothing before its persistence has answered: the connection watches its client itself.
    packet.keepalive = 0
    connection.accept()
    broker.accept()
    this.sendOwed(connection)
  }

  /** @returns the refusal, if CONNECT is rejected */
  async #decide(connection: Connection, packet: ConnectPacket): Promise<ConnectRefused | undefined> {
    const admitting = this.#admit(connection, packet)
    connection.admitting = admitting.catch(() => {})
    try {
      await withDeadline(admitting, connectDeadline)
      return undefined
    } catch (error) {
      const refusal = this.#limited(connection, refusalOf(error))
      connection.reject()
      this.#parts.rejections.refused(connection, refusal)
      if (!(error instanceof ConnectRefused || error instanceof ThingwireError)) this.#parts.onDefect(error)
      return refusal
    }
  }

  /** Credential, admission, lock, session, topics, will. @throws ConnectRefused @throws ThingwireError @throws LockLost */
  async #admit(connection: Connection, packet: ConnectPacket): Promise<void> {
    const { things, ownership, isClosing, ownsBroker, sessions } = this.#parts
    const { access, isReady } = things
    const isAway = isClosing() || !isReady()
    if (isAway && ownsBroker) throw new ConnectRefused(3, 'the store is away')
    const admission = await admit(packet, access, ownsBroker, connection)
    if (isAway && admission.kind !== 'host') throw new ConnectRefused(3, 'the store is away')
    const { kind, clientId, will } = admission
    packet.clientId = clientId
    connection.admission = admission
    const before = this.#parts.relay?.newest(clientId)
    if (kind === 'principal') await this.#beginSession(connection, clientId, packet.clean === true)
    else connection.session = sessions.beginNew(clientId)
    await this.#beginRelay(connection, before)
    if (will) {
      await this.#keepWill(connection, admission, will)
      // Ours from here on: the broker would keep its topic, token included, and publish it.
      delete packet.will
    }
    // It may have gone, or been refused for being late, while the store was asked.
    if (connection.state === 'rejected' || connection.socket.destroyed) return
    restoreAliases(connection)
    if (connection.session) await connection.live.resume(connection.session)
    if (kind === 'anonymous' && ownsBroker && !will) ownership.expectProof(connection)
  }

  async #beginSession(connection: Connection, clientId: string, isClean: boolean): Promise<void> {
    const { sessions, ownership } = this.#parts
    const lock = await ownership.takeOver(connection, clientId)
    connection.lock = lock
    if (isClean) {
      connection.session = await sessions.begin(clientId, lock)
      return
    }
    try {
      const { session, inFlight } = await sessions.resume(clientId, lock)
      connection.session = session
      connection.inFlight.resume(inFlight)
    } catch (error) {
      // What it has got of the connection before, is to be kept all the same.
      connection.session = sessions.heldBy(clientId, lock)
      throw error
    }
  }

  async #beginRelay(connection: Connection, before: RelayedClient | undefined): Promise<void> {
    const { relay, things } = this.#parts
    const { principal, session } = connection
    if (!relay || !principal || !session) return
    connection.relayed = await relay.begin(connection, await things.access.topicsOf(principal), before)
  }

  async #keepWill(connection: Connection, admission: Admission, will: WillContent): Promise<void> {
    const { ownership, wills } = this.#parts
    const { thingId, body } = will
    if (thingId === undefined) {
      const { lock } = connection
      const kept = { ...will, owner: admission.clientId }
      connection.will = { name: await wills.keep(kept, lock), will: kept, lock }
      return
    }
    await ownership.prove(connection, thingId)
    const lock = connection.lockOf(thingId)
    // Byte by byte: what is no UTF-8 is to be refused as it came.
    const read = Buffer.from(body, 'base64').toString('latin1')
    const struck = Buffer.from(connection.tokens.strikeOut(read), 'latin1')
    const kept = { ...will, owner: ownerOf(admission, thingId), body: struck.toString('base64') }
    connection.will = { name: await wills.keep(kept, lock), will: kept, lock }
  }

  /** What the session missed, then retained values: CONNACK is sent. */
  sendOwed(connection: Connection): void {
    const send = async () => {
      const dropped = await connection.live.sendMissed()
      this.#parts.things.observer?.dropped(dropped)
      await connection.live.sendRetained()
    }
    send().catch((error: Error) => connection.close(error))
  }

  /** An address that presents one bad credential after another gets that as its reason (contract §9). */
  #limited(connection: Connection, refusal: ConnectRefused): ConnectRefused {
    if (refusal.returnCode !== 4) return refusal
    const error = this.#parts.countFailure(connection, new ThingwireError('invalid_session'))
    return error.reason === 'invalid_session' ? refusal : new ConnectRefused(5, error.message)
  }
}

/** Makes a CONNECT one that the broker takes without a look at the session: Thingwire keeps that. */
function changeForBroker(packet: ConnectPacket, { admission, relayed }: Connection): void {
  // Of a client that is not the host's, the broker keeps nothing, unless the relay does.
  if (!relayed?.isPersistent) packet.clean = true
  // Its id is longer than MQTT 3.1 allows.
  packet.protocolVersion = 4
  // Locks decide which connection stays: a broker that hears of an older one late would close the newest. The relay finds its
  // sessions by the id.
  if (admission && !relayed) packet.clientId = `${packet.clientId}#${randomUUID()}`
}

function refusalOf(error: unknown): ConnectRefused {
  if (error instanceof ConnectRefused) return error
  if (error instanceof ThingwireError && error.reason === 'too_many_persistent_sessions')
    return new ConnectRefused(5, error.message)
  if (error instanceof LockLost) return new ConnectRefused(3, 'the client has connected again')
  return new ConnectRefused(3, 'the store is away')
}

async function withDeadline(task: Promise<void>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ConnectRefused(3, 'the store is late')), milliseconds)
  })
  await Promise.race([task, late]).finally(() => clearTimeout(timer))
}
