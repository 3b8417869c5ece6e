import type { EventEmitter } from 'node:events'
import type { Readable } from 'node:stream'
import type { Aedes, Client, ConnectPacket, PublishPacket, PubrelPacket, SubscribePacket } from 'aedes'
import { MalformedPacket } from './malformed-packet.ts'
import { PublishReader } from './publish-reader.ts'
import { subscribeToAedes } from './subscribe-to-aedes.ts'
import { isTopicFilter } from './topics.ts'
import { assertFirstByte, assertLength, assertWellFormed, examinedLength, isPublish } from './well-formed.ts'

/**
 * Everything of Aedes 1.2 that this door uses and that is not documented API. `test/mqtt/seams.test.ts` holds each
 * fact that is relied on here, `hook-seams.test.ts` those about hooks: where to look when Aedes changes.
 */

/** What Aedes' parser hands on; the commands that this door looks at. */
export type InboundPacket =
  | ConnectPacket
  | PublishPacket
  | PubrelPacket
  | SubscribePacket
  | { readonly cmd: 'unsubscribe'; readonly messageId: number; unsubscriptions: string[] }
  | { readonly cmd: 'puback'; readonly messageId: number }
  | { readonly cmd: 'disconnect' | 'pingreq' | 'pubrec' | 'pubcomp' }

export interface StoredSubscription {
  readonly topic: string
  readonly qos: 0 | 1 | 2
}

/** The part of Aedes' persistence interface in which subscriptions of persistent sessions are kept. */
export interface SubscriptionPersistence {
  addSubscriptions(client: { id: string }, subscriptions: StoredSubscription[]): Promise<unknown>
  removeSubscriptions(client: { id: string }, topics: string[]): Promise<unknown>
  subscriptionsByClient(client: { id: string }): Promise<StoredSubscription[]>
  createRetainedStreamCombi(filters: string[]): Readable
  /** Messages that were queued for a client while it was away. */
  outgoingStream(client: { id: string }): Readable
}

/** Fields of a broker that its types lack. */
export interface BrokerInternals {
  readonly version: string
  handle: Aedes['handle']
  persistence: SubscriptionPersistence
  /** Longest client id of an MQTT 3.1 client. */
  maxClientsIdLength: number
}

export function internalsOf(broker: Aedes): BrokerInternals {
  return broker as unknown as BrokerInternals
}

interface PacketParser extends EventEmitter {
  readonly packet: { readonly length: number }
  /** 0: between two packets. */
  readonly _stateCounter: number
  readonly _list: {
    readonly length: number
    get(place: number): number
    slice(start?: number, end?: number): Buffer
    consume(bytes: number): void
  }
  parse(bytes: Buffer): number
  _parseHeader(): boolean
  _parseLength(): boolean
  _parsePayload(): boolean
}

interface ClientInternals {
  readonly broker: EventEmitter
  readonly _parser: PacketParser
  _nextBatch: (error?: Error) => void
  _parsingBatch: number
  readonly _paused?: boolean
  _nextId: number
  readonly _keepaliveTimer: NodeJS.Timeout | null
  resume(): void
}

export interface ReadingHandlers {
  /** There may be bytes to read, or room for them. */
  onReadable(): void
  /** Whether the next packet may be parsed. */
  mayParse(): boolean
  /** A packet is complete. */
  onPacket(packet: InboundPacket): void
  /** What is being parsed is no packet. Nothing of it is handed on. */
  onMalformed(error: MalformedPacket): void
  /** Aedes has dealt with a packet that it was given; not called if it failed. */
  onPacketDone(): void
  /** Largest length that a packet may announce, bytes. */
  readonly maxPacketSize: number
}

const nothing = Buffer.alloc(0)

/** Those of a connection that is gone. */
const gone: ReadingHandlers = {
  onReadable() {},
  mayParse: () => false,
  onPacket() {},
  onMalformed() {},
  onPacketDone() {},
  maxPacketSize: 0,
}

const maximumMessageId = 65_535
/** Bytes that are read at once: of these, what is not parsed yet is given back, and read again. */
const readSize = 16 * 1024

/** One connection, taken over between the socket and Aedes. */
export class ClientSeam {
  readonly #client: Client
  readonly #internals: ClientInternals
  readonly #aedesNextBatch: ClientInternals['_nextBatch']
  readonly #toAedes: (packet: InboundPacket) => void
  readonly #publishes: PublishReader
  #handlers: ReadingHandlers
  /** Whether the parser holds the bytes of a packet that it has not begun. */
  #stalled = false
  /** Whether the parser has begun a packet of what it was given last. */
  #hasBegun = false
  /** Bytes that the parser has given back to the connection. */
  #givenBack = 0
  #isFirstPacket = true

  constructor(client: Client, handlers: ReadingHandlers) {
    const internals = client as unknown as ClientInternals
    this.#client = client
    this.#internals = internals
    this.#handlers = handlers
    this.#aedesNextBatch = internals._nextBatch
    this.#publishes = new PublishReader(handlers.maxPacketSize)
    const [toAedes] = internals._parser.listeners('packet') as ((packet: InboundPacket) => void)[]
    if (!toAedes) throw new Error('this Aedes has no packet listener on its parser')
    this.#toAedes = packet => toAedes.call(internals._parser, packet)
    this.#takeReading(toAedes)
    this.#guardParser()
  }

  /** Aedes reads ahead without bound and dispatches what came with CONNECT out of order: we read and parse ourselves. */
  #takeReading(toAedes: (packet: InboundPacket) => void): void {
    const { _parser: parser } = this.#internals
    this.#client.conn.removeListener('readable', this.#aedesNextBatch)
    this.#client.conn.on('readable', this.#handlers.onReadable)
    parser.removeListener('packet', toAedes)
    parser.on('packet', this.#onParsed)
    // Counts from 1, so that the first packet is taken for what it is: the one before CONNACK.
    this.#internals._parsingBatch = 0
    // A function that is assigned to a property, V8 makes in the old generation: all that it sees would stay until
    // that is collected, so those of a connection are given in an object.
    Object.assign(this.#internals, {
      _nextBatch: (error?: Error) => {
        if (error) this.#client.emit('error', error)
        else this.#handlers.onPacketDone()
      },
      resume: () => {
        Object.assign(this.#client, { _paused: false })
        this.#handlers.onReadable()
      },
    })
  }

  #guardParser(): void {
    const { _parser: parser } = this.#internals
    const { maxPacketSize } = this.#handlers
    const { _parseHeader: parseHeader, _parseLength: parseLength, _parsePayload: parsePayload } = parser
    let firstByte = 0
    Object.assign(parser, {
      _parseHeader: () => {
        firstByte = parser._list.get(0)
        const isForUs = this.#hasBegun && isPublish(firstByte)
        this.#stalled = isForUs || !this.#handlers.mayParse()
        if (this.#stalled) return false
        this.#hasBegun = true
        if (!this.#passes(() => assertFirstByte(firstByte, this.#isFirstPacket))) return false
        this.#isFirstPacket = false
        return parseHeader.call(parser)
      },
      _parseLength: () => {
        if (!parseLength.call(parser)) return false
        const { length } = parser.packet
        if (length <= maxPacketSize) return this.#passes(() => assertLength(firstByte, length))
        const text = `a packet of ${length} bytes is over maxPacketSize, ${maxPacketSize}`
        this.#handlers.onMalformed(new MalformedPacket(text))
        return false
      },
      _parsePayload: () => {
        const { packet, _list: list } = parser
        // It is parsed as soon as it is complete.
        const passes =
          list.length < packet.length ||
          this.#passes(() =>
            assertWellFormed(firstByte, list.slice(0, examinedLength(firstByte, packet.length))),
          )
        return passes && parsePayload.call(parser)
      },
    })
  }

  readonly #onParsed = (packet: InboundPacket): void => {
    if (packet.cmd === 'publish') this.#publishes.expect(packet.topic)
    this.#handlers.onPacket(packet)
  }

  #passes(assert: () => void): boolean {
    try {
      assert()
      return true
    } catch (error) {
      if (!(error instanceof MalformedPacket)) throw error
      if (error.answer) this.#tellConnack(error.answer)
      this.#handlers.onMalformed(error)
      return false
    }
  }

  /** As Aedes does of the CONNACKs that it sends itself: logs and figures go by it. */
  #tellConnack(connack: Uint8Array): void {
    const packet = { cmd: 'connack', sessionPresent: false, returnCode: connack[3] }
    this.#internals.broker.emit('connackSent', packet, this.#client)
  }

  /** Whether the host paused the client. */
  get isPaused(): boolean {
    return this.#internals._paused === true
  }

  /** Bytes that were received of a packet that is begun, without its header; undefined if none is. */
  get unfinishedBytes(): number | undefined {
    const { _stateCounter, _list } = this.#internals._parser
    return _stateCounter === 0 ? undefined : _list.length
  }

  /** Parses what is there, as far as `mayParse` lets it. Must not be called while it runs. */
  parse(): void {
    const { conn } = this.#client
    while (this.#handlers.mayParse()) {
      // What was given back is read as the one piece that it is: a copy for each packet would outweigh them all.
      const size = this.#givenBack || Math.min(conn.readableLength, readSize)
      this.#givenBack = 0
      // Asked for nothing, an empty stream goes to get more.
      const bytes = conn.read(size || undefined) as Buffer | null
      if (bytes === null) return
      const rest = this.#take(bytes)
      // A connection ends when its last byte is read: not before what the client sent before it left is dealt with.
      this.#givenBack = rest.length
      if (rest.length > 0) conn.unshift(rest)
    }
  }

  /** Hands on the packets that were received. @returns what is left of the bytes, from a packet on that may not be begun */
  #take(bytes: Buffer): Buffer {
    let rest = this.#takePublishes(bytes)
    while (rest.length > 0 && this.#handlers.mayParse()) rest = this.#takePublishes(this.#takeByParser(rest))
    return rest
  }

  #takePublishes(bytes: Buffer): Buffer {
    const { _stateCounter, _list } = this.#internals._parser
    if (_stateCounter !== 0 || _list.length > 0) return bytes
    let place = 0
    while (place < bytes.length && this.#handlers.mayParse()) {
      const packet = this.#publishes.read(bytes, place)
      if (!packet) break
      place = this.#publishes.end
      this.#handlers.onPacket(packet)
    }
    return place === 0 ? bytes : bytes.subarray(place)
  }

  /** As far as the next PUBLISH. */
  #takeByParser(bytes: Buffer): Buffer {
    const { _parser: parser } = this.#internals
    this.#hasBegun = parser._stateCounter !== 0
    this.#stalled = false
    parser.parse(bytes)
    if (!this.#stalled) return nothing
    const rest = parser._list.slice()
    parser._list.consume(rest.length)
    return rest
  }

  passToAedes(packet: InboundPacket): void {
    if (packet.cmd === 'subscribe') {
      subscribeToAedes(this.#client, packet, () => this.#handlers.onPacketDone())
      return
    }
    // Aedes closes the connection at one that it takes for none: there is no subscription that could be meant.
    if (packet.cmd === 'unsubscribe') packet.unsubscriptions = packet.unsubscriptions.filter(isTopicFilter)
    this.#toAedes(packet)
  }

  /** To be called when a packet has come, and while the client is not read: it may have sent one that we did not see. */
  keepAlive(): void {
    this.#internals._keepaliveTimer?.refresh()
  }

  /** A packet id for a PUBLISH to the client, out of the series from which Aedes takes its own. */
  nextMessageId(): number {
    const id = this.#internals._nextId
    this.#internals._nextId = id >= maximumMessageId ? 1 : id + 1
    return id
  }

  /** The connection is gone: Aedes' own closures keep its client until the old generation is collected, but not ours. */
  letGo(): void {
    this.#handlers = gone
  }

  /** Lets Aedes read the connection itself again. */
  release(): void {
    const { _parser: parser } = this.#internals
    const own = this.#internals as { resume?: unknown } & { _nextBatch: unknown; _parsingBatch: number }
    this.#client.conn.removeListener('readable', this.#handlers.onReadable)
    parser.removeListener('packet', this.#onParsed)
    for (const method of ['_parseHeader', '_parseLength', '_parsePayload'])
      Reflect.deleteProperty(parser, method)
    delete own.resume
    own._nextBatch = this.#aedesNextBatch
    own._parsingBatch = 1
    parser.on('packet', this.#toAedes)
    this.#client.conn.on('readable', this.#aedesNextBatch)
    this.#aedesNextBatch()
  }
}
