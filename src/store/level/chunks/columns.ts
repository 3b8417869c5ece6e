/**
 * Columns of numbers and text, one behind another. A natural number takes a byte for each seven bits, lowest first, of which
 * the highest bit says that another follows; an integer is twice as large, or one less than that below zero.
 */

/** Longest that a safe integer is. */
const longestNatural = 8
const longestDouble = 8
const firstSize = 4_096

export class ColumnWriter {
  #bytes = Buffer.allocUnsafe(firstSize)
  #length = 0

  bytes(...values: readonly number[]): void {
    this.#reserve(values.length)
    for (const value of values) this.#bytes[this.#length++] = value
  }

  /** @param value a safe integer from 0 on */
  natural(value: number): void {
    this.#reserve(longestNatural)
    let left = value
    while (left >= 0x80) {
      this.#bytes[this.#length++] = (left % 0x80) | 0x80
      left = Math.floor(left / 0x80)
    }
    this.#bytes[this.#length++] = left
  }

  /** @param value up to 2^52 on either side of 0 */
  integer(value: number): void {
    this.natural(value < 0 ? -2 * value - 1 : 2 * value)
  }

  /** How far each is from the one before, without the first. */
  steps(values: ArrayLike<number>): void {
    for (let index = 1; index < values.length; index++) {
      this.integer((values[index] as number) - (values[index - 1] as number))
    }
  }

  /** The first, and how far each of the others is from the one before. */
  integers(values: ArrayLike<number>): void {
    if (values.length > 0) this.integer(values[0] as number)
    this.steps(values)
  }

  doubles(values: Float64Array): void {
    this.#reserve(values.length * longestDouble)
    for (const value of values) this.#length = this.#bytes.writeDoubleLE(value, this.#length)
  }

  /** To the end of the columns, as UTF-8. */
  text(text: string): void {
    this.#reserve(Buffer.byteLength(text))
    this.#length += this.#bytes.write(text, this.#length)
  }

  /** What was written, and 4 bytes with a checksum of it. @param sumOf makes one */
  end(sumOf: (bytes: Buffer) => number): Buffer {
    this.#reserve(4)
    const sum = sumOf(this.#bytes.subarray(0, this.#length))
    this.#length = this.#bytes.writeUInt32LE(sum, this.#length)
    return this.#bytes.subarray(0, this.#length)
  }

  #reserve(length: number): void {
    const needed = this.#length + length
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

/** Reads what `ColumnWriter` has written. Every method throws a RangeError where the bytes end before. */
export class ColumnReader {
  readonly #bytes: Buffer
  readonly #end: number
  #at: number

  /** @param end of the columns, exclusive */
  constructor(bytes: Buffer, start: number, end: number) {
    this.#bytes = bytes
    this.#at = start
    this.#end = end
  }

  byte(): number {
    this.#assertLeft(1)
    return this.#bytes[this.#at++] as number
  }

  natural(): number {
    let byte = this.byte()
    if (byte < 0x80) return byte
    let value = byte & 0x7f
    for (let scale = 0x80; byte >= 0x80; scale *= 0x80) {
      byte = this.byte()
      value += (byte & 0x7f) * scale
    }
    if (!Number.isSafeInteger(value)) throw new RangeError('a number is too large')
    return value
  }

  integer(): number {
    const value = this.natural()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  /** @param first of the column, which was not written with it */
  steps(count: number, first: number): Float64Array {
    const values = new Float64Array(count)
    values[0] = first
    this.fill(values, 1)
    for (let index = 1; index < count; index++) (values[index] as number) += values[index - 1] as number
    return values
  }

  integers(count: number): Float64Array {
    return count === 0 ? new Float64Array() : this.steps(count, this.integer())
  }

  /** Reads integers into an array, from an index of it to its end. */
  fill(values: Float64Array, start: number): void {
    const [bytes, end] = [this.#bytes, this.#end]
    let at = this.#at
    for (let index = start; index < values.length; index++) {
      const byte = bytes[at] as number
      if (byte < 0x80 && at < end) {
        // Most are short: a call for each would take longer than all else that is done to read them.
        at++
        values[index] = (byte & 1) === 0 ? byte >> 1 : -((byte + 1) >> 1)
      } else {
        this.#at = at
        values[index] = this.integer()
        at = this.#at
      }
    }
    this.#at = at
  }

  /** Passes over so many natural numbers or integers. */
  pass(count: number): void {
    let at = this.#at
    for (let left = count; left > 0; at++) {
      if (at >= this.#end) throw tooShort()
      if ((this.#bytes[at] as number) < 0x80) left--
    }
    this.#at = at
  }

  doubles(count: number): Float64Array {
    this.#assertLeft(count * longestDouble)
    const values = new Float64Array(count)
    for (let index = 0; index < count; index++, this.#at += longestDouble) {
      values[index] = this.#bytes.readDoubleLE(this.#at)
    }
    return values
  }

  /** To the end of the columns. */
  text(): string {
    const text = this.#bytes.toString('utf8', this.#at, this.#end)
    this.#at = this.#end
    return text
  }

  #assertLeft(length: number): void {
    if (this.#at + length > this.#end) throw tooShort()
  }
}

function tooShort(): RangeError {
  return new RangeError('the columns end too early')
}
