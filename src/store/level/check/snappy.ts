import { ByteCursor } from './byte-cursor.ts'

/** https://github.com/google/snappy/blob/main/format_description.txt */
const kind = { literal: 0, nearCopy: 1, copy: 2 } as const
/** Lengths of literals from here on say in how many bytes the length follows. */
const longLiteral = 60

/** Unpacks a block of Snappy's format. @throws RangeError if it is none */
export function unpackSnappy(packed: Buffer): Buffer {
  const cursor = new ByteCursor(packed)
  const unpacked = Buffer.alloc(cursor.varint())
  let at = 0
  while (cursor.at < packed.length) {
    const tag = cursor.take(1).readUInt8()
    if (tag % 4 === kind.literal) {
      const literal = cursor.take(literalLength(tag >> 2, cursor))
      if (at + literal.length > unpacked.length) throw new RangeError('more was packed than was said')
      at += literal.copy(unpacked, at)
      continue
    }
    const { length, offset } = copyOf(tag, cursor)
    if (offset === 0 || offset > at || at + length > unpacked.length)
      throw new RangeError('a copy of nothing')
    // Byte by byte: a copy may overlap what it makes.
    for (let end = at + length; at < end; at++) unpacked[at] = unpacked[at - offset] ?? 0
  }
  if (at !== unpacked.length) throw new RangeError('less was packed than was said')
  return unpacked
}

function literalLength(length: number, cursor: ByteCursor): number {
  if (length < longLiteral) return length + 1
  const bytes = length - longLiteral + 1
  return cursor.take(bytes).readUIntLE(0, bytes) + 1
}

function copyOf(tag: number, cursor: ByteCursor): { length: number; offset: number } {
  if (tag % 4 === kind.nearCopy) {
    return { length: ((tag >> 2) % 8) + 4, offset: (tag >> 5) * 256 + cursor.take(1).readUInt8() }
  }
  const bytes = tag % 4 === kind.copy ? 2 : 4
  return { length: (tag >> 2) + 1, offset: cursor.take(bytes).readUIntLE(0, bytes) }
}
