import { expect, test } from 'vitest'
import { checkAckOrder } from './ack-order.ts'
import { readLevelLog } from './level-log.ts'
import { parseTrace } from './trace.ts'

const markers = /mark-\d/g
const path = '/data/1.log'
/** A log with one batch before the trace, and one in it. */
const first = batch('mark-0')
const second = batch('mark-1')
const log = { path, bytes: Buffer.concat([first, second]) }

const request = `1 read(9<${hex('socket:[5]')}>, "${hex('POST / HTTP/1.1\r\n\r\nmark-1')}", 65536) = 24`
const written = `2 write(7<${hex(path)}>, "${hex(second)}", ${second.length}) = ${second.length}`
const synced = `2 fdatasync(7<${hex(path)}>) = 0`
const answered = `1 writev(9<${hex('socket:[5]')}>, [{iov_base="${hex('HTTP/1.1 201 Created')}", iov_len=20}], 1) = 20`

test.each([
  ['in order', [request, written, synced, answered], undefined],
  ['of an ack before fdatasync', [request, written, answered, synced], 'no fdatasync'],
  ['without fdatasync', [request, written, answered], 'no fdatasync'],
  ['of an fdatasync before the write', [request, synced, written, answered], 'no fdatasync'],
  ['of a failed fdatasync', [request, written, synced.replace('= 0', '= -1 EIO'), answered], 'no fdatasync'],
  ['of an ack before the write', [request, answered, written, synced], 'acked before'],
  [
    'of another file',
    [request, written, synced.replace(hex(path), hex('/data/2')), answered],
    'no fdatasync',
  ],
  ['of an ack while fdatasync runs', [request, written, ...overlapping(synced, answered)], 'no fdatasync'],
  ['of an fdatasync that began while written', [request, ...overlapping(written, synced), answered], 'no fd'],
])('checkAckOrder() judges a trace %s', (_, lines, violation) => {
  const { covered, violations } = checkAckOrder(parseTrace(lines.join('\n')), log, markers)
  expect(covered).toEqual(violation === undefined ? ['mark-1'] : [])
  expect(violations).toEqual(violation === undefined ? [] : [expect.stringContaining(violation)])
})

test('checkAckOrder() takes a refusal for no ack', () => {
  const refused = answered.replace(hex('201'), hex('503'))
  const calls = parseTrace([request, written, synced, refused].join('\n'))
  expect(checkAckOrder(calls, log, markers)).toEqual({ covered: [], violations: [] })
})

test('parseTrace() refuses bytes that are cut off', () => {
  expect(() => parseTrace(request.replace('", 65536', '"..., 65536'))).toThrow()
})

test('readLevelLog() puts fragments together over blocks and sees a torn end', () => {
  const header = 7
  const filling = fragment(1, Buffer.alloc(32_768 - header - header - 'first half, '.length))
  const halves = [fragment(2, Buffer.from('first half, ')), fragment(4, Buffer.from('second half'))]
  const bytes = Buffer.concat([filling, ...halves])
  const { records, isTorn } = readLevelLog(bytes)
  expect(records.at(-1)).toEqual({ payload: Buffer.from('first half, second half'), end: bytes.length })
  expect(isTorn).toBe(false)
  for (const cut of [1, 'second half'.length + 1, 'second half'.length + header]) {
    expect(readLevelLog(bytes.subarray(0, -cut)).isTorn).toBe(true)
  }
})

function hex(bytes: string | Buffer): string {
  return Buffer.from(bytes as string)
    .toString('hex')
    .replace(/../g, '\\x$&')
}

function batch(content: string): Buffer {
  return fragment(1, Buffer.from(content))
}

function fragment(type: number, content: Buffer): Buffer {
  const header = Buffer.alloc(7)
  header.writeUInt16LE(content.length, 4)
  header[6] = type
  return Buffer.concat([header, content])
}

/** The second call begins and ends while the first one runs. */
function overlapping(outer: string, inner: string): string[] {
  const [start, result] = outer.split(') = ')
  const name = /(\w+)\(/.exec(outer)?.[1]
  return [`${start} <unfinished ...>`, inner.replace(/^\d+/, '3'), `2 <... ${name} resumed>) = ${result}`]
}
