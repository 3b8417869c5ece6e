import { describe, expect, it } from 'vitest'
import { jsonLines } from '../../../src/cli/records/ndjson.ts'
import { decoded } from '../../../src/cli/records/text.ts'
import { inPieces, readNdjson } from './read-file.ts'

const at = '2026-11-20T09:30:00.000Z'

describe('ndjsonRecords()', () => {
  it.each([
    `{"key":"T","value":21.5,"datetime":"20261120093000"}`,
    `{"key":"T","value":21.5,"time":"${at}"}`,
    `{"Timestamp":"2026-11-20 09:30:00 UTC","Key":"T","Value":21.5}`,
    `{"createdAt":"${at}","field":"T","value":21.5,"id":7}`,
    `{"_time":"${at}","_field":"T","_value":21.5,"table":0,"result":"_result"}`,
    `{"thingId":"abcdefgh234567ab","name":"boat","key":"T","value":21.5,"datetime":"${at}"}`,
    `{"key":"T","value":21.5,"date":"2026-11-20","time":"09:30"}`,
    `{"key":"T","value":21.5,"when":"${at}"}`,
    `{"key":"T","value":21.5,"日付":"2026-11-20","時刻":"09:30","n":20261119093000}`,
    `{"key":"T","value":21.5,"message":"2026-11-19","Timestamp":"${at}"}`,
    `{"entity_id":"T","state":21.5,"last_changed":"2026-11-20T11:30:00+02:00"}`,
    `{"metric":"T","value":21.5,"ts":"2026-11-20T09:30Z","geo":null}`,
  ])('finds time, key and value of %s', async line => {
    const { records, faults } = await readNdjson(line)
    expect({ records, faults }).toEqual({ records: [{ key: 'T', value: 21.5, datetime: at }], faults: [] })
  })

  it.each([
    [
      `{"key":"T","value":1,"datetime":"${at}","geo":{"lat":60.1,"long":"23.5"}}`,
      { lat: 60.1, long: '23.5' },
    ],
    [`{"key":"T","value":1,"datetime":"${at}","latitude":60.1,"lng":23.5}`, { lat: 60.1, long: 23.5 }],
    [`{"key":"T","value":1,"datetime":"${at}","Lat":"60.1","Lon":"23.5"}`, { lat: 60.1, long: 23.5 }],
  ])('finds the position of %s', async (line, geo) => {
    expect((await readNdjson(line)).records).toEqual([{ key: 'T', value: 1, datetime: at, geo }])
  })

  it.each([
    ['{"key":"T","value":1795167000,"ts":1795167000}', { timeUnit: 's' }],
    ['{"key":"T","value":1795167000,"ts":1795167000000}', { timeUnit: 'ms' }],
  ] as const)('asks for the unit of a Unix time: %s', async (line, options) => {
    expect((await readNdjson(line)).faults).toEqual([expect.stringMatching(/^1 datetime: .*--time-unit/)])
    const { records } = await readNdjson(line, options)
    expect(records).toEqual([{ key: 'T', value: 1795167000, datetime: at }])
  })

  it.each([
    '{"key":"T","value":1}',
    '{"key":"T","value":1,"datetime":null}',
    '{"key":"T","value":1,"datetime":""}',
    '{"key":"T","value":1,"when":"11/20/2026 09:30"}',
    '{"key":"T","value":1,"when":null}',
  ])('refuses %s without a time, and takes it with --now', async line => {
    expect((await readNdjson(line)).faults).toEqual([expect.stringMatching(/^1 .*(?:--now|--time-column)/)])
    expect((await readNdjson(line, { now: 'each' })).records).toEqual([{ key: 'T', value: 1 }])
  })

  it.each([
    [`{"Time":"${at}","temperature":21.5}`, /a line is one record, \{"key".*this one has Time, temperature/],
    ['{"temperature":21.5}', /a line is one record.*this one has temperature; write a line for each/],
    ['{}', /a line is one record.*no fields/],
    [
      `{"values":[{"key":"T","value":1}]}`,
      /a line is one record.*this one has values; write a line for each/,
    ],
    [`{"id":"x","values":[]}`, /this one has id, values; write a line for each/],
    ['[{"key":"T","value":1}]', /not a JSON object/],
    ['21.5', /not a JSON object/],
    ['null', /not a JSON object/],
    ['{"key":"T","value":', /not a JSON object/],
    ['time,T', /not a JSON object, .*"key".* \(for CSV: --format csv\)/],
    [`{"key":"T","value":1,"value":2,"datetime":"${at}"}`, /the member "value" appears twice in one object/],
    [`{"key":"T","value":1,"v\\u0061lue":1,"datetime":"${at}"}`, /the member "value" appears twice/],
    [`{"key":"T","value":[{"a":{"b":1,"c":[],"b":2}}],"datetime":"${at}"}`, /the member "b" appears twice/],
    [`{"key":"T","value":1,"datetime":"${at}","x":0,"x":0}`, /the member "x" appears twice/],
    [
      `{"key":"T","value":{"a":[1e400]},"datetime":"${at}"}`,
      /a number is too large.*number_out_of_range.*1e400/,
    ],
    [`{"key":"T","value":1,"geo":{"lat":1e400,"long":2},"datetime":"${at}"}`, /number_out_of_range/],
    [`{"key":"T","datetime":"${at}"}`, /a line is one record.*this one has key, datetime/],
    [`{"key":"T","value":1,"created_at":"${at}","updated_at":"${at}"}`, /could each be the time/],
    [`{"key":"T","value":1,"datetime":"${at}","lat":1}`, /none of the longitude/],
  ])('says what a line is: %s', async (line, message) => {
    const { records, faults } = await readNdjson(`\n${line}\r\n`)
    expect(records).toEqual([])
    expect(faults).toEqual([expect.stringMatching(/^2 : /)])
    expect(faults[0]).toMatch(message)
  })

  it('tells its fields once for each form, with those that are not used', async () => {
    const record = `{"key":"T","value":1,"datetime":"${at}","device":"a","rssi":-60}\n`
    const { columns } = await readNdjson(record + record + record.replace('device', 'board'))
    expect(columns.map(({ leftOut }) => leftOut.map(({ name }) => name))).toEqual([
      ['device', 'rssi'],
      ['board', 'rssi'],
    ])
  })

  it('notes strings that look like numbers', async () => {
    const values = ['21,5', '21.5', 21.5]
    const lines = values.map((value, row) =>
      JSON.stringify({ key: 'T', value, datetime: `2026-11-20T09:3${row}:00Z` }),
    )
    const { records, notes } = await readNdjson(lines.join('\n'))
    expect(records.map(({ value }) => value)).toEqual(values)
    expect(notes).toEqual([expect.stringMatching(/^T: 2 values stored as text, the first on line 1: 21,5;/)])
  })

  it.each([
    ['8949212345678901234', '8949212345678901234'],
    ['-9007199254740993', '-9007199254740993'],
    ['{"a":[9007199254740993,9007199254740991]}', { a: ['9007199254740993', 9007199254740991] }],
  ])('keeps all digits of %s as text, with a note', async (json, value) => {
    const { records, notes } = await readNdjson(`{"key":"T","value":${json},"datetime":"${at}"}`)
    expect(records).toEqual([{ key: 'T', value, datetime: at }])
    expect(notes).toEqual([
      expect.stringMatching(/^T: 1 value stored as text.*; a 64-bit float would change it$/),
    ])
  })

  it.each([
    '0.1',
    '21.50',
    '1e3',
    '12345678901234567000',
    '21.100000000000001421',
    '1.2345678901234567891',
    '-0',
  ])('reads the number %s as JSON does', async json => {
    const { records, notes } = await readNdjson(`{"key":"T","value":${json},"datetime":"${at}"}`)
    expect(records[0]?.value).toBe(JSON.parse(json))
    expect(notes).toEqual([])
  })

  it('reads a Unix time of nanoseconds beside a long number that is left out', async () => {
    const line = '{"time":1795167000000000123,"key":"T","value":1,"id":8949212345678901234}'
    const { records, notes } = await readNdjson(line, { timeUnit: 'ns' })
    expect({ records, notes }).toEqual({ records: [{ key: 'T', value: 1, datetime: at }], notes: [] })
  })

  it('reads times of day with --date', async () => {
    const record = (time: string) => `{"key":"T","value":1,"time":"${time}"}\n`
    const { records } = await readNdjson(record('23:59') + record('00:01'), { date: '2026-11-20' })
    expect(records.map(({ datetime }) => datetime)).toEqual([
      '2026-11-20T23:59:00.000Z',
      '2026-11-21T00:01:00.000Z',
    ])
  })
})

describe('a file that is one JSON array', () => {
  it.each([
    '[\n{"key":"T","value":1,"time":"2026-11-20T09:30:00Z"},\n{"key":"T","value":2,"time":"2026-11-20T09:31:00Z"}\n]\n',
    '[{"key":"T","value":1},\n{"key":"T","value":2}]\n',
    ' [{"key":"T","value":1}]',
  ])('is refused as a whole: %j', async text => {
    await expect(readNdjson(text)).rejects.toThrow(/the file is a JSON array: put each record on a line/)
  })
})

describe('jsonLines()', () => {
  it('counts lines from 1, empty ones too', async () => {
    const lines = []
    for await (const line of jsonLines(decoded(inPieces('{"ä":1}\r\n\n1\n{"key"')))) lines.push(line)
    expect(lines).toMatchObject([
      { line: 1, fields: { ä: 1 } },
      { line: 3, fault: {} },
      { line: 4, fault: {} },
    ])
  })
})
