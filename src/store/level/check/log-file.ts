import { maskedCrc32c } from './crc32c.ts'

/** https://github.com/google/leveldb/blob/main/doc/log_format.md */
const blockLength = 32_768
const headerLength = 7

/**
 * What is wrong with a log, be it of writes or of the list of tables. One that ends within a record is whole: its process was
 * killed while it wrote, and had not acknowledged that record.
 */
export function faultsOfLog(bytes: Buffer): string[] {
  const faults: string[] = []
  let at = 0
  while (at + headerLength <= bytes.length) {
    const blockEnd = at - (at % blockLength) + blockLength
    if (blockEnd - at < headerLength) {
      at = blockEnd
      continue
    }
    const end = at + headerLength + bytes.readUInt16LE(at + 4)
    const isEmpty = bytes.readUInt32LE(at) === 0 && end === at + headerLength && bytes[at + 6] === 0
    if (isEmpty) {
      // Room that was set aside and not written.
      at = blockEnd
    } else if (end <= blockEnd && end > bytes.length) {
      return faults
    } else if (end > blockEnd || maskedCrc32c(bytes.subarray(at + 6, end)) !== bytes.readUInt32LE(at)) {
      faults.push(
        `its record at byte ${at} is damaged: it and the rest of its ${blockLength} bytes cannot be read`,
      )
      at = blockEnd
    } else {
      at = end
    }
  }
  return faults
}
