import type { Duplex } from 'node:stream'
import {
  generate,
  type IConnackPacket,
  type IConnectPacket,
  type IPublishPacket,
  type ISubscribePacket,
  type ISubscription,
  type Packet,
  parser,
  type QoS,
} from 'mqtt-packet'
import { openStream, type StreamAddress } from './mqtt-stream.ts'
import { PacketQueue } from './packet-queue.ts'
import { within } from './waiting.ts'

export interface MqttAddress extends Omit<StreamAddress, 'subprotocol'> {
  /** 3 is MQTT 3.1, 4 (default) is 3.1.1. */
  readonly protocolVersion?: 3 | 4 | 5
  /** How long every wait may last, milliseconds. Default 20,000. */
  readonly deadline?: number
  /** Whether PUBLISH and PUBREL of the server are answered. Default true. */
  readonly acknowledges?: boolean
  /**
   * Takes each PUBLISH before it is acknowledged. With it nothing is kept of what was received, unless somebody waits for it:
   * so hundreds of thousands of messages can pass.
   */
  readonly onMessage?: (message: Message) => void
}

/** A PUBLISH that was received. */
export type Message = IPublishPacket & { readonly payload: Buffer }

export type Subscription = Pick<ISubscription, 'topic' | 'qos' | 'nl' | 'rap' | 'rh'>

/** Return code of a CONNACK; in version 5 its reason code. */
export function codeOf({ returnCode, reasonCode }: IConnackPacket): number | undefined {
  return returnCode ?? reasonCode
}

/** A CONNACK that does not accept. */
export class ConnectRefused extends Error {
  readonly returnCode: number | undefined

  constructor(clientId: string | undefined, returnCode: number | undefined) {
    super(`${clientId}: CONNACK ${returnCode}`)
    this.returnCode = returnCode
  }
}

export interface ConnectOptions {
  /** Default: one that no other client has. */
  readonly clientId?: string
  /** Default true. */
  readonly clean?: boolean
  readonly username?: string
  readonly password?: string
  readonly will?: {
    readonly topic: string
    readonly payload: Payload
    readonly qos?: QoS
    readonly retain?: boolean
    /** Of version 5. */
    readonly properties?: NonNullable<NonNullable<IConnectPacket['will']>['properties']>
  }
  /** Of version 5. */
  readonly properties?: IConnectPacket['properties']
  /** Seconds; default 0, no pings are sent either way. */
  readonly keepalive?: number
  /** Sent in the segment of the CONNECT, right behind it. */
  readonly pipelined?: readonly Packet[]
}

export interface PublishOptions {
  /** Default 1. */
  readonly qos?: QoS
  readonly dup?: boolean
  readonly retain?: boolean
  /** Default: the next one that was not given out yet. */
  readonly messageId?: number
  /** Of version 5. */
  readonly properties?: IPublishPacket['properties']
}

/** An object is sent as its JSON; text and bytes as they are. */
export type Payload = string | Uint8Array | object

let clients = 0

/**
 * Opens a connection and sends CONNECT. A refusal is no error: look at `connack.returnCode`.
 *
 * @throws Error if the connection ends, or the deadline passes, without CONNACK
 */
export async function connectMqtt(options: MqttAddress & ConnectOptions): Promise<MqttClient> {
  const client = await openMqtt(options)
  await client.connect(options)
  return client
}

/** As `connectMqtt`. @throws ConnectRefused, and the connection is gone */
export async function connectAccepted(options: MqttAddress & ConnectOptions): Promise<MqttClient> {
  const client = await connectMqtt(options)
  const returnCode = codeOf(client.connack)
  if (returnCode === 0) return client
  await client.destroy()
  throw new ConnectRefused(options.clientId, returnCode)
}

/** Opens a connection and sends nothing. @throws Error if it cannot be opened */
export async function openMqtt(address: MqttAddress): Promise<MqttClient> {
  const subprotocol = address.protocolVersion === 3 ? 'mqttv3.1' : 'mqtt'
  const { stream } = await openStream({ ...address, subprotocol })
  return new MqttClient(stream, address)
}

/** The bytes of these packets, one behind the other: `sendBytes` sends them in one segment. */
export function encodePackets(...packets: readonly Packet[]): Buffer {
  return encodedIn(4, packets)
}

function encodedIn(protocolVersion: number, packets: readonly Packet[]): Buffer {
  return Buffer.concat(packets.map(packet => generate(packet, { protocolVersion })))
}

/** A PUBLISH to be sent with others; QoS 1 and 2 need a `messageId`. */
export function publishPacket(topic: string, payload: Payload, options: PublishOptions = {}): Packet {
  const { qos = 1, dup = false, retain = false, messageId, properties } = options
  const numbered = qos === 0 || messageId === undefined ? {} : { messageId }
  const said = properties ? { properties } : {}
  return { cmd: 'publish', topic, payload: bytesOf(payload), qos, dup, retain, ...numbered, ...said }
}

/** One MQTT connection on which a test says what is sent, byte by byte if need be, and sees all that arrives. */
export class MqttClient {
  /** Resolves when the connection is gone, whoever ended it. */
  readonly closed: Promise<void>
  /** To be paused and resumed by a test that plays a stuck reader. */
  readonly stream: Duplex
  /** Whether PUBLISH and PUBREL of the server are answered from now on. */
  acknowledges: boolean
  readonly #queue: PacketQueue
  readonly #deadline: number
  readonly #protocolVersion: 3 | 4 | 5
  #connack: IConnackPacket | undefined
  #lastMessageId = 0
  /** Of what was received together. */
  #acks: Packet[] = []
  #isLeaving = false

  constructor(stream: Duplex, options: MqttAddress) {
    const { protocolVersion = 4, deadline = 20_000, acknowledges = true, onMessage } = options
    this.stream = stream
    this.acknowledges = acknowledges
    this.#protocolVersion = protocolVersion
    this.#deadline = deadline
    this.#queue = new PacketQueue(deadline, onMessage === undefined)
    const incoming = parser({ protocolVersion: protocolVersion === 5 ? 5 : 4 })
    incoming.on('packet', packet => {
      if (packet.cmd !== 'publish' || !onMessage) this.#queue.add(packet)
      else if (!this.#isLeaving) onMessage(packet as Message)
      this.#acknowledge(packet)
    })
    incoming.on('error', (error: Error) => stream.destroy(error))
    stream.on('data', (bytes: Buffer) => {
      incoming.parse(bytes)
      if (this.#acks.length > 0) this.sendBytes(this.#encoded(this.#acks.splice(0)))
    })
    stream.on('error', error => this.#queue.end(error))
    this.closed = new Promise(resolve => {
      stream.once('close', () => {
        this.#queue.end(new Error('the MQTT connection is closed'))
        resolve()
      })
    })
  }

  /** The answer to CONNECT. @throws Error if there was none */
  get connack(): IConnackPacket {
    if (!this.#connack) throw new Error('no CONNACK was received')
    return this.#connack
  }

  /** Everything received so far, in order. */
  get received(): readonly Packet[] {
    return this.#queue.received
  }

  /** The PUBACKs, PUBRECs and PUBCOMPs received so far, in order, such as `puback 7`. */
  get acknowledgements(): readonly string[] {
    const kinds = ['puback', 'pubrec', 'pubcomp']
    return this.received
      .filter(({ cmd }) => kinds.includes(cmd))
      .map(({ cmd, messageId }) => `${cmd} ${messageId}`)
  }

  /** Sends CONNECT and waits for its answer. */
  async connect(options: ConnectOptions = {}): Promise<IConnackPacket> {
    const { clientId = `client-${process.pid}-${++clients}`, clean = true, keepalive = 0, will } = options
    const version = this.#protocolVersion
    const connect: Packet = {
      cmd: 'connect',
      protocolId: version === 3 ? 'MQIsdp' : 'MQTT',
      protocolVersion: version,
      clientId,
      clean,
      keepalive,
      ...(options.username === undefined ? {} : { username: options.username }),
      ...(options.password === undefined ? {} : { password: Buffer.from(options.password) }),
      ...(will ? { will: { ...will, payload: bytesOf(will.payload) } } : {}),
      ...(options.properties ? { properties: options.properties } : {}),
    }
    if (options.pipelined) this.sendBytes(this.#encoded([connect, ...options.pipelined]))
    else this.send(connect)
    this.#connack = await this.next(isOf('connack'))
    return this.#connack
  }

  /** Sends each packet with a write, over WebSocket a message, of its own. */
  send(...packets: readonly Packet[]): void {
    for (const packet of packets) this.sendBytes(this.#encoded([packet]))
  }

  #encoded(packets: readonly Packet[]): Buffer {
    return encodedIn(this.#protocolVersion, packets)
  }

  sendBytes(bytes: Uint8Array): void {
    this.stream.write(bytes)
  }

  /**
   * Resolves when the server has acknowledged: with PUBACK at QoS 1, PUBCOMP at QoS 2; at QoS 0 when the bytes are
   * handed to the socket.
   */
  async publish(topic: string, payload: Payload, options: PublishOptions = {}): Promise<void> {
    const { qos = 1 } = options
    if (qos === 2) return this.release(await this.publishUntilPubrec(topic, payload, options))
    const messageId = this.#sendPublish(topic, payload, options)
    if (qos === 1) await this.next(isOf('puback', messageId))
  }

  /** Sends a QoS 2 PUBLISH and waits for its PUBREC. @returns the packet id, for `release` */
  async publishUntilPubrec(
    topic: string,
    payload: Payload,
    options: Omit<PublishOptions, 'qos'> = {},
  ): Promise<number> {
    const messageId = this.#sendPublish(topic, payload, { ...options, qos: 2 })
    await this.next(isOf('pubrec', messageId))
    return messageId
  }

  /** Sends PUBREL and waits for its PUBCOMP. */
  async release(messageId: number): Promise<void> {
    this.send({ cmd: 'pubrel', messageId })
    await this.next(isOf('pubcomp', messageId))
  }

  /** @returns the granted QoS, or 128 for a refused filter */
  async subscribe(filter: string, qos: QoS = 1): Promise<number> {
    const [granted = NaN] = await this.subscribeAll([filter], qos)
    return granted
  }

  /** One SUBSCRIBE of several filters. @returns what SUBACK says of each */
  subscribeAll(filters: readonly string[], qos: QoS = 1): Promise<readonly number[]> {
    return this.#subscribe(filters.map(topic => ({ topic, qos })))
  }

  /** One SUBSCRIBE. @throws Error if one is not granted as asked for */
  async subscribeTo(...subscriptions: readonly Subscription[]): Promise<void> {
    const granted = (await this.#subscribe(subscriptions)).join()
    const asked = subscriptions.map(({ qos }) => qos).join()
    if (granted !== asked) throw new Error(`SUBACK ${granted} for ${asked}`)
  }

  /** Resolves when the server has taken them away. */
  async unsubscribe(...filters: readonly string[]): Promise<void> {
    const messageId = this.nextMessageId()
    this.send({ cmd: 'unsubscribe', messageId, unsubscriptions: [...filters] })
    await this.next(isOf('unsuback', messageId))
  }

  /**
   * Takes the first packet that is for `wanted` and was not taken before, waiting for it if need be.
   *
   * @throws Error if the connection ends or the deadline passes before
   */
  next<Wanted extends Packet>(wanted: (packet: Packet) => packet is Wanted): Promise<Wanted>
  next(wanted?: (packet: Packet) => boolean): Promise<Packet>
  next(wanted: (packet: Packet) => boolean = () => true): Promise<Packet> {
    return this.#queue.next(wanted)
  }

  /** Waits for the answer to a PINGREQ: what was received before it, was sent before it. */
  async ping(): Promise<void> {
    this.send({ cmd: 'pingreq' })
    await this.next(isOf('pingresp'))
  }

  /** Waits for the server to end the connection. @throws Error past the deadline */
  async untilClosed(): Promise<void> {
    await within(this.closed, 'the end of the connection', this.#deadline)
  }

  /** Ends the connection as a client that will not have its will sent. @throws Error past the deadline */
  async disconnect(): Promise<void> {
    this.abandon()
    if (!this.stream.destroyed) this.stream.end(this.#encoded([{ cmd: 'disconnect' }]))
    await this.untilClosed()
  }

  /** Sends DISCONNECT, and resolves when the server has closed the connection in answer. @throws Error past the deadline */
  async takeLeave(): Promise<void> {
    if (!this.stream.destroyed) this.send({ cmd: 'disconnect' })
    await this.untilClosed()
  }

  /** Acknowledges nothing from now on, and gives `onMessage` nothing; leaves the connection to the server to end. */
  abandon(): void {
    this.#isLeaving = true
  }

  /** Ends the connection without a word. */
  async destroy(): Promise<void> {
    this.abandon()
    this.stream.destroy()
    await this.closed
  }

  nextMessageId(): number {
    this.#lastMessageId = (this.#lastMessageId % 65_535) + 1
    return this.#lastMessageId
  }

  #sendPublish(topic: string, payload: Payload, options: PublishOptions): number {
    const { messageId = options.qos === 0 ? 0 : this.nextMessageId() } = options
    this.send(publishPacket(topic, payload, { ...options, messageId }))
    return messageId
  }

  /** One SUBSCRIBE, in version 5 with an identifier. @throws Error if one is not granted as asked for */
  async subscribeAs(
    subscriptionIdentifier: number,
    ...subscriptions: readonly Subscription[]
  ): Promise<void> {
    const granted = await this.#subscribe(subscriptions, { subscriptionIdentifier })
    const asked = subscriptions.map(({ qos }) => qos).join()
    if (granted.join() !== asked) throw new Error(`SUBACK ${granted} for ${asked}`)
  }

  async #subscribe(
    subscriptions: readonly Subscription[],
    properties: ISubscribePacket['properties'] = {},
  ): Promise<readonly number[]> {
    const messageId = this.nextMessageId()
    this.send({ cmd: 'subscribe', messageId, subscriptions: [...subscriptions], properties })
    const suback = await this.next(isOf('suback', messageId))
    return suback.granted as number[]
  }

  #acknowledge(packet: Packet): void {
    const { cmd, messageId } = packet
    if (messageId === undefined || !this.acknowledges || this.#isLeaving || this.stream.destroyed) return
    if (cmd === 'publish' && packet.qos === 1) this.#acks.push({ cmd: 'puback', messageId })
    if (cmd === 'publish' && packet.qos === 2) this.#acks.push({ cmd: 'pubrec', messageId })
    if (cmd === 'pubrel') this.#acks.push({ cmd: 'pubcomp', messageId })
  }
}

/** Whether a packet is of this kind, and carries this packet id if one is given. */
export function isOf<Command extends Packet['cmd']>(cmd: Command, messageId?: number) {
  return (packet: Packet): packet is Extract<Packet, { cmd: Command }> =>
    packet.cmd === cmd && (messageId === undefined || packet.messageId === messageId)
}

/** Whether a packet is a message on this topic. */
export function isMessageOn(topic: string) {
  return (packet: Packet): packet is Extract<Packet, { cmd: 'publish' }> =>
    packet.cmd === 'publish' && packet.topic === topic
}

/** All that a packet, or a part of it, holds: a text to be searched, in which nothing is escaped. */
export function packetText(part: unknown): string {
  if (Buffer.isBuffer(part)) return part.toString('latin1')
  if (typeof part !== 'object' || part === null) return String(part)
  return Object.entries(part)
    .map(([name, value]) => `${name} ${packetText(value)}`)
    .join('\n')
}

function bytesOf(payload: Payload): Buffer {
  if (payload instanceof Uint8Array) return Buffer.from(payload)
  return Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload))
}
