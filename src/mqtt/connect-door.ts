import type { Client, ConnectPacket } from 'aedes'
import { ThingwireError } from '../errors.ts'
import type { Anonymous } from './anonymous.ts'
import { type Admission, admit, ConnectRefused, type ConnectWill } from './connect.ts'
import type { Connection } from './connection.ts'
import type { Claim, LatestConnections } from './latest-connections.ts'
import type { Session } from './session.ts'
import type { Sessions } from './sessions.ts'
import { restoreSpellings } from './subscriptions.ts'
import type { MqttThings } from './things.ts'
import type { Wills } from './wills.ts'

/** How long a CONNECT may wait for the store before CONNACK 3, milliseconds: less than the 5 s of contract §7. */
const connectDeadline = 4_500
export interface ConnectDoorParts {
  readonly things: Pick<MqttThings, 'access' | 'limits' | 'isReady'>
  readonly sessions: Sessions
  readonly wills: Wills
  readonly latest: LatestConnections
  readonly anonymous: Anonymous
  readonly ownsBroker: boolean
  readonly addressOf: (client: Client) => string
  /** Whether nobody is let in any more. */
  readonly isClosing: () => boolean
  /** Whether the connection is still there. */
  readonly isOpen: (connection: Connection) => boolean
  /** It is not, or CONNECT was refused: what was begun for it is to be ended. */
  readonly leave: (connection: Connection) => Promise<void>
  /** The client may act for this thing. */
  readonly onProven: (connection: Connection, thingId: string) => void
  /** Told of errors that are not the store's. */
  readonly onDefect: (error: unknown) => void
}

/** Decides on CONNECT before Aedes, which answers it. */
export class ConnectDoor {
  readonly #parts: ConnectDoorParts

  constructor(parts: ConnectDoorParts) {
    this.#parts = parts
  }

  /** Decides on a CONNECT; a refusal is kept for the moment at which Aedes can answer it. */
  async connect(connection: Connection, packet: ConnectPacket): Promise<void> {
    // Aedes answers what it cannot speak with return code 1 by itself.
    if (packet.protocolVersion !== 3 && packet.protocolVersion !== 4) return
    try {
      await withDeadline(this.#admit(connection, packet), connectDeadline)
    } catch (error) {
      connection.refusal = this.#limited(connection, refusalOf(error))
      if (!(error instanceof ConnectRefused || error instanceof ThingwireError)) this.#parts.onDefect(error)
    }
  }

  async #admit(connection: Connection, packet: ConnectPacket): Promise<void> {
    const { things, wills, anonymous, isClosing, ownsBroker } = this.#parts
    const { access, isReady } = things
    const isAway = isClosing() || !isReady()
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
    if (admission.kind === 'principal') await wills.onClientBack(admission.clientId)
    packet.clientId = admission.clientId
    connection.admission = admission
    // It may have gone, or been refused for being late, while the store was asked.
    if (connection.refusal || !this.#parts.isOpen(connection)) {
      await this.#parts.leave(connection)
      return
    }
    restoreSpellings(connection)
    await connection.live.resume(connection.session)
    if (admission.kind === 'anonymous' && ownsBroker) anonymous.expectProof(connection)
    if (admission.will) this.#parts.onProven(connection, admission.will.thingId)
  }

  async #beginSession(
    connection: Connection,
    { kind, clientId }: Admission,
    isClean: boolean,
  ): Promise<Session> {
    if (kind !== 'principal') return this.#parts.sessions.beginNew(clientId)
    const claim = await this.claim(connection, clientId)
    return isClean ? await this.#parts.sessions.begin(clientId) : await this.#parts.sessions.resume(claim)
  }

  async #keepWill(connection: Connection, admission: Admission, will: ConnectWill) {
    const { thingId, credentialHash, body } = will
    const { kind, clientId } = admission
    const owner = kind === 'anonymous' ? this.#parts.anonymous.ownerOf(admission, thingId) : clientId
    // Byte by byte: what is no UTF-8 is to be refused as it came.
    const struck = Buffer.from(connection.strikeOut(Buffer.from(body).toString('latin1')), 'latin1')
    const kept = { owner, thingId, credentialHash, body: struck.toString('base64') }
    return { name: await this.#parts.wills.keep(kept), will: kept }
  }

  /** From here on the connection is the client's latest one, on whichever node. @throws ThingwireError of the store */
  async claim(connection: Connection, clientId: string): Promise<Claim> {
    const takenOver = () => connection.close(new Error('the client has connected again'))
    const claim = await this.#parts.latest.claim(clientId, takenOver)
    if (this.#parts.isOpen(connection)) connection.claims.add(claim)
    else this.#parts.latest.release(claim)
    return claim
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
  return new ConnectRefused(3, 'the store is away')
}

async function withDeadline(task: Promise<void>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ConnectRefused(3, 'the store is late')), milliseconds)
  })
  await Promise.race([task, late]).finally(() => clearTimeout(timer))
}
