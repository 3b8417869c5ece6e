import { generate, type IConnackPacket, type Packet, type Parser, parser, type QoS } from 'mqtt-packet'
import { type ByteStream, openByteStream } from './byte-stream.ts'
import { within } from './within.ts'

/** A PUBLISH that was received. */
export interface Message {
  readonly topic: string
  readonly payload: Buffer
  readonly qos: QoS
  readonly retain: boolean
  readonly dup: boolean
}

export interface LinkSetup {
  /** `mqtt://<host>:<port>` or `ws://<host>:<port>/mqtt`. */
  readonly url: string
  readonly clientId: string
  /** A thing token or the admin key. */
  readonly password: string
  /** Default true. */
  readonly clean?: boolean
  /** How fast it reads; default: as fast as it can. */
  readonly bytesPerSecond?: number
  /** Called at a CONNACK that accepts, before any message. */
  readonly onConnack?: () => void
  readonly onMessage?: (message: Message) => void
}

export interface Subscription {
  readonly topic: string
  readonly qos: QoS
}

/** A CONNACK that does not accept. */
export class ConnectRefused extends Error {
  readonly returnCode: number | undefined

  constructor(clientId: string, returnCode: number | undefined) {
    super(`${clientId}: CONNACK ${returnCode}`)
    this.returnCode = returnCode
  }
}

interface Waiting {
  readonly resolve: (packet: Packet) => void
  readonly reject: (error: Error) => void
}

/**
 * An MQTT 3.1.1 connection that keeps nothing of what it received, so that hundreds of thousands of messages can pass.
 * It acknowledges each message after `onMessage` has seen it.
 */
export class MqttLink {
  readonly stream: ByteStream
  /** Whether the server had a session for it. */
  sessionPresent = false
  readonly #setup: LinkSetup
  readonly #incoming: Parser = parser({ protocolVersion: 4 })
  /** By the packet that is waited for, such as `puback 7`. */
  readonly #waiting = new Map<string, Waiting>()
  #acks: Buffer[] = []
  #isLeaving = false
  #holdsAcks = false
  #isClosed = false
  #lastMessageId = 0

  private constructor(stream: ByteStream, setup: LinkSetup) {
    this.stream = stream
    this.#setup = setup
    this.#incoming.on('packet', packet => this.#take(packet))
    this.#incoming.on('error', () => stream.destroy())
    void stream.closed.then(() => {
      this.#isClosed = true
      for (const [name, { reject }] of this.#waiting) {
        reject(new Error(`${setup.clientId}: closed before ${name}`))
      }
    })
  }

  /** Opens a connection and connects. @throws ConnectRefused @throws Error without CONNACK */
  static async open(setup: LinkSetup): Promise<MqttLink> {
    const { url, bytesPerSecond } = setup
    let link: MqttLink | undefined
    const pace = bytesPerSecond === undefined ? {} : { bytesPerSecond }
    const stream = await openByteStream({ url, ...pace, onBytes: bytes => link?.receive(bytes) })
    link = new MqttLink(stream, setup)
    await link.#connect()
    return link
  }

  /** @throws Error if one is not granted as asked for */
  async subscribe(...subscriptions: readonly Subscription[]): Promise<void> {
    const messageId = this.#nextMessageId()
    this.#send({ cmd: 'subscribe', messageId, subscriptions: [...subscriptions] })
    const suback = await this.#answer(`suback ${messageId}`)
    const granted = suback.cmd === 'suback' ? suback.granted : []
    const asked = subscriptions.map(({ qos }) => qos)
    if (granted.join() !== asked.join()) throw new Error(`SUBACK ${granted.join()} for ${asked.join()}`)
  }

  async unsubscribe(...topics: readonly string[]): Promise<void> {
    const messageId = this.#nextMessageId()
    this.#send({ cmd: 'unsubscribe', messageId, unsubscriptions: [...topics] })
    await this.#answer(`unsuback ${messageId}`)
  }

  /** Resolves when the write is acked: with PUBACK or PUBREC; at QoS 0 at once. @throws Error if it is not */
  async publish(topic: string, payload: string, qos: QoS): Promise<void> {
    const messageId = qos === 0 ? 0 : this.#nextMessageId()
    this.#send({ cmd: 'publish', messageId, topic, payload, qos, dup: false, retain: false })
    if (qos === 0) return
    await this.#answer(`${qos === 1 ? 'puback' : 'pubrec'} ${messageId}`)
    if (qos === 2) this.#send({ cmd: 'pubrel', messageId })
  }

  /** Resolves when the server has answered everything that was sent before. */
  async ping(): Promise<void> {
    this.#send({ cmd: 'pingreq' })
    await this.#answer('pingresp')
  }

  /** From now on nothing is acknowledged. */
  holdAcks(): void {
    this.#holdsAcks = true
  }

  /** Ends the connection with DISCONNECT. What arrives from now on is not taken. */
  async disconnect(): Promise<void> {
    this.#isLeaving = true
    this.#send({ cmd: 'disconnect' })
    this.stream.end()
    await within(this.stream.closed, `${this.#setup.clientId}: the end after DISCONNECT`)
  }

  /** Takes and acknowledges nothing from now on, and leaves the connection to the server to end. */
  abandon(): void {
    this.#isLeaving = true
  }

  /** Ends the connection without a word. What arrives from now on is not taken. */
  async destroy(): Promise<void> {
    this.#isLeaving = true
    this.stream.destroy()
    await this.stream.closed
  }

  async #connect(): Promise<void> {
    const { clientId, clean = true, password } = this.#setup
    this.#send({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 4,
      clientId,
      clean,
      keepalive: 0,
      username: 'soak',
      password: Buffer.from(password),
    })
    const { returnCode, sessionPresent } = (await this.#answer('connack')) as IConnackPacket
    if (returnCode !== 0) throw new ConnectRefused(clientId, returnCode)
    this.sessionPresent = sessionPresent
  }

  private receive(bytes: Buffer): void {
    this.#incoming.parse(bytes)
    if (this.#acks.length === 0 || this.#isLeaving || this.#holdsAcks) return
    this.stream.write(Buffer.concat(this.#acks))
    this.#acks = []
  }

  #take(packet: Packet): void {
    // No acks may follow a DISCONNECT: what comes after it counts as not received.
    if (this.#isLeaving) return
    if (packet.cmd === 'publish') {
      this.#setup.onMessage?.({ ...packet, payload: packet.payload as Buffer })
      if (packet.qos > 0) this.#acks.push(generate({ cmd: 'puback', messageId: packet.messageId ?? 0 }))
      return
    }
    if (packet.cmd === 'connack' && packet.returnCode === 0) this.#setup.onConnack?.()
    const name = nameOf(packet)
    this.#waiting.get(name)?.resolve(packet)
    this.#waiting.delete(name)
  }

  async #answer(name: string): Promise<Packet> {
    if (this.#isClosed) throw new Error(`${this.#setup.clientId}: closed before ${name}`)
    const answer = new Promise<Packet>((resolve, reject) => this.#waiting.set(name, { resolve, reject }))
    return await within(answer, `${this.#setup.clientId}: ${name}`)
  }

  #send(packet: Packet): void {
    this.stream.write(generate(packet))
  }

  #nextMessageId(): number {
    this.#lastMessageId = (this.#lastMessageId % 65_535) + 1
    return this.#lastMessageId
  }
}

function nameOf({ cmd, messageId }: Packet): string {
  return messageId === undefined ? cmd : `${cmd} ${messageId}`
}
