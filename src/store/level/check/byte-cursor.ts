/** Reads what LevelDB writes, from the front. */
export class ByteCursor {
  readonly bytes: Buffer
  at: number

  constructor(bytes: Buffer, at = 0) {
    this.bytes = bytes
    this.at = at
  }

  /** A whole number in groups of seven bits, the lowest first. @throws RangeError */
  varint(): number {
    let value = 0
    for (let factor = 1; factor < 2 ** 49; factor *= 128) {
      const byte = this.bytes.readUInt8(this.at++)
      value += (byte % 128) * factor
      if (byte < 128) return value
    }
    throw new RangeError('a number is too large')
  }

  /** @throws RangeError if there are not so many */
  take(length: number): Buffer {
    const taken = this.bytes.subarray(this.at, this.at + length)
    if (taken.length < length) throw new RangeError('the end comes too early')
    this.at += length
    return taken
  }
}
