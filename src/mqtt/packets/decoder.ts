import { type Codec, mqtt31, mqtt311 } from './codec.ts'
import { Codec5, topicAliasMaximum } from './codec5.ts'
import { decodeConnect, levelOf } from './decode-connect.ts'
import { decodePacket, decodePublish, publishOf } from './decode-packet.ts'
import { Fields } from './fields.ts'
import {
  assertFirstByte,
  assertFixedLength,
  assertLength,
  assertShortest,
  type Header,
  headerAt,
  qosOf,
  type SizeOption,
  typeOf,
  withoutUnusedFlags,
} from './header.ts'
import { type Connect, MalformedPacket, type Packet, type Publish, types } from './packet.ts'

/** Receives the decoded packets of a connection. */
export interface PacketSink {
  /** Whether the decoder may continue with the next packet. */
  mayTake(): boolean
  take(packet: Packet): void
}

/** The received part of a packet that is still arriving. */
interface Unfinished {
  readonly pieces: Buffer[]
  bytes: number
  /** Size of the whole packet, bytes; 0 if not known yet. */
  readonly size: number
}

const nothing = Buffer.alloc(0)
/** Identifier of the property Topic Alias (MQTT5-2.2.2.2). */
const aliasProperty = 0x23

/**
 * Decodes the packets of one connection. A packet that violates MQTT is refused as early as possible: its first byte is checked as
 * soon as it arrives, then its length, then its content.
 */
export class Decoder {
  /** Maximum length that a packet may announce, bytes. */
  longest: number
  /** Sets `longest`. */
  sizeOption: SizeOption = 'maxPacketSize'
  #isFirst = true
  /** Of the version that CONNECT chose. */
  codec: Codec = mqtt311
  #is5 = false
  /** Topics by topic alias, in MQTT 5; undefined if the client has sent none. */
  #aliases: Map<number, string> | undefined
  /** Contains the packet that the sink is taking, from `#start` (inclusive) to `#end` (exclusive). */
  #current: Buffer = nothing
  #start = 0
  #end = 0
  #unfinished: Unfinished | undefined
  /** Topic of the latest PUBLISH. Most devices publish on one topic, which need not be checked again. */
  #topic = ''
  #topicBytes: Buffer = nothing

  constructor(longest: number) {
    this.longest = longest
  }

  /** Number of received bytes of an incomplete packet; undefined if no packet is incomplete. */
  get unfinishedBytes(): number | undefined {
    return this.#unfinished?.bytes
  }

  /** The packet that the sink is taking. MQTT 3.1 flags are replaced by MQTT 3.1.1 flags, since Aedes knows no others. */
  get raw(): Buffer {
    return this.#current.subarray(this.#start, this.#end)
  }

  /**
   * Passes complete packets to the sink, and keeps the bytes of an incomplete packet. Only an incomplete packet is copied.
   *
   * @returns the bytes of the packets that the sink did not take
   * @throws MalformedPacket if a packet violates MQTT; the connection must then not be read any further
   */
  read(received: Buffer, sink: PacketSink): Buffer {
    const bytes = this.#withUnfinished(received)
    if (!bytes) return nothing
    let place = 0
    while (place < bytes.length && (place === 0 || sink.mayTake())) {
      const header = this.#headerAt(bytes, place)
      const end = header ? header.start + header.length : 0
      if (!header || end > bytes.length) {
        this.#keep(bytes.subarray(place), header ? end - place : 0)
        return nothing
      }
      const packet = this.#decode(header, bytes, place, end)
      this.#current = bytes
      this.#start = place
      place = end
      this.#end = end
      sink.take(packet)
    }
    this.#current = nothing
    return place === 0 ? bytes : bytes.subarray(place)
  }

  /** Removes and returns the bytes of the packet that is still arriving. */
  takeUnfinished(): Buffer {
    const bytes = Buffer.concat(this.#unfinished?.pieces ?? [])
    this.#unfinished = undefined
    return bytes
  }

  /** @returns undefined if the packet is still incomplete */
  #withUnfinished(received: Buffer): Buffer | undefined {
    const unfinished = this.#unfinished
    if (!unfinished) return received
    unfinished.pieces.push(received)
    unfinished.bytes += received.length
    return unfinished.bytes < unfinished.size ? undefined : this.takeUnfinished()
  }

  #keep(bytes: Buffer, size: number): void {
    this.#unfinished = { pieces: [bytes], bytes: bytes.length, size }
  }

  #headerAt(bytes: Buffer, place: number): Header | undefined {
    if (this.codec === mqtt31) bytes[place] = withoutUnusedFlags(bytes[place] ?? 0)
    assertFirstByte(bytes[place] ?? 0, this.#isFirst)
    const header = headerAt(bytes, place)
    if (header) assertLength(header, this.longest, this.sizeOption)
    if (header && this.#is5) assertShortest(header, place)
    else if (header) assertFixedLength(header)
    return header
  }

  #decode(header: Header, bytes: Buffer, place: number, end: number): Packet {
    const { firstByte, start } = header
    this.#isFirst = false
    const type = typeOf(firstByte)
    if (type === types.publish) {
      return this.#publishAgain(firstByte, bytes, start, end) ?? this.#publish(firstByte, bytes, start, end)
    }
    const fields = new Fields(bytes.subarray(start, end))
    if (type !== types.connect) return decodePacket(firstByte, fields, this.#is5)
    const connect = this.#connect(fields)
    if (this.#is5) assertShortest(header, place)
    return connect
  }

  #connect(fields: Fields): Connect {
    const level = levelOf(fields)
    this.#is5 = level === 5
    const codec5 = this.#is5 ? new Codec5() : undefined
    // Set before the packet is decoded, so that a refusal of it is written in its version.
    this.codec = codec5 ?? (level === 3 ? mqtt31 : mqtt311)
    const { connect, properties } = decodeConnect(fields, level)
    codec5?.heard(properties)
    return connect
  }

  #publish(firstByte: number, bytes: Buffer, start: number, end: number): Publish {
    const fields = new Fields(bytes.subarray(start, end))
    const publish = this.#unaliased(decodePublish(firstByte, fields, this.#is5))
    if (publish.topic !== this.#topic) this.#topicBytes = Buffer.from(publish.topic)
    this.#topic = publish.topic
    return publish
  }

  /** Replaces the topic alias of a PUBLISH by its topic, or notes the alias (MQTT5-3.3.2.3.4). */
  #unaliased(publish: Publish): Publish {
    const { topicAlias } = publish.properties ?? {}
    if (topicAlias === undefined) return publish
    if (topicAlias === 0 || topicAlias > topicAliasMaximum) {
      const rule = `a topic alias must be from 1 to ${topicAliasMaximum}, but it is ${topicAlias}`
      throw new MalformedPacket(rule, 'topic_alias')
    }
    this.#aliases ??= new Map()
    if (publish.topic !== '') this.#aliases.set(topicAlias, publish.topic)
    const topic = this.#aliases.get(topicAlias)
    if (topic === undefined)
      throw new MalformedPacket(
        `the topic alias ${topicAlias} was sent without a topic before`,
        'topic_alias',
      )
    return { ...publish, topic }
  }

  /**
   * Decodes a PUBLISH on the same topic as the previous one, or with a known alias and no other property; undefined for any other
   * packet.
   */
  #publishAgain(firstByte: number, bytes: Buffer, start: number, end: number): Publish | undefined {
    const isAliased = this.#aliases !== undefined && bytes[start] === 0 && bytes[start + 1] === 0
    const { length } = isAliased ? nothing : this.#topicBytes
    const topicEnd = start + 2 + length
    const idEnd = qosOf(firstByte) === 0 ? topicEnd : topicEnd + 2
    const propertiesLength = isAliased ? 3 : 0
    const payloadStart = this.#is5 ? idEnd + 1 + propertiesLength : idEnd
    if (payloadStart > end || (this.#is5 && bytes[idEnd] !== propertiesLength)) return undefined
    const topic = isAliased ? this.#topicByAlias(bytes, idEnd + 1) : this.#topicAt(bytes, start)
    const messageId = idEnd === topicEnd ? 0 : bytes.readUInt16BE(topicEnd)
    if (topic === undefined || (messageId === 0 && idEnd !== topicEnd)) return undefined
    return publishOf(firstByte, topic, messageId, bytes.subarray(payloadStart, end))
  }

  #topicByAlias(bytes: Buffer, property: number): string | undefined {
    return bytes[property] === aliasProperty
      ? this.#aliases?.get(bytes.readUInt16BE(property + 1))
      : undefined
  }

  /** The previous topic, if the bytes hold it. Topics are so short that this loop is faster than a call to `Buffer.compare`. */
  #topicAt(bytes: Buffer, start: number): string | undefined {
    const topic = this.#topicBytes
    if (topic.length === 0 || bytes.readUInt16BE(start) !== topic.length) return undefined
    for (let place = 0; place < topic.length; place++) {
      if (bytes[start + 2 + place] !== topic[place]) return undefined
    }
    return this.#topic
  }
}
