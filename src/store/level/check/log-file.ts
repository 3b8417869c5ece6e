import { maskedCrc32c } from './crc32c.ts'

/** https://github.com/google/leveldb/blob/main/doc/log_format.md */
const blockLength = 32_768
const headerLength = 7
/** Kinds of a piece: a whole record, or the first, a middle or the last piece of one. */
const [whole, first, last] = [1, 2, 4]

type Piece = { readonly kind: number; readonly bytes: Buffer } | { readonly damagedAt: number }

/**
 * What is wrong with a log, be it of writes or of the list of tables. One that ends within a record is whole: its process was
 * killed while it wrote, and had not acknowledged that record.
 */
export function faultsOfLog(bytes: Buffer): string[] {
  const faults: string[] = []
  for (const piece of piecesOf(bytes)) {
    if (!('damagedAt' in piece)) continue
    const { damagedAt } = piece
    faults.push(
      `its record at byte ${damagedAt} is damaged: it and the rest of its ${blockLength} bytes cannot be read`,
    )
  }
  return faults
}

/** The whole records of a log. @throws RangeError if one is damaged */
export function recordsOfLog(bytes: Buffer): Buffer[] {
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
      // Room that was set aside and not written.
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
