import type { PublishPacket } from 'aedes'
import { publishHeader } from './publish-packet.ts'
import { isPublish, publishFlagsProblem, qosOf } from './well-formed.ts'

/** Bits before the last of the four bytes of a length (MQTT-2.2.3). */
const lastShift = 21

/**
 * Reads PUBLISH packets where they lie in what was received. What a device sends is one after the other on one topic: of
 * these nothing has to be checked that the parser has not checked of the first, and none is copied. Whatever else comes,
 * or is wrong in any way, is left to the parser. The parser's copies and checks took a third of the time of a write.
 */
export class PublishReader {
  /** Where the packet ends that was read last. */
  end = 0
  readonly #longest: number
  #topic: string | undefined
  #topicBytes = Buffer.alloc(0)

  /** @param longest bytes behind the fixed header of a packet */
  constructor(longest: number) {
    this.#longest = longest
  }

  /** @param topic of a packet that was well formed */
  expect(topic: string): void {
    if (topic === this.#topic) return
    this.#topic = topic
    this.#topicBytes = Buffer.from(topic)
  }

  /** The packet that begins at `start`; undefined: it is for the parser. */
  read(bytes: Buffer, start: number): PublishPacket | undefined {
    const topic = this.#topic
    const first = bytes[start] ?? 0
    if (topic === undefined || !isPublish(first) || publishFlagsProblem(first) !== undefined) return undefined
    const qos = qosOf(first)
    let place = start + 1
    let length = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[place++]
      if (byte === undefined) return undefined
      length |= (byte & 0x7f) << shift
      if (byte < 0x80) break
      if (shift === lastShift) return undefined
    }
    const end = place + length
    const topicLength = this.#topicBytes.length
    const payloadStart = place + 2 + topicLength + (qos === 0 ? 0 : 2)
    if (length > this.#longest || end > bytes.length || payloadStart > end) return undefined
    if (bytes.readUInt16BE(place) !== topicLength || !this.#isTopicAt(bytes, place + 2)) return undefined
    const packet: PublishPacket = {
      cmd: 'publish',
      retain: (first & publishHeader.retained) !== 0,
      qos: qos as PublishPacket['qos'],
      dup: (first & publishHeader.duplicate) !== 0,
      length,
      topic,
      payload: bytes.subarray(payloadStart, end),
    }
    if (qos > 0) {
      const messageId = bytes.readUInt16BE(payloadStart - 2)
      if (messageId === 0) return undefined
      packet.messageId = messageId
    }
    this.end = end
    return packet
  }

  /** Byte by byte: of so few, a call of `compare` takes longer. */
  #isTopicAt(bytes: Buffer, start: number): boolean {
    const topic = this.#topicBytes
    for (let place = 0; place < topic.length; place++) {
      if (bytes[start + place] !== topic[place]) return false
    }
    return true
  }
}
