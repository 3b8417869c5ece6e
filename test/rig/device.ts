import type { Packet } from 'mqtt-packet'
import { Changes } from '../helpers/changes.ts'
import type { Thing } from '../helpers/http-client.ts'
import { codeOf, connectMqtt, type MqttClient, publishPacket } from '../helpers/mqtt-client.ts'
import { sessionIn, type Version, versionNames, versionOf, WriteForm } from '../helpers/mqtt-versions.ts'
import type { Ledger, Outcome } from './ledger.ts'
import { isAtQos, type PlannedWrite, type Way, wayIn } from './writes.ts'

export interface DeviceSetup {
  readonly version: Version
  /** Of its thing, which no other device has. */
  readonly number: number
  readonly thing: Thing
  /** Place of its thing in the list of things. */
  readonly place: number
  /** It keeps its session, and publishes at QoS 2, too. */
  readonly isPersistent: boolean
  readonly ledger: Ledger
}

/** A PUBLISH of which the handshake is not over. */
interface Flight {
  readonly write: PlannedWrite
  /** PUBREC was received. */
  isReleased: boolean
}

/** Every third device of a thing has a clean session, every second one is of version 5. */
export function createDevices(things: readonly Thing[], count: number, ledger: Ledger): Device[] {
  const devices = things.flatMap((thing, place) =>
    Array.from({ length: Math.ceil(count / things.length) }, (_, number) => {
      const version = versionOf(place + number)
      return new Device({ version, number, thing, place, isPersistent: number % 3 !== 2, ledger })
    }),
  )
  return devices.slice(0, count)
}

/** Unacked writes that a device has on their way. */
const window = 8
/** Of `resume`, milliseconds. */
const deadline = 30_000
/** A connection may be silent for as long as a load lasts, milliseconds. */
const silence = 600_000
/** With which a server closes, in version 5, what may go on later: 0x89 busy, 0x8B shutting down, 0x8E taken over, 0x97 disk full. */
const passing: readonly (number | undefined)[] = [0x89, 0x8b, 0x8e, 0x97]

/**
 * An MQTT client that keeps to the letter of the standard over every crash of the server, and notes in the ledger
 * what it sent, what was acked, and what the server did that the standard does not allow.
 */
export class Device {
  readonly setup: DeviceSetup
  readonly clientId: string
  /** By packet id, in the order in which they were sent first. */
  readonly #flights = new Map<number, Flight>()
  #client: MqttClient | undefined
  /** The server has said that it keeps the session. */
  #hasSession = false
  /** Packet ids of this connection's PUBLISHes, in order, of which PUBACK or PUBREC is still to come. */
  #awaited: number[] = []
  /** Of this connection. */
  #form: WriteForm
  readonly #changes = new Changes()

  constructor(setup: DeviceSetup) {
    this.setup = setup
    this.clientId = `mqtt${setup.version}-device-${setup.place}-${setup.number}`
    this.#form = new WriteForm(setup.version)
  }

  /** Of its next write, by chance. */
  get way(): Way {
    const { version, isPersistent } = this.setup
    return wayIn(version, isPersistent && Math.random() < 2 / 3 ? 2 : 1)
  }

  get versionName(): string {
    return versionNames[this.setup.version]
  }

  get isConnected(): boolean {
    return this.#client !== undefined
  }

  /** Writes of which the handshake is not over. */
  get inFlight(): readonly PlannedWrite[] {
    return [...this.#flights.values()].map(({ write }) => write)
  }

  /** Writes that got PUBREC and no PUBCOMP. */
  get released(): readonly PlannedWrite[] {
    return [...this.#flights.values()].filter(({ isReleased }) => isReleased).map(({ write }) => write)
  }

  /**
   * Connects, and sends again what the session holds (MQTT-4.4.0-1): PUBLISH with DUP, or PUBREL. Without a session,
   * what was not acked is published afresh.
   *
   * @returns the code of CONNACK
   * @throws Error if there is no CONNACK
   */
  async connect(url: string): Promise<number> {
    const { version, thing, isPersistent, ledger } = this.setup
    const client = await connectMqtt({
      ...{ url, clientId: this.clientId, username: 'device', password: thing.thingToken, deadline: silence },
      ...sessionIn(version, isPersistent),
    })
    const { sessionPresent } = client.connack
    const returnCode = codeOf(client.connack) ?? 0
    if (returnCode !== 0) {
      await client.closed
      return returnCode
    }
    // A CONNECT without an answer may have made a session, or not.
    const isWrong = isPersistent ? this.#hasSession && !sessionPresent : sessionPresent
    if (isWrong) ledger.breach(`${this.clientId}: session present is ${sessionPresent}`)
    this.#hasSession = isPersistent
    this.#client = client
    this.#awaited = []
    this.#form = new WriteForm(version)
    for (const [messageId, flight] of this.#flights) this.#sendAgain(messageId, flight)
    void this.#receive(client)
    return returnCode
  }

  /** @returns false, and nothing was sent, if the connection is gone */
  async publish(write: PlannedWrite): Promise<boolean> {
    await this.#until(() => this.#flights.size < window)
    if (!this.#client) return false
    this.setup.ledger.add(write)
    const messageId = this.#freePacketId()
    this.#flights.set(messageId, { write, isReleased: false })
    this.#sendPublish(messageId, write, false)
    return true
  }

  /** Publishes at QoS 0, which nobody acknowledges. */
  publishUnacked(write: PlannedWrite): void {
    this.setup.ledger.add(write)
    const { body, topic = '', retain = false } = write
    this.#client?.send(publishPacket(topic, body, { qos: 0, retain }))
  }

  /** Connects and waits until every handshake is over. @throws Error if that does not come about */
  async resume(url: string): Promise<void> {
    const returnCode = await this.connect(url)
    if (returnCode !== 0) throw new Error(`${this.clientId}: CONNACK ${returnCode}`)
    await this.idle()
  }

  /** Resolves when every handshake is over. @throws Error if the connection ends before, or it takes too long */
  async idle(): Promise<void> {
    await this.#until(() => this.#flights.size === 0, deadline)
    if (this.#flights.size === 0) return
    const open = [...this.#flights].map(([id, { write, isReleased }]) => `${id} ${write.way} ${isReleased}`)
    const why = this.#client ? `in ${deadline} ms` : 'before the connection ended'
    throw new Error(`${this.clientId}: handshakes not over ${why}: ${open.join(', ')}`)
  }

  /** Ends the connection without a word. */
  async destroy(): Promise<void> {
    await this.#client?.destroy()
  }

  async #receive(client: MqttClient): Promise<void> {
    try {
      for (;;) this.#take(await client.next())
    } catch {
      // The connection is gone.
    }
    if (this.#client === client) this.#client = undefined
    this.#changes.tell()
  }

  #take(packet: Packet): void {
    const { cmd, messageId = 0 } = packet
    const reasonCode = 'reasonCode' in packet ? packet.reasonCode : undefined
    if (cmd === 'disconnect') {
      if (!passing.includes(reasonCode)) this.#breach(packet, `with ${reasonCode}`)
      return
    }
    const flight = this.#flights.get(messageId)
    if (cmd === 'pubcomp') {
      if (flight?.isReleased) this.#settle(messageId, flight, 'completed')
      else this.#breach(packet, 'without PUBREL')
      return
    }
    const expected = this.#awaited.shift()
    const way = expected === messageId ? flight?.write.way : undefined
    if (flight && way && (reasonCode ?? 0) >= 0x80) {
      // Refused for good, which no write of a load is.
      this.#breach(packet, `with ${reasonCode}`)
      this.#settle(messageId, flight, 'refused')
    } else if (flight && cmd === 'puback' && isAtQos(1, way)) {
      this.#settle(messageId, flight, 'acked')
    } else if (flight && cmd === 'pubrec' && isAtQos(2, way)) {
      this.setup.ledger.settle(flight.write, 'acked')
      flight.isReleased = true
      this.#release(messageId)
    } else {
      this.#breach(packet, `where an ack of ${expected} was due`)
    }
  }

  #settle(messageId: number, { write }: Flight, outcome: Outcome): void {
    this.setup.ledger.settle(write, outcome)
    this.#flights.delete(messageId)
    this.#changes.tell()
  }

  #breach({ cmd, messageId }: Packet, what: string): void {
    this.setup.ledger.breach(`${this.clientId}: ${cmd} ${messageId} ${what}`)
  }

  #sendAgain(messageId: number, { write, isReleased }: Flight): void {
    if (isReleased) {
      this.#release(messageId)
      return
    }
    this.setup.ledger.resend(write)
    this.#sendPublish(messageId, write, this.setup.isPersistent)
  }

  #release(messageId: number): void {
    // With its code, mqtt-packet writes four bytes in version 5, too, by which kill points know it.
    this.#client?.send({ cmd: 'pubrel', messageId, reasonCode: 0 })
  }

  #sendPublish(messageId: number, write: PlannedWrite, dup: boolean): void {
    const { thingId, thingToken } = this.setup.thing
    const named = write.topic ?? `things/${messageId % 2 === 0 ? thingId : thingToken}/write`
    const { topic, ...properties } = this.#form.of(named, write)
    const qos = isAtQos(2, write.way) ? 2 : 1
    const { retain = false } = write
    this.#awaited.push(messageId)
    this.#client?.send(publishPacket(topic, write.body, { qos, dup, retain, messageId, ...properties }))
  }

  /** The lowest: an id is used again as soon as the standard allows it. */
  #freePacketId(): number {
    let messageId = 1
    while (this.#flights.has(messageId)) messageId++
    return messageId
  }

  /** Resolves when it is so, the connection is gone, or the time (milliseconds) is over. */
  async #until(isSo: () => boolean, time?: number): Promise<void> {
    await this.#changes.until(() => !this.#client || isSo(), time)
  }
}
