import { ByteCursor } from './byte-cursor.ts'
import { maskedCrc32c } from './crc32c.ts'

/** https://github.com/google/leveldb/blob/main/doc/table_format.md */
const footerLength = 48
const magic = Buffer.from('57fb808b247547db', 'hex')
/** Behind a block: how it is packed, and a checksum. */
const trailerLength = 5
const packedWithSnappy = 1

interface Block {
  readonly offset: number
  readonly length: number
}

/** What is wrong with a table: LevelDB's file of sorted entries, in blocks that have checksums. */
export function faultsOfTable(bytes: Buffer): string[] {
  if (bytes.length < footerLength || !bytes.subarray(-magic.length).equals(magic)) {
    return ['it has no valid end: it is cut off or damaged']
  }
  const footer = new ByteCursor(bytes, bytes.length - footerLength)
  try {
    const blocks = [readHandle(footer), readHandle(footer)]
    const [meta, index] = blocks
    const faults = blocks.flatMap(block => faultsOfBlock(bytes, block))
    if (faults.length > 0 || !meta || !index) return faults
    // Beside those of entries the filter that says in which of them a key may be: a damaged one hides what is there.
    const listed = [meta, index].flatMap(list => blocksOf(unpack(bytes, list)))
    return listed.flatMap(block => faultsOfBlock(bytes, block))
  } catch (error) {
    if (error instanceof RangeError) return ['its index is damaged']
    throw error
  }
}

function faultsOfBlock(bytes: Buffer, { offset, length }: Block): string[] {
  const end = offset + length + trailerLength
  if (end > bytes.length) return [`it ends within its block at byte ${offset}`]
  const isWhole = maskedCrc32c(bytes.subarray(offset, end - 4)) === bytes.readUInt32LE(end - 4)
  return isWhole ? [] : [`its block at byte ${offset} is damaged: the checksum differs`]
}

function unpack(bytes: Buffer, { offset, length }: Block): Buffer {
  const content = bytes.subarray(offset, offset + length)
  return bytes[offset + length] === packedWithSnappy ? unpackSnappy(content) : content
}

/** The blocks that a block lists: entries of a key, of which the start is left out that it shares, and a block. */
function blocksOf(list: Buffer): Block[] {
  const restarts = list.readUInt32LE(list.length - 4)
  const end = list.length - 4 - 4 * restarts
  const cursor = new ByteCursor(list)
  const blocks: Block[] = []
  while (cursor.at < end) {
    cursor.varint()
    const ownKeyLength = cursor.varint()
    const valueLength = cursor.varint()
    cursor.take(ownKeyLength)
    blocks.push(readHandle(new ByteCursor(cursor.take(valueLength))))
  }
  return blocks
}

function readHandle(cursor: ByteCursor): Block {
  return { offset: cursor.varint(), length: cursor.varint() }
}

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
