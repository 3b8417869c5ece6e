import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { storeLocation } from '../../src/server/keeping/choose-store.ts'

/** LevelDB's write-ahead log: blocks of 32 KiB, in them fragments with a header of 7 bytes, of which records are made. */
const blockLength = 32_768
const headerLength = 7
const kind = { full: 1, first: 2, middle: 3, last: 4 } as const

export interface LogRecord {
  readonly payload: Buffer
  /** Offset in the file behind its last byte. */
  readonly end: number
}

export interface LevelLog {
  readonly records: readonly LogRecord[]
  /** The last record is cut off: the process died while it was being written. */
  readonly isTorn: boolean
}

/** Cuts a log into its records; one record is one batch. */
export function readLevelLog(bytes: Buffer): LevelLog {
  const records: LogRecord[] = []
  let fragments: Buffer[] = []
  let offset = 0
  while (offset < bytes.length) {
    const leftInBlock = blockLength - (offset % blockLength)
    if (leftInBlock < headerLength) {
      offset += leftInBlock
      continue
    }
    if (offset + headerLength > bytes.length) return { records, isTorn: true }
    const end = offset + headerLength + bytes.readUInt16LE(offset + 4)
    const type = bytes[offset + 6]
    if (end > bytes.length) return { records, isTorn: true }
    fragments.push(bytes.subarray(offset + headerLength, end))
    if (type === kind.full || type === kind.last) {
      records.push({ payload: Buffer.concat(fragments), end })
      fragments = []
    }
    offset = end
  }
  return { records, isTorn: fragments.length > 0 }
}

/** The log of a data directory: the newest, should there be two for a moment. */
export async function levelLogFile(dataDir: string): Promise<string> {
  const directory = storeLocation(dataDir)
  const logs = (await readdir(directory)).filter(name => name.endsWith('.log')).sort()
  return join(directory, logs.at(-1) ?? 'no log')
}

/** One operation of a LevelDB batch; `value` is undefined for a removal. */
export interface LoggedOperation {
  readonly key: string
  readonly value: string | undefined
}

const batchHeaderLength = 12
const removal = 0

/** Cuts a record of the log into its operations: kind (1), key and, but for a removal, value, each after its length. */
export function readBatch(payload: Buffer): LoggedOperation[] {
  const operations: LoggedOperation[] = []
  let offset = batchHeaderLength
  const takeText = () => {
    let length = 0
    for (let shift = 0, isLast = false; !isLast; shift += 7) {
      const byte = payload[offset++] ?? 0
      length += (byte & 0x7f) << shift
      isLast = byte < 0x80
    }
    offset += length
    return payload.toString('latin1', offset - length, offset)
  }
  while (offset < payload.length) {
    const kind = payload[offset++]
    const key = takeText()
    operations.push({ key, value: kind === removal ? undefined : takeText() })
  }
  return operations
}
