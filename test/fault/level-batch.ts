/** One operation of a LevelDB batch; `value` is undefined for a removal. */
export interface LoggedOperation {
  readonly key: string
  readonly value: string | undefined
}

const headerLength = 12
const removal = 0

/** Cuts a record of the log into its operations: kind (1), key and, but for a removal, value, each after its length. */
export function readBatch(payload: Buffer): LoggedOperation[] {
  const operations: LoggedOperation[] = []
  let offset = headerLength
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
