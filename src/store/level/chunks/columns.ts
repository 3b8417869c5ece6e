/** Columns follow one another. Naturals are varints (LEB128). Integers are zigzag-encoded first: 0, -1, 1, -2 become 0, 1, 2, 3. */

/** Length in bytes of the largest safe integer as a varint. */
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

  /** @param value a safe integer that is not negative */
  natural(value: number): void {
    this.#reserve(longestNatural)
    let left = value
    while (left >= 0x80) {
      this.#bytes[this.#length++] = (left % 0x80) | 0x80
      left = Math.floor(left / 0x80)
    }
    this.#bytes[this.#length++] = left
  }

  /** @param value from -2^52 to 2^52 */
  integer(value: number): void {
    this.natural(value < 0 ? -2 * value - 1 : 2 * value)
  }

  /** Writes the differences of consecutive values, but not the first value. */
  steps(values: ArrayLike<number>): void {
    for (let index = 1; index < values.length; index++) {
      this.integer((values[index] as number) - (values[index - 1] as number))
    }
  }

  /** Writes the first value and the differences of consecutive values. */
  integers(values: ArrayLike<number>): void {
    if (values.length > 0) this.integer(values[0] as number)
    this.steps(values)
  }

  doubles(values: Float64Array): void {
    this.#reserve(values.length * longestDouble)
    for (const value of values) this.#length = this.#bytes.writeDoubleLE(value, this.#length)
  }

  /** Writes the last column, as UTF-8. */
  text(text: string): void {
    this.#reserve(Buffer.byteLength(text))
    this.#length += this.#bytes.write(text, this.#length)
  }

  /** @param sumOf computes the checksum, which is appended as 4 bytes, little-endian @returns all bytes */
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

/** Reads columns that `ColumnWriter` has written. Every method throws a RangeError if the bytes end too early. */
export class ColumnReader {
  readonly #bytes: Buffer
  readonly #end: number
  #at: number

  /** @param start byte offset of the columns @param end byte offset of their end, exclusive */
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

  /** @param count number of values, including `first` @param first the first value, which `ColumnWriter.steps` does not write */
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

  /** Reads integers into `values`, from the index `start` to the end of `values`. */
  fill(values: Float64Array, start: number): void {
    const [bytes, end] = [this.#bytes, this.#end]
    let at = this.#at
    for (let index = start; index < values.length; index++) {
      const byte = bytes[at] as number
      if (byte < 0x80 && at < end) {
        // Most integers take one byte. A call for each of them would take longer than the rest of the loop.
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

  /** Skips `count` natural numbers or integers. */
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

  /** Reads the last column. */
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
