import { expect, test } from 'vitest'
import { type Addressed, batchesOf } from '../../../src/cli/load/batches.ts'
import { readEnds } from '../records/read-file.ts'

test('a batch says how much of the file is read with it, not how much is read ahead', async () => {
  const row = '2026-11-20T09:30:00Z,"ä\r\n"\r\n'
  const csv = `time,name\r\n${row.repeat(1_200)}`
  const json = '{"key":"ä","value":1,"time":"2026-11-20T09:30:00Z"}\n'
  const bytesOf = (text: string) => Buffer.byteLength(text)
  const batches = async (lines: AsyncIterable<Addressed>) => {
    const ends: number[] = []
    for await (const { end } of batchesOf(lines)) ends.push(end)
    return ends
  }
  expect(await batches(readEnds('csv', csv))).toEqual(
    [500, 1_000, 1_200].map(rows => bytesOf('time,name\r\n') + rows * bytesOf(row)),
  )
  expect(await batches(readEnds('ndjson', json.repeat(501)))).toEqual(
    [500, 501].map(rows => rows * bytesOf(json)),
  )
})
