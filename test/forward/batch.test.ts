import { describe, expect, it } from 'vitest'
import { parseWrite } from '../../src/core/parse.ts'
import type { Commit } from '../../src/core/ports.ts'
import type { AcceptedRecord } from '../../src/core/record/record.ts'
import { Redactor } from '../../src/core/refusals/redactor.ts'
import { formBatch, type WaitingRecord } from '../../src/forward/feed.ts'
import { createMagicRegistry } from '../../src/magic/registry.ts'

const datetime = Date.UTC(2026, 10, 21, 9, 30)
const limits = { records: 1_000, bytes: 100_000 }

function waiting(writeNumber: number, records: readonly Partial<AcceptedRecord>[], broadcast = true) {
  const all = records.map((record, place) => ({
    key: 'n',
    value: '1',
    datetime,
    explicit: false,
    place,
    ...record,
  }))
  const commit: Commit = {
    thingId: 'a',
    writeNumber,
    receivedAt: datetime,
    records: all,
    latest: [],
    stored: true,
    broadcast,
  }
  return all.map((record, place): WaitingRecord => ({ commit, record, isLast: place === records.length - 1 }))
}

const parsed = (payload: Buffer) =>
  parseWrite(payload, { options: {}, now: datetime + 1_000, magic: createMagicRegistry() })

describe('formBatch()', () => {
  it('makes a write of which the records are those that were stored', () => {
    const records = [
      { key: 'a.b-c_d', value: '"ä\\u0000"' },
      { value: 'null', geo: { lat: 1.5, long: -2 } },
      { value: '{"a":[1,null]}', explicit: true, datetimeText: '20261121T093000' },
      { key: '$settings.name', value: '"x"' },
      { key: '$geo', value: '{"type":"Point","coordinates":[2,1]}', written: { value: '[2,1,7]' } },
    ]
    const write = parsed(formBatch(waiting(1, records), limits).payload)
    const kept = write.records.map(({ key, value, geo, datetime }) => ({ key, value, geo, datetime }))
    expect(kept).toEqual(
      records.map(({ key = 'n', value, geo }) => ({
        key,
        value: value === '"ä\\u0000"' ? kept[0]?.value : value,
        geo,
        datetime,
      })),
    )
    expect(JSON.parse(kept[0]?.value ?? '')).toBe('ä\u0000')
    expect(write.records.every(({ explicit }) => explicit)).toBe(true)
    expect(write.broadcast).toBe(true)
  })

  it('keeps to its limits, and takes one record in any case', () => {
    const records = [...waiting(1, Array(5).fill({ value: `"${'x'.repeat(100)}"` })), ...waiting(2, [{}])]
    expect(formBatch(records, { records: 4, bytes: 100_000 }).records.length).toBe(4)
    expect(formBatch(records, { records: 100, bytes: 560 }).records.length).toBe(3)
    expect(formBatch(records, { records: 100, bytes: 1 }).records.length).toBe(1)
    expect(formBatch(records, limits).records.length).toBe(6)
  })

  it('has records with and without live messages in writes of their own', () => {
    const records = [...waiting(1, [{}]), ...waiting(2, [{}, {}], false), ...waiting(3, [{}])]
    const first = formBatch(records, limits)
    const second = formBatch(records.slice(first.records.length), limits)
    expect([first, second].map(batch => batch.records.length)).toEqual([1, 2])
    expect([first, second].map(batch => parsed(batch.payload).broadcast)).toEqual([true, false])
  })

  it('gives the same write the same id, and any other one another, none of which looks like a credential', () => {
    const id = (records: readonly WaitingRecord[]) => formBatch(records, limits).id
    const one = id(waiting(1, [{}]))
    expect(id(waiting(1, [{}]))).toBe(one)
    const others = [
      id(waiting(1, [{}, {}])),
      id(waiting(2, [{}])),
      id(waiting(1, [{ value: '2' }])),
      id(waiting(1, [{ datetime: datetime + 1 }])),
    ]
    expect(new Set([one, ...others]).size).toBe(5)
    for (const each of [one, ...others]) expect(new Redactor().redact(each)).toBe(each)
  })
})
