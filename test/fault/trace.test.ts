import { expect, test } from 'vitest'
import { readBatch, readLevelLog } from './level-log.ts'
import { parseTrace } from './trace.ts'
import { batchOf, callOf, fragment } from './trace-lines.ts'

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
