import type { Client, ConnectPacket } from 'aedes'
import { HoldLost, type TakenHold } from '../../core/holds.ts'
import { ThingwireError } from '../../errors.ts'
import { type Admission, admit, ConnectRefused, type ConnectWill } from '../connection/admission.ts'
import type { Connection } from '../connection/connection.ts'
import type { MqttThings } from '../mqtt-things.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { Wills } from '../wills/wills.ts'
import type { Anonymous } from './anonymous.ts'
import { restoreSpellings } from './granting.ts'

/** How long a CONNECT may wait for the store before CONNACK 3, milliseconds: less than the 5 s of contract §7. */
const connectDeadline = 4_500
export interface ConnectDoorParts {
  readonly things: Pick<MqttThings, 'access' | 'limits' | 'isReady'>
  readonly sessions: Sessions
  readonly wills: Wills
  readonly anonymous: Anonymous
  readonly ownsBroker: boolean
  readonly addressOf: (client: Client) => string
  /** Whether nobody is let in any more. */
  readonly isClosing: () => boolean
  /** The connection acts for the client from when this resolves. @throws ThingwireError of the store */
  readonly takeOver: (connection: Connection, clientId: string) => Promise<TakenHold>
  /** It is not let in. */
  readonly onRefused: (connection: Connection, refusal: ConnectRefused) => void
  /** The client may act for this thing. @throws ThingwireError of the store */
  readonly onProven: (connection: Connection, thingId: string) => Promise<void> | undefined
  /** Told of errors that are not the store's. */
  readonly onDefect: (error: unknown) => void
}

/** Decides on CONNECT, before the broker sees it. */
export class ConnectDoor {
  readonly #parts: ConnectDoorParts

  constructor(parts: ConnectDoorParts) {
    this.#parts = parts
  }

  /** Decides on a CONNECT; a refusal is kept for the moment at which the broker answers it. Never rejects. */
  async connect(connection: Connection, packet: ConnectPacket): Promise<void> {
    const admitting = this.#admit(connection, packet)
    connection.admitting = admitting.catch(() => {})
    try {
      await withDeadline(admitting, connectDeadline)
    } catch (error) {
      connection.refusal = this.#limited(connection, refusalOf(error))
      this.#parts.onRefused(connection, connection.refusal)
      if (!(error instanceof ConnectRefused || error instanceof ThingwireError)) this.#parts.onDefect(error)
    }
    // Of a client that is not the host's, the broker is to keep nothing. Its id is longer than MQTT 3.1 allows.
    if (connection.isHosts) return
    packet.clean = true
    packet.protocolVersion = 4
  }

  async #admit(connection: Connection, packet: ConnectPacket): Promise<void> {
    const { things, anonymous, isClosing, ownsBroker, sessions } = this.#parts
    const { access, isReady } = things
    const isAway = isClosing() || !isReady()
    if (isAway && ownsBroker) throw new ConnectRefused(3, 'the store is away')
    const admission = await admit(packet, access, ownsBroker, connection)
    if (isAway && admission.kind !== 'host') throw new ConnectRefused(3, 'the store is away')
    const { kind, clientId, will } = admission
    packet.clientId = clientId
    connection.admission = admission
    if (kind === 'principal') await this.#beginSession(connection, clientId, packet.clean === true)
    else connection.session = sessions.beginNew(clientId)
    if (will) {
      await this.#keepWill(connection, admission, will)
      // Ours from here on: the broker would keep its topic, token included, and publish it.
      delete packet.will
    }
    // It may have gone, or been refused for being late, while the store was asked.
    if (connection.refusal || connection.socket.destroyed) return
    restoreSpellings(connection)
    if (connection.session) await connection.live.resume(connection.session)
    if (kind === 'anonymous' && ownsBroker && !will) anonymous.expectProof(connection)
  }

  async #beginSession(connection: Connection, clientId: string, isClean: boolean): Promise<void> {
    const { sessions, takeOver } = this.#parts
    const hold = await takeOver(connection, clientId)
    connection.hold = hold
    if (isClean) {
      connection.session = await sessions.begin(clientId, hold)
      return
    }
    try {
      const { session, inFlight } = await sessions.resume(clientId, hold)
      connection.session = session
      connection.resume(inFlight)
    } catch (error) {
      // What it has got of the connection before, is to be kept all the same.
      connection.session = sessions.heldBy(clientId, hold)
      throw error
    }
  }

  async #keepWill(connection: Connection, admission: Admission, will: ConnectWill): Promise<void> {
    const { anonymous, wills, onProven } = this.#parts
    const { thingId, credentialHash, body } = will
    const { kind, clientId } = admission
    const owner = kind === 'anonymous' ? anonymous.ownerOf(admission, thingId) : clientId
    await onProven(connection, thingId)
    const hold = connection.holdOf(thingId)
    // Byte by byte: what is no UTF-8 is to be refused as it came.
    const struck = Buffer.from(connection.tokens.strikeOut(Buffer.from(body).toString('latin1')), 'latin1')
    const kept = { owner, thingId, credentialHash, body: struck.toString('base64') }
    connection.will = { name: await wills.keep(kept, hold), will: kept, hold }
  }

  /** An address that presents one bad credential after another is told so (contract §9). */
  #limited({ client }: Connection, refusal: ConnectRefused): ConnectRefused {
    if (refusal.returnCode !== 4) return refusal
    const { limits } = this.#parts.things
    const error = limits.judge(new ThingwireError('invalid_session'), this.#parts.addressOf(client))
    return error.reason === 'invalid_session' ? refusal : new ConnectRefused(5, error.message)
  }
}

function refusalOf(error: unknown): ConnectRefused {
  if (error instanceof ConnectRefused) return error
  if (error instanceof HoldLost) return new ConnectRefused(3, 'the client has connected again')
  return new ConnectRefused(3, 'the store is away')
}

async function withDeadline(task: Promise<void>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ConnectRefused(3, 'the store is late')), milliseconds)
  })
  await Promise.race([task, late]).finally(() => clearTimeout(timer))
}
