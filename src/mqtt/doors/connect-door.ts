import { randomUUID } from 'node:crypto'
import type { ConnectPacket } from 'aedes'
import { LockLost } from '../../core/locks.ts'
import { ThingwireError } from '../../errors.ts'
import type { DoorOptions } from '../attach-options.ts'
import { type Admission, admit } from '../connection/admission.ts'
import type { Connection, CountFailure } from '../connection/connection.ts'
import type { MqttThings } from '../mqtt-things.ts'
import { ConnectRefused } from '../packets/outcomes.ts'
import type { RelayedClient } from '../relay/relayed-client.ts'
import { longestExpiry } from '../sessions/session-documents.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { WillContent } from '../wills/will-documents.ts'
import type { Wills } from '../wills/wills.ts'
import { restoreAliases } from './granting.ts'
import { type Ownership, ownerOf } from './ownership.ts'
import type { RejectedConnections } from './rejected-connections.ts'

/** How long a CONNECT may wait for the store before CONNACK 3, milliseconds: less than the 5 s of contract §7.1. */
const connectDeadline = 4_500

interface ConnectDoorParts
  extends Pick<DoorOptions, 'ownsBroker' | 'relay' | 'onDefect' | 'sourcePacketSize'> {
  readonly things: Pick<MqttThings, 'access' | 'isReady' | 'observer'>
  readonly sessions: Sessions
  readonly wills: Wills
  readonly ownership: Ownership
  readonly rejections: RejectedConnections
  readonly countFailure: CountFailure
  /** Whether to refuse new clients. */
  readonly isClosing: () => boolean
}

/** The broker's question whether to accept a client. Answered by calling exactly one of these functions. */
export interface BrokerQuestion {
  readonly accept: () => void
  readonly refuse: (refusal: ConnectRefused) => void
  /** Lets the host decide about its own client. */
  readonly askHost: () => void
}

/** Answers CONNECT. The methods are in the order in which they run. */
export class ConnectDoor {
  readonly #parts: ConnectDoorParts

  constructor(parts: ConnectDoorParts) {
    this.#parts = parts
  }

  /**
   * Handles a CONNECT, and sends the messages that the session is owed (contract §7.1). Never rejects.
   *
   * @param handToBroker passes `packet` to the broker; resolves when the broker asks whether to accept the client
   */
  async connect(
    connection: Connection,
    packet: ConnectPacket,
    handToBroker: () => Promise<BrokerQuestion>,
  ): Promise<void> {
    const refusal = await this.#decide(connection, packet)
    if (!connection.isHosts) changeForBroker(packet, connection)
    const broker = await handToBroker()
    if (refusal) {
      connection.refuse(refusal)
      return broker.refuse(refusal)
    }
    if (connection.isHosts) return broker.askHost()
    // The connection checks the keep-alive. The broker cannot: it reads no packet until its persistence has answered.
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

  /** Checks the credential, takes the lock, begins the session, stores the will. @throws ConnectRefused ThingwireError LockLost */
  async #admit(connection: Connection, packet: ConnectPacket): Promise<void> {
    const { things, ownership, isClosing, ownsBroker, sessions } = this.#parts
    const { access, isReady } = things
    const isAway = isClosing() || !isReady()
    if (isAway && ownsBroker) throw new ConnectRefused('unavailable', 'the server is not ready or is closing')
    const admission = await admit(packet, access, ownsBroker, connection)
    if (isAway && admission.kind !== 'host')
      throw new ConnectRefused('unavailable', 'the server is not ready or is closing')
    const { kind, clientId, will } = admission
    packet.clientId = clientId
    connection.admission = admission
    if (connection.principal?.kind === 'source')
      connection.inbound.allowSourcePackets(this.#parts.sourcePacketSize)
    const before = this.#parts.relay?.newest(clientId)
    if (kind === 'principal') await this.#beginSession(connection, clientId)
    else connection.session = sessions.beginNew(clientId)
    await this.#beginRelay(connection, before)
    if (will) {
      await this.#keepWill(connection, admission, will)
      // Otherwise the broker would store the will's topic, which may contain a token, and publish the will.
      delete packet.will
    }
    // The connection may have been closed in the meantime, or refused because admission took too long.
    if (connection.state === 'rejected' || connection.isClosed) return
    restoreAliases(connection)
    if (connection.session) await connection.live.resume(connection.session)
    if (kind === 'anonymous' && ownsBroker && !will) ownership.expectProof(connection)
  }

  async #beginSession(connection: Connection, clientId: string): Promise<void> {
    const { sessions, ownership } = this.#parts
    const { startsClean = true, sessionExpiry = 0 } = connection.asked ?? {}
    const lock = await ownership.takeOver(connection, clientId)
    connection.lock = lock
    try {
      const asked = { startsClean, expiry: Math.min(sessionExpiry, longestExpiry) }
      const { session, inFlight } = await sessions.begin(clientId, lock, asked)
      connection.session = session
      connection.inFlight.resume(inFlight)
    } catch (error) {
      // If the previous connection's session was taken over before the error, this connection must still store the acks in it.
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
    // Decoded as latin1, which preserves every byte. UTF-8 decoding would replace invalid bytes, and the invalid body would pass.
    const read = Buffer.from(body, 'base64').toString('latin1')
    const struck = Buffer.from(connection.tokens.strikeOut(read), 'latin1')
    const kept = { ...will, owner: ownerOf(admission, thingId), body: struck.toString('base64') }
    connection.will = { name: await wills.keep(kept, lock), will: kept, lock }
  }

  /** Call this after CONNACK. Sends missed messages, then retained messages. */
  sendOwed(connection: Connection): void {
    const send = async () => {
      const dropped = await connection.live.sendMissed()
      this.#parts.things.observer?.dropped(dropped)
      await connection.live.sendRetained()
    }
    send().catch((error: Error) => connection.close(error))
  }

  /** Counts bad credentials per address. Above the limit, the refusal names the limit as its reason (contract §9). */
  #limited(connection: Connection, refusal: ConnectRefused): ConnectRefused {
    if (refusal.why !== 'bad_credential') return refusal
    const error = this.#parts.countFailure(connection, new ThingwireError('invalid_session'))
    return error.reason === 'invalid_session'
      ? refusal
      : new ConnectRefused('too_many_failures', error.message)
  }
}

/** Changes a CONNECT so that the broker does not keep the session, which Thingwire keeps. */
function changeForBroker(packet: ConnectPacket, { admission, relayed }: Connection): void {
  // The broker's session is persistent only if the client has a persistent session in the relay.
  packet.clean = !relayed?.isPersistent
  // The scoped client id is longer than MQTT 3.1 allows.
  packet.protocolVersion = 4
  // Locks decide which connection of a client stays. If ids were not unique, the broker would close a connection as well, perhaps
  // the newest one. The relay needs the plain id to find the session.
  if (admission && !relayed) packet.clientId = `${packet.clientId}#${randomUUID()}`
}

function refusalOf(error: unknown): ConnectRefused {
  if (error instanceof ConnectRefused) return error
  if (error instanceof ThingwireError && error.reason === 'too_many_persistent_sessions')
    return new ConnectRefused('too_many_sessions', error.message)
  if (error instanceof LockLost) return new ConnectRefused('replaced', 'the client has connected again')
  return new ConnectRefused('unavailable', 'the store is unavailable')
}

async function withDeadline(task: Promise<void>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new ConnectRefused('unavailable', 'the store did not answer in time')),
      milliseconds,
    )
  })
  await Promise.race([task, late]).finally(() => clearTimeout(timer))
}
