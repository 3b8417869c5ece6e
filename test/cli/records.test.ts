import { describe, expect, it } from 'vitest'
import { geoOf, notesOf, readingOf } from '../../src/cli/records/argument.ts'
import { type CsvOptions, csvRecords } from '../../src/cli/records/csv.ts'
import { ndjsonRecords } from '../../src/cli/records/ndjson.ts'
import { decoded } from '../../src/cli/records/text.ts'

/** In pieces of two bytes, so that every boundary is met. */
async function* piecesOf(text: string): AsyncGenerator<string> {
  async function* bytes() {
    const all = Buffer.from(text)
    for (let at = 0; at < all.length; at += 2) yield all.subarray(at, at + 2)
  }
  yield* decoded(bytes())
}

async function csv(text: string, options: Partial<CsvOptions> = {}) {
  const lines = []
  for await (const line of csvRecords(piecesOf(text), { key: undefined, date: undefined, ...options })) {
    lines.push(line)
  }
  return lines
}

describe('csvRecords()', () => {
  it('reads a record a row where there is a column value', async () => {
    const text =
      'datetime,key,value,lat,long\r\n20261121093000,name,"a ""b"",\nc",60.1,23.5\r\n,n,-1.5e3,,\r\n'
    expect(await csv(text)).toEqual([
      {
        line: 2,
        records: [
          {
            key: 'name',
            value: 'a "b",\nc',
            geo: { lat: '60.1', long: '23.5' },
            datetime: '20261121093000',
          },
        ],
      },
      { line: 4, records: [{ key: 'n', value: -1500 }] },
    ])
  })

  it('reads what read --csv has given, with the key', async () => {
    const text =
      'datetime,value,lat,long\r\n2026-11-21T09:30:00.000Z,"{""on"":true}",,\r\n,"",1,2\r\n,,1,2\r\n'
    const lines = await csv(text, { key: 'state' })
    expect(lines.map(({ records }) => records[0]?.value)).toEqual([{ on: true }, '', null])
  })

  it('reads a column for each key, and the position of a row once more', async () => {
    const text = 'datetime,lat,long,speed,name\n20261121093000,60.1,23.5,5.8,007\n20261121093001,,,,\n'
    const place = { geo: { lat: '60.1', long: '23.5' }, datetime: '20261121093000' }
    expect(await csv(text)).toEqual([
      {
        line: 2,
        records: [
          { key: '$geo', value: null, ...place },
          { key: 'speed', value: 5.8, ...place },
          { key: 'name', value: '007', ...place },
        ],
      },
      { line: 3, records: [] },
    ])
  })

  it('gives times of day their day, over midnight, and not back for a late row', async () => {
    const lines = await csv('time,n\n23:59:59,1\n000001,2\n235958,3\n', { date: '2026-02-28' })
    expect(lines.map(({ records }) => records[0]?.datetime)).toEqual([
      '2026-02-28T23:59:59.000Z',
      '2026-03-01T00:00:01.000Z',
      '2026-03-01T23:59:58.000Z',
    ])
  })

  it('names the line and field of what it cannot read', async () => {
    const lines = await csv('time,lat,long,n\n093000,1,2,3\n2026-01-01T00:00:00Z,1,,3\n1,2\n"a')
    expect(lines.map(({ line, fault }) => [line, fault?.field])).toEqual([
      [2, 'datetime'],
      [3, 'geo'],
      [4, ''],
      [5, ''],
    ])
  })

  it('asks whether a head of one column is separated otherwise', async () => {
    await expect(csv('datetime;value\n2026-01-01;1\n')).rejects.toThrow(/separated by ;\?/)
    await expect(csv('datetime\tvalue\n')).rejects.toThrow(/separated by tabs\?/)
  })

  it.each(['datetime,value\n', 'key,value,key\n', 'lat,n\n', 'datetime\n'])(
    'refuses the head %j',
    async head => {
      await expect(csv(head)).rejects.toMatchObject({ status: 2 })
    },
  )
})

describe('ndjsonRecords()', () => {
  it('reads a record a line and names lines that hold none', async () => {
    const lines = []
    for await (const line of ndjsonRecords(piecesOf('{"key":"ä","value":1}\r\n\n[1]\n{"key"')))
      lines.push(line)
    expect(lines[0]).toEqual({ line: 1, records: [{ key: 'ä', value: 1 }] })
    expect(lines.slice(1).map(({ line, fault }) => [line, fault !== undefined])).toEqual([
      [3, true],
      [4, true],
    ])
  })

  it('refuses what is not UTF-8', async () => {
    async function* latin() {
      yield Buffer.from([0x7b, 0xe4, 0x7d])
    }
    await expect(ndjsonRecords(decoded(latin())).next()).rejects.toMatchObject({ status: 1 })
  })
})

describe('readingOf()', () => {
  it.each([
    ['temperature=21.5', 'temperature', 21.5],
    ['state={"on":true}', 'state', { on: true }],
    ['name=boat', 'name', 'boat'],
    ['serial="007"', 'serial', '007'],
    ['serial=007', 'serial', '007'],
    ['query=a=b', 'query', 'a=b'],
    ['$settings.alarm=null', '$settings.alarm', null],
  ])('reads %s', (operand, key, value) => {
    expect(readingOf(operand)).toEqual({ key, value })
  })

  it.each(['temperature', '=1', 'state={on:true}'])('refuses %s', operand => {
    expect(() => readingOf(operand)).toThrow(expect.objectContaining({ status: 2 }))
  })

  it.each(['n=21,5', 'n=1,234.5', 'n=NaN', 'n=-Infinity', 'n=+3', 'n=.5', 'n=0x1F', 'n=007'])(
    'a note says that %s is stored as text',
    operand => {
      expect(notesOf(operand)).toEqual([expect.stringContaining('stored as text')])
    },
  )

  it.each([
    'n=21.5',
    'n= 21',
    'n=1e3',
    'n="007"',
    'n=2026-11-21',
    'n=1.2.3',
    'n=boat',
    'n=',
    'n={"a":"1,5"}',
  ])('there is no note on %s', operand => {
    expect(notesOf(operand)).toEqual([])
  })

  it('geoOf() reads latitude and longitude', () => {
    expect(geoOf('-60.08,23.54')).toEqual({ lat: -60.08, long: 23.54 })
    expect(() => geoOf('60.08')).toThrow(expect.objectContaining({ status: 2 }))
  })
})
