import { isUtf8 } from 'node:buffer'
import { MalformedPacket } from './packet.ts'

/** Reads the fields of a packet after its fixed header. Methods throw MalformedPacket if the packet ends within the field. */
export class Fields {
  readonly #bytes: Buffer
  #place = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#place === this.#bytes.length
  }

  byte(): number {
    return this.#bytes[this.#advance(1)] ?? 0
  }

  /** Two bytes, big-endian. */
  number(): number {
    return this.#bytes.readUInt16BE(this.#advance(2))
  }

  /** Four bytes, big-endian. */
  longNumber(): number {
    return this.#bytes.readUInt32BE(this.#advance(4))
  }

  /** A number in at most four groups of 7 bits, least significant first: a Variable Byte Integer (MQTT5-1.5.5). */
  length(): number {
    let value = 0
    for (let shift = 0; shift <= 21; shift += 7) {
      const byte = this.byte()
      value |= (byte & 0x7f) << shift
      if (byte === 0 && shift > 0)
        throw new MalformedPacket('a length has more bytes than necessary (MQTT5-1.5.5-1)')
      if (byte < 0x80) return value
    }
    throw new MalformedPacket('a length has more than four bytes (MQTT5-1.5.5)')
  }

  /** The next `count` bytes, to be read apart. */
  part(count: number): Fields {
    const start = this.#advance(count)
    return new Fields(this.#bytes.subarray(start, this.#place))
  }

  /** Length-prefixed bytes. */
  binary(): Buffer {
    const start = this.#advance(this.number())
    return this.#bytes.subarray(start, this.#place)
  }

  /** Text according to MQTT-1.5.3: UTF-8 without surrogates, overlong forms or NUL. */
  text(): string {
    const start = this.#advance(this.number())
    // Most texts are short and of ASCII: this loop is faster than the calls below.
    let place = start
    while (place < this.#place && isPlain(this.#bytes[place] ?? 0)) place++
    if (place === this.#place) return this.#bytes.toString('latin1', start, place)
    const bytes = this.#bytes.subarray(start, this.#place)
    if (!isUtf8(bytes)) throw new MalformedPacket('a string is not UTF-8 (MQTT-1.5.3-1)')
    if (bytes.includes(0)) throw new MalformedPacket('a string contains NUL (MQTT-1.5.3-2)')
    return bytes.toString()
  }

  /** A UTF-8 String Pair (MQTT5-1.5.7). */
  pair(): readonly [string, string] {
    return [this.text(), this.text()]
  }

  packetId(): number {
    const messageId = this.number()
    if (messageId === 0)
      throw new MalformedPacket('the packet identifier is 0 (MQTT-2.3.1-1)', 'protocol_error')
    return messageId
  }

  /** A topic or a filter. */
  topic(): string {
    const topic = this.text()
    if (topic === '') throw new MalformedPacket('a topic is empty (MQTT-4.7.3-1)')
    return topic
  }

  /** Number of the bytes that were read. */
  get place(): number {
    return this.#place
  }

  since(place: number): Buffer {
    return this.#bytes.subarray(place, this.#place)
  }

  /** The bytes that are left. */
  rest(): Buffer {
    return this.#bytes.subarray(this.#place)
  }

  /** @returns the index before the advance */
  #advance(count: number): number {
    const start = this.#place
    if (start + count > this.#bytes.length)
      throw new MalformedPacket('the packet ends in the middle of a field')
    this.#place += count
    return start
  }
}

const isPlain = (byte: number) => byte > 0 && byte < 0x80
