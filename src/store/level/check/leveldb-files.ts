import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The polynomial of CRC-32C (Castagnoli), with its bits reversed. */
const polynomial = 0x82f63b78
const maskDelta = 0xa282ead8

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte
  for (let bit = 0; bit < 8; bit++) remainder = (remainder >>> 1) ^ (remainder & 1 ? polynomial : 0)
  return remainder >>> 0
})

/** LevelDB's checksum: a CRC-32C, masked because it is stored next to its data. */
function maskedCrc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] ?? 0)
  crc = ~crc
  return (((crc >>> 15) | (crc << 17)) + maskDelta) >>> 0
}

class ByteCursor {
  readonly bytes: Buffer
  at: number

  constructor(bytes: Buffer, at = 0) {
    this.bytes = bytes
    this.at = at
  }

  /** Reads a varint (LEB128). @throws RangeError if it is cut off or too large */
  varint(): number {
    let value = 0
    for (let factor = 1; factor < 2 ** 49; factor *= 128) {
      const byte = this.bytes.readUInt8(this.at++)
      value += (byte % 128) * factor
      if (byte < 128) return value
    }
    throw new RangeError('a number is too large')
  }

  /** @throws RangeError if fewer bytes are left */
  take(length: number): Buffer {
    const taken = this.bytes.subarray(this.at, this.at + length)
    if (taken.length < length) throw new RangeError('the end comes too early')
    this.at += length
    return taken
  }
}

/** https://github.com/google/leveldb/blob/main/doc/log_format.md */
const blockLength = 32_768
const headerLength = 7
/** Kinds of pieces: a whole record, or the first or the last piece of a record (3: a piece in between). */
const [whole, first, last] = [1, 2, 4]

type Piece = { readonly kind: number; readonly bytes: Buffer } | { readonly damagedAt: number }

/** The faults of a log. An incomplete record at the end is no fault: the process was killed before acknowledging it. */
export function faultsOfLog(bytes: Buffer): string[] {
  const faults: string[] = []
  for (const piece of piecesOf(bytes)) {
    if (!('damagedAt' in piece)) continue
    const { damagedAt } = piece
    faults.push(
      `the record at byte ${damagedAt} is damaged: that record and the rest of its ${blockLength}-byte block cannot be read`,
    )
  }
  return faults
}

/** The complete records of a log. @throws RangeError if a record is damaged */
function recordsOfLog(bytes: Buffer): Buffer[] {
  const records: Buffer[] = []
  let pieces: Buffer[] = []
  for (const piece of piecesOf(bytes)) {
    if ('damagedAt' in piece) throw new RangeError('a record is damaged')
    if (piece.kind === whole || piece.kind === first) pieces = []
    pieces.push(piece.bytes)
    if (piece.kind === whole || piece.kind === last) records.push(Buffer.concat(pieces))
  }
  return records
}

function* piecesOf(bytes: Buffer): Generator<Piece> {
  let at = 0
  while (at + headerLength <= bytes.length) {
    const blockEnd = at - (at % blockLength) + blockLength
    if (blockEnd - at < headerLength) {
      at = blockEnd
      continue
    }
    const end = at + headerLength + bytes.readUInt16LE(at + 4)
    const kind = bytes[at + 6] ?? 0
    const isEmpty = bytes.readUInt32LE(at) === 0 && end === at + headerLength && kind === 0
    if (isEmpty) {
      // Preallocated space without a record.
      at = blockEnd
    } else if (end <= blockEnd && end > bytes.length) {
      return
    } else if (end > blockEnd || maskedCrc32c(bytes.subarray(at + 6, end)) !== bytes.readUInt32LE(at)) {
      yield { damagedAt: at }
      at = blockEnd
    } else {
      yield { kind, bytes: bytes.subarray(at + headerLength, end) }
      at = end
    }
  }
}

/** https://github.com/google/leveldb/blob/main/doc/table_format.md */
const footerLength = 48
const magic = Buffer.from('57fb808b247547db', 'hex')
/** Length in bytes of the compression type and the checksum that follow a block. */
const trailerLength = 5
const packedWithSnappy = 1

interface Block {
  readonly offset: number
  readonly length: number
}

/** The faults of a table: LevelDB's file of sorted entries, in blocks with checksums. */
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
    // Includes the blocks of the filter, which LevelDB uses to find the blocks of a key: a damaged filter hides entries.
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

/** The blocks listed in an index block. An entry holds the rest of a key after its shared prefix, and the place of a block. */
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
/** If the upper six bits of a literal's tag have this value or more, the length of the literal follows in one to four bytes. */
const longLiteral = 60

/** Unpacks a block in Snappy's format. @throws RangeError if the block is damaged */
function unpackSnappy(packed: Buffer): Buffer {
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
    // Byte by byte, since a copy may overlap its own output.
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

/** Tags of https://github.com/google/leveldb/blob/main/db/version_edit.cc. */
const tag = {
  comparator: 1,
  logNumber: 2,
  nextFileNumber: 3,
  lastSequence: 4,
  compactPointer: 5,
  deletedFile: 6,
  newFile: 7,
  previousLogNumber: 9,
} as const

/**
 * Splits the file names in a directory into files of the database and remnants, by means of the MANIFEST. A table that is not
 * listed there is not needed: it was being written or removed when a process was killed, and its entries are in a log or in other
 * tables. If the list cannot be read, all files count as files of the database.
 */
export async function filesOfStore(
  location: string,
): Promise<{ readonly files: readonly string[]; readonly remnants: readonly string[] }> {
  const files = (await readdir(location)).filter(name => formOfFile.test(name)).sort()
  const list = await readList(location)
  if (!list) return { files, remnants: [] }
  const belongs = (name: string) => {
    const number = Number.parseInt(name, 10)
    if (name.endsWith('.log')) return number >= list.logNumber || number === list.previousLogNumber
    if (name.startsWith('MANIFEST')) return name === list.name
    return name === 'CURRENT' || list.tables.has(number)
  }
  return { files: files.filter(belongs), remnants: files.filter(name => !belongs(name)) }
}

/** Names of the files that hold the database, without `LOCK`, `LOG` and `LOG.old`. LevelDB renames `.dbtmp` to `CURRENT`. */
const formOfFile = /^(\d+\.(ldb|sst|log|dbtmp)|MANIFEST-\d+|CURRENT)$/

/** Reads the current MANIFEST. Its `logNumber` is the first log that LevelDB reads when it opens the database. */
async function readList(location: string) {
  try {
    const name = (await readFile(join(location, 'CURRENT'), 'latin1')).trimEnd()
    if (!/^MANIFEST-\d+$/.test(name)) return undefined
    const tables = new Set<number>()
    const logs = { logNumber: 0, previousLogNumber: 0 }
    for (const edit of recordsOfLog(await readFile(join(location, name)))) apply(edit, tables, logs)
    return { name, tables, ...logs }
  } catch (error) {
    // `faultsOfLog` reports a damaged list.
    if (error instanceof RangeError || (error as NodeJS.ErrnoException).code !== undefined) return undefined
    throw error
  }
}

/** Applies an edit of the list. @throws RangeError if the edit is cut off or unknown */
function apply(
  edit: Buffer,
  tables: Set<number>,
  logs: { logNumber: number; previousLogNumber: number },
): void {
  const cursor = new ByteCursor(edit)
  while (cursor.at < edit.length) {
    switch (cursor.varint()) {
      case tag.comparator:
        cursor.take(cursor.varint())
        break
      case tag.logNumber:
        logs.logNumber = cursor.varint()
        break
      case tag.previousLogNumber:
        logs.previousLogNumber = cursor.varint()
        break
      case tag.nextFileNumber:
      case tag.lastSequence:
        cursor.varint()
        break
      case tag.compactPointer:
        cursor.varint()
        cursor.take(cursor.varint())
        break
      case tag.deletedFile:
        cursor.varint()
        tables.delete(cursor.varint())
        break
      case tag.newFile: {
        cursor.varint()
        tables.add(cursor.varint())
        cursor.varint()
        // The first and the last key of the file.
        cursor.take(cursor.varint())
        cursor.take(cursor.varint())
        break
      }
      default:
        throw new RangeError('an unknown tag')
    }
  }
}
