import type { LoggedOperation } from './level-log.ts'

/** Made-up lines of a trace, and a made-up log, for tests of what reads them. */

/** A call that moved all of these bytes; without bytes, one that moves none and succeeded. */
export function callOf(name: string, file: string, bytes?: Uint8Array, thread = 1): string {
  const start = `${thread} ${name}(9<${hex(Buffer.from(file))}>`
  return bytes ? `${start}, "${hex(bytes)}", ${bytes.length}) = ${bytes.length}` : `${start}) = 0`
}

/** Two calls of different threads, of which the second begins and ends while the first one runs. */
export function overlapping(outer: string, inner: string): string[] {
  const [start, result] = outer.split(') = ')
  const [, name] = /(\w+)\(/.exec(outer) ?? []
  return [
    `${start} <unfinished ...>`,
    inner.replace(/^\d+/, '3'),
    `${outer[0]} <... ${name} resumed>) = ${result}`,
  ]
}

/** A record of the log that holds a batch; lengths below 16,384. */
export function batchOf(operations: readonly LoggedOperation[]): Buffer {
  const parts = operations.flatMap(({ key, value }) => [
    Buffer.from([value === undefined ? 0 : 1]),
    withLength(key),
    ...(value === undefined ? [] : [withLength(value)]),
  ])
  return fragment(1, Buffer.concat([Buffer.alloc(12), ...parts]))
}

/** @param type 1 is a whole record, 2 to 4 the first, a middle and the last fragment of one */
export function fragment(type: number, content: Buffer): Buffer {
  const header = Buffer.alloc(7)
  header.writeUInt16LE(content.length, 4)
  header[6] = type
  return Buffer.concat([header, content])
}

function withLength(text: string): Buffer {
  const { length } = text
  const bytes = length < 0x80 ? [length] : [(length & 0x7f) | 0x80, length >> 7]
  return Buffer.concat([Buffer.from(bytes), Buffer.from(text)])
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex').replace(/../g, '\\x$&')
}
