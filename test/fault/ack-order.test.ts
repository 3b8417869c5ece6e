import { generate, type Packet } from 'mqtt-packet'
import { expect, test } from 'vitest'
import { checkAckOrder } from './ack-order.ts'
import { type LoggedOperation, readBatch, readLevelLog } from './level-log.ts'
import { parseTrace } from './trace.ts'

const markers = /mark-\d/g
const path = '/data/1.log'

/** In the log before the trace. */
const old = batchOf([{ key: 'r0', value: 'mark-0' }])
const batch = batchOf([{ key: 'r1', value: 'mark-1' }])
const packetIdName = `omqtt-in-flight/${encodeURIComponent('thing.a:mqtt4-device-0-1')}/7`
const removal = batchOf([{ key: packetIdName, value: undefined }])
const log = { path, bytes: Buffer.concat([old, batch, removal]) }

const written = callOf('write', path, batch, 2)
const synced = callOf('fdatasync', path, undefined, 2)
const removed = callOf('write', path, removal, 2)

const request = callOf('read', 'socket:[5]', Buffer.from('POST / HTTP/1.1\r\n\r\nmark-1'))
const answered = callOf('writev', 'socket:[5]', Buffer.from('HTTP/1.1 201 Created'))

const connected = received({ cmd: 'connect', clientId: 'mqtt4-device-0-1', keepalive: 0, protocolId: 'MQTT' })
const published = { 1: publish(1, 6), 2: publish(2, 7) }
const acked = { 1: sent({ cmd: 'puback', messageId: 6 }), 2: sent({ cmd: 'pubrec', messageId: 7 }) }
const released = received({ cmd: 'pubrel', messageId: 7 })
const completed = sent({ cmd: 'pubcomp', messageId: 7 })

test.each([
  ['HTTP', [request], answered],
  ['QoS 1', [connected, published[1]], acked[1]],
  ['QoS 2', [connected, published[2]], acked[2]],
])('checkAckOrder() holds an ack over %s against the log and its fdatasync', (_, asked, ack) => {
  const failed = synced.replace('= 0', '= -1 EIO')
  const elsewhere = callOf('fdatasync', '/data/2.log', undefined, 2)
  expect(judge([...asked, written, synced, ack, removed])).toEqual('covered')
  expect(judge([...asked, written, ack, synced, removed])).toMatch('no fdatasync')
  expect(judge([...asked, written, ack, removed])).toMatch('no fdatasync')
  expect(judge([...asked, synced, written, ack, removed])).toMatch('no fdatasync')
  expect(judge([...asked, written, failed, ack, removed])).toMatch('no fdatasync')
  expect(judge([...asked, written, elsewhere, ack, removed])).toMatch('no fdatasync')
  expect(judge([...asked, ack, written, synced, removed])).toMatch('not in the log')
  expect(judge([...asked, written, ...overlapping(synced, ack), removed])).toMatch('no fdatasync')
  expect(judge([...asked, ...overlapping(written, synced), ack, removed])).toMatch('no fdatasync')
})

test('checkAckOrder() takes nothing for earlier than it was, though the log goes on behind the trace', () => {
  const packed = batchOf([{ key: 'r2', value: 'x'.repeat(1_000) }])
  const bytes = Buffer.concat([log.bytes, packed])
  const earlier = callOf('write', path, old, 2)
  const taken = [connected, published[2], written, synced, acked[2]]
  const calls = [earlier, ...taken, released, removed, synced, completed]
  expect(checkAckOrder(parseTrace(calls.join('\n')), { path, bytes }, markers)).toMatchObject({
    completed: ['mark-1'],
    violations: [],
  })
})

test('checkAckOrder() takes the first time that a write is in the log, which compaction writes again', () => {
  const packed = batchOf([{ key: 'r1', value: 'mark-1' }])
  const bytes = Buffer.concat([old, batch, removal, packed])
  const calls = [request, written, synced, answered, removed, callOf('write', path, packed, 2)]
  expect(checkAckOrder(parseTrace(calls.join('\n')), { path, bytes }, markers)).toMatchObject({
    covered: ['mark-1'],
    violations: [],
  })
})

test('checkAckOrder() takes a refusal for no ack', () => {
  const refused = callOf('writev', 'socket:[5]', Buffer.from('HTTP/1.1 503 Service Unavailable'))
  expect(check([request, written, synced, refused, removed])).toEqual({
    covered: [],
    completed: [],
    violations: [],
  })
})

test('checkAckOrder() holds a PUBCOMP against the removal of its packet id and its fdatasync', () => {
  const before = [connected, published[2], written, synced, acked[2], released]
  expect(check([...before, removed, synced, completed])).toMatchObject({
    completed: ['mark-1'],
    violations: [],
  })
  expect(check([...before, removed, completed, synced]).violations).toEqual([
    expect.stringContaining('PUBCOMP: no fdatasync'),
  ])
  expect(check([...before, completed, removed, synced]).violations).toEqual([
    expect.stringContaining('PUBCOMP: not in the log'),
  ])
})

test('checkAckOrder() finds acks that leave out of turn, or answer nothing', () => {
  const before = [connected, published[1], published[2], written, synced]
  expect(check([...before, acked[1], acked[2], removed]).violations).toEqual([])
  expect(check([...before, acked[2], acked[1], removed]).violations).toHaveLength(2)
  expect(check([connected, written, synced, acked[1], removed]).violations).toHaveLength(1)
  expect(check([connected, written, removed, synced, completed]).violations).toHaveLength(1)
})

test('parseTrace() refuses bytes that are cut off', () => {
  const call = callOf('read', 'socket:[5]', Buffer.from('POST'))
  expect(() => parseTrace(call.replace('",', '"...,'))).toThrow()
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

test('readBatch() gives keys, values and removals, however long they are', () => {
  const operations = [
    { key: 'a', value: 'v'.repeat(300) },
    { key: 'b'.repeat(200), value: undefined },
    { key: 'c', value: '' },
  ]
  const [record] = readLevelLog(batchOf(operations)).records
  expect(readBatch(record?.payload ?? Buffer.alloc(0))).toEqual(operations)
})

function check(lines: readonly string[]) {
  return checkAckOrder(parseTrace(lines.join('\n')), log, markers)
}

/** Of the one ack in the trace. */
function judge(lines: readonly string[]): string {
  const { covered, violations } = check(lines)
  return covered.length === 1 ? 'covered' : violations.join('; ')
}

function publish(qos: 1 | 2, messageId: number): string {
  return received({
    cmd: 'publish',
    topic: 't',
    payload: 'mark-1',
    qos,
    messageId,
    dup: false,
    retain: false,
  })
}

function received(packet: Packet): string {
  return callOf('read', 'socket:[6]', generate(packet))
}

function sent(packet: Packet): string {
  return callOf('write', 'socket:[6]', generate(packet))
}

/** A call that moved all of these bytes; without bytes, one that moves none and succeeded. */
function callOf(name: string, file: string, bytes?: Uint8Array, thread = 1): string {
  const start = `${thread} ${name}(9<${hex(Buffer.from(file))}>`
  return bytes ? `${start}, "${hex(bytes)}", ${bytes.length}) = ${bytes.length}` : `${start}) = 0`
}

/** Two calls of different threads, of which the second begins and ends while the first one runs. */
function overlapping(outer: string, inner: string): string[] {
  const [start, result] = outer.split(') = ')
  const [, name] = /(\w+)\(/.exec(outer) ?? []
  return [
    `${start} <unfinished ...>`,
    inner.replace(/^\d+/, '3'),
    `${outer[0]} <... ${name} resumed>) = ${result}`,
  ]
}

/** A record of the log that holds a batch; lengths below 16,384. */
function batchOf(operations: readonly LoggedOperation[]): Buffer {
  const parts = operations.flatMap(({ key, value }) => [
    Buffer.from([value === undefined ? 0 : 1]),
    withLength(key),
    ...(value === undefined ? [] : [withLength(value)]),
  ])
  return fragment(1, Buffer.concat([Buffer.alloc(12), ...parts]))
}

/** @param type 1 is a whole record, 2 to 4 the first, a middle and the last fragment of one */
function fragment(type: number, content: Buffer): Buffer {
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
