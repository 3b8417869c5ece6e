import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { readCsv } from './read-file.ts'

const at = '2026-11-20T09:30:00.000Z'
const later = '2026-11-20T09:31:00.000Z'

describe('csvRecords()', () => {
  it('reads a record a row where there is a column value', async () => {
    const text = `datetime,key,value,lat,long\r\n20261120093000,name,"a ""b"",\nc",60.1,23.5\r\n20261120093100,n,-1.5e3,,\r\n`
    expect((await readCsv(text)).lines).toEqual([
      {
        line: 2,
        records: [{ key: 'name', value: 'a "b",\nc', geo: { lat: 60.1, long: 23.5 }, datetime: at }],
      },
      { line: 4, records: [{ key: 'n', value: -1500, datetime: later }] },
    ])
  })

  it('reads what read --csv has given, with the key', async () => {
    const text = `datetime,value,lat,long\r\n${at},"{""on"":true}",,\r\n${at},"",1,2\r\n${at},,1,2\r\n${at},,,\r\n`
    const { records } = await readCsv(text, { key: 'state' })
    expect(records.map(({ value }) => value)).toEqual([{ on: true }, '', null])
  })

  it('reads a column for each key, and the position of a row once more', async () => {
    const text = `datetime,lat,long,speed,name\n${at},60.1,23.5,5.8,boat\n${later},,,,\n`
    const place = { geo: { lat: 60.1, long: 23.5 }, datetime: at }
    expect((await readCsv(text)).lines).toEqual([
      {
        line: 2,
        records: [
          { key: '$geo', value: null, ...place },
          { key: 'speed', value: 5.8, ...place },
          { key: 'name', value: 'boat', ...place },
        ],
      },
      { line: 3, records: [] },
    ])
  })

  const rows = [
    ['time', 'T', 'name'],
    [at, '21.5', 'a'],
    [later, '21.6', 'b'],
  ]
  const joined = (separator: string, end: string) => rows.map(row => row.join(separator) + end).join('')
  const read = [
    { key: 'T', value: 21.5, datetime: at },
    { key: 'name', value: 'a', datetime: at },
    { key: 'T', value: 21.6, datetime: later },
    { key: 'name', value: 'b', datetime: later },
  ]
  it.each([
    ['commas', joined(',', '\n')],
    ['semicolons', joined(';', '\n')],
    ['tabs', joined('\t', '\n')],
    ['bars', joined('|', '\n')],
    ['CRLF', joined(',', '\r\n')],
    ['CR alone', joined(',', '\r')],
    ['no line end at the end', joined(';', '\n').trimEnd()],
    ['empty lines', `\n${joined(',', '\n\n')}`],
    ['lines that end in both ways', joined(',', '\n').replace('\n', '\r\n')],
    ['a byte order mark', `\ufeff${joined(',', '\n')}`],
    ['UTF-16', Buffer.from(`\ufeff${joined('\t', '\r\n')}`, 'utf16le')],
    ['UTF-16 of the other order', Buffer.from(`\ufeff${joined('\t', '\r\n')}`, 'utf16le').swap16()],
    ['sep=;', `sep=;\r\n${joined(';', '\r\n')}`],
    ['sep=, quoted, with a mark', `\ufeff"sep=,"\n${joined(',', '\n')}`],
    ['a separator that only sep= says', `sep=|\n${joined('|', '\n')}`],
    ['quotes around all', joined(',', '\n').replaceAll(/[^,\n]+/g, '"$&"')],
    ['spaces around all', joined(',', '\n').replaceAll(/[^,\n]+/g, ' $& ')],
    ['a separator behind the last cell', joined(';', ';\n')],
    ['a separator behind the last cell of rows alone', joined(',', ',\n').replace('name,', 'name')],
    [
      'its header again',
      joined(',', '\n').replace(later, `time\n${later}`).replace('time\n', 'time,T,name\n'),
    ],
  ])('reads %s', async (_, content) => {
    const { records, faults } = await readCsv(content)
    expect({ records, faults }).toEqual({ records: read, faults: [] })
  })

  it.each([['time;Temp, outside\n2026-11-20T09:30:00Z;21,5\n'], ['"time","a;b"\n2026-11-20T09:30:00Z,1\n']])(
    'finds the separator of %j',
    async text => {
      await expect(readCsv(text)).rejects.toThrow(/a key is 1 to 128/)
    },
  )

  it('counts lines from 1, over cells of several lines and with a line sep=', async () => {
    const text = `sep=,\r\ntime,n\r\n${at},"a\r\nb"\r\n\r\n${at},2\r\n${at}\r\n${at},"c\nd\r\n"\r\n${at},"e"`
    const { lines } = await readCsv(text)
    expect(lines.map(({ line }) => line)).toEqual([3, 6, 7, 8, 11])
    expect(lines[2]?.fault?.message).toBe('the row has 1 cells, the header has 2')
  })

  it('names line and field of what it cannot read, and goes on', async () => {
    const text = `time,lat,long,n\nnoon,1,2,3\n${at},1,,3\n1,2\n${at},1,2,3,4\n${at},1,2,3\n`
    const { records, faults } = await readCsv(text)
    expect(faults).toEqual([
      '2 datetime: "noon" cannot be read as a time: write it as 2026-11-21T09:30:00Z (column time)',
      '3 geo: "" is not a latitude or longitude in degrees',
      '4 : the row has 2 cells, the header has 4',
      expect.stringMatching(/^5 : the row has 5 cells, the header has 4; is .* not quoted\?/),
    ])
    expect(records).toHaveLength(2)
  })

  it('ends at a quote that is never closed, and says where it is', async () => {
    const { faults } = await readCsv(`time,n\n${at},1\n${at},"2\n${at},3\n`)
    expect(faults).toEqual(['3 : a quote is opened but never closed'])
  })

  it('tells an empty text from an empty cell', async () => {
    const { records } = await readCsv(`time;a;b;c\n\n${at};"";;"x ""y"""\r\n${at};;"";\n${at}; "" ;"a\n";""`)
    expect(records.map(({ key, value }) => [key, value])).toEqual([
      ['a', ''],
      ['c', 'x "y"'],
      ['b', ''],
      ['a', ''],
      ['b', 'a\n'],
      ['c', ''],
    ])
  })

  it('takes a quote in the middle of a cell as it is', async () => {
    const { records } = await readCsv(`time,n\n${at},5" pipe\n`)
    expect(records[0]?.value).toBe('5" pipe')
  })

  it('refuses what is no UTF-8', async () => {
    await expect(readCsv(Buffer.from('time,n\n\xe4', 'latin1'))).rejects.toMatchObject({ status: 1 })
  })

  it('names gzip', async () => {
    const reading = readCsv(gzipSync(`time,n\n${at},1`))
    await expect(reading).rejects.toMatchObject({ status: 1, message: expect.stringContaining('gunzip') })
  })

  it('reads nothing out of nothing', async () => {
    for (const text of ['', '\n', '\ufeff']) expect((await readCsv(text)).lines).toEqual([])
  })
})

describe('a cell that was meant as a number', () => {
  const file = (...cells: string[]) =>
    ['time;T', ...cells.map((cell, row) => `${at.replace(':00.', `:0${row}.`)};${cell}`)].join('\n')

  it.each([
    '21,5',
    '1,234.5',
    '1.234,5',
    '1 234,5',
    "1'234.5",
    '+3',
    '.5',
    '5.',
    '007',
    '0x1F',
    'NaN',
    '-inf',
    '−3',
    "'-2.0",
    '21.5°C',
    '21.5 °C',
    '5 W',
    '<0.1',
    '(2.5)',
    '$5',
    'USD 5',
    '≈ 12.5 %',
    '3 mg/m3',
    '1.013,2 hPa',
    '±0.5',
    'T=21.5',
    '#12',
  ])('and is text is noted: %s', async cell => {
    const { records, notes } = await readCsv(file('21', cell, cell))
    expect(records[1]?.value).toBe(cell)
    expect(notes).toEqual([
      expect.stringContaining(`T: 2 values stored as text, the first on line 3: ${cell};`),
    ])
  })

  it.each(['n/a', '-', 'null', 'error', 'Falsch', 'A12', 'v1.2', '1.2.3', '10-20', '12:30', '1/2', 'NE-12'])(
    'and is %s is noted where there are numbers',
    async cell => {
      const { notes } = await readCsv(file('21', cell, '22'))
      expect(notes).toEqual([
        expect.stringContaining(`T: 1 value stored as text, the first on line 3: ${cell};`),
      ])
      expect((await readCsv(file(cell, cell))).notes).toEqual([])
    },
  )

  it.each(['89490200001234567891', '-9007199254740993', '12345678901234567890', '1E5', '3e2'])(
    'and whose digits a float would lose is text, and noted: %s',
    async cell => {
      const { records, notes } = await readCsv(file(cell))
      expect(records.map(({ value }) => value)).toEqual([cell])
      expect(notes).toEqual([
        expect.stringContaining(`T: 1 value stored as text, the first on line 2: ${cell};`),
      ])
    },
  )

  it.each([
    ['9007199254740991', 9007199254740991],
    ['12345678901234567000', 12345678901234567000],
    ['21.100000000000001421', 21.1],
    ['1e+21', 1e21],
    ['1000000000000000000000', 1e21],
    ['{"a":[9007199254740991,1.5,"x{\\"a\\":1"]}', { a: [9007199254740991, 1.5, 'x{"a":1'] }],
    ['[{"a":1},{"a":1}]', [{ a: 1 }, { a: 1 }]],
    ['1.5E3', 1500],
    ['2e-5', 2e-5],
    ['TRUE', true],
    ['False', false],
  ])('and is one is a value: %s', async (cell, value) => {
    const { records, notes } = await readCsv(file(cell))
    expect({ values: records.map(record => record.value), notes }).toEqual({ values: [value], notes: [] })
  })

  it.each([
    ['[8949212345678901234]', ['8949212345678901234'], '8949212345678901234'],
    ['{"a":{"b":-9007199254740993}}', { a: { b: '-9007199254740993' } }, '-9007199254740993'],
    ['{"a":"{\\"","b":9007199254740993}', { a: '{"', b: '9007199254740993' }, '9007199254740993'],
  ])(
    'and stands in JSON, where a float would lose digits, is text, and noted: %s',
    async (cell, value, text) => {
      const { records, notes } = await readCsv(file(cell))
      expect(records.map(record => record.value)).toEqual([value])
      expect(notes).toEqual([
        `T: 1 value stored as text, the first on line 2: ${text}; a 64-bit float would change it`,
      ])
    },
  )

  it.each([
    ['8949212345678901234', 'a 64-bit float would change it'],
    [
      '"""21.5"""',
      /a number is written without quotes, signs and units, as 21.5, or as 21,5 with --decimal ,$/,
    ],
    ['21.5 °C', /without quotes, signs and units, as 21.5/],
    ['NaN', 'where there is no number, leave the cell empty'],
  ])('has the advice that fits it: %s', async (cell, advice) => {
    const { notes } = await readCsv(file(cell))
    expect(notes).toEqual([expect.stringMatching(advice)])
  })

  it.each(['NaN', 'n/a', '91', '-90.5', '60°'])('and is a latitude is none: %s', async cell => {
    const { records, faults } = await readCsv(`time,lat,lon,T\n${at},${cell},23.5,1\n`)
    expect({ records, faults }).toEqual({
      records: [],
      faults: [
        `2 geo: ${JSON.stringify(Number.isFinite(Number(cell)) ? Number(cell) : cell)} is not a latitude or longitude in degrees`,
      ],
    })
  })

  it('is noted once for each key, in a column of values, too', async () => {
    const text = `time;key;value\n${at};a;1,5\n${at};b;x\n2026-11-20T09:31:00Z;a;2,5\n${at};c;3,5\n`
    expect((await readCsv(text)).notes).toEqual([
      expect.stringMatching(/^a: 2 values stored .* line 2: 1,5;.*--decimal ,/),
      expect.stringMatching(/^c: 1 value stored .* line 5: 3,5;/),
    ])
  })

  it.each([
    ['21,5', 21.5],
    ['-0,25', -0.25],
    ['1,5E-3', 0.0015],
    ['21', 21],
    ['"21,5"', 21.5],
    ['0', 0],
  ])('is one with --decimal ,: %s', async (cell, value) => {
    const { records, notes } = await readCsv(file(cell), { decimal: ',' })
    expect({ value: records[0]?.value, notes }).toEqual({ value, notes: [] })
  })

  it('with --decimal , may be quoted between commas', async () => {
    const { records } = await readCsv(`time,lat,lon,T\n${at},"60,25","23,5","21,5"\n`, { decimal: ',' })
    expect(records[1]).toEqual({ key: 'T', value: 21.5, geo: { lat: 60.25, long: 23.5 }, datetime: at })
  })

  it('is text with a note where it could mean two numbers', async () => {
    const { records, notes } = await readCsv(file('1.234'), { decimal: ',' })
    expect(records[0]?.value).toBe('1.234')
    expect(notes).toEqual([expect.stringContaining('as 21,5 with --decimal ,')])
  })
})

describe('a second value of a key at one time', () => {
  it.each([
    ['of two sensors', `time,sensor,T\n${at},cellar,12\n${at},attic,31\n`, {}],
    ['of two rows of a key', `time,host,key,value\n${at},a,T,12\n${at},b,T,31\n`, {}],
    ['of one key for all', `time,place,value\n${at},a,12\n${at},b,31\n`, { key: 'T' }],
    ['behind others', `time,T\n2026-11-20T09:00:00Z,1\n${at},12\n2026-11-20T10:00:00Z,1\n${at},31\n`, {}],
  ])('is noted: %s', async (_, text, options) => {
    const { notes } = await readCsv(text, options)
    expect(notes).toContainEqual(expect.stringMatching(/^T: line \d has a second value at 2026.*series/))
  })

  it.each(['12', '[1,2]'])('is none if the value is the same: %s', async cell => {
    expect((await readCsv(`time;T\n${at};${cell}\n${at};${cell}\n`)).notes).toEqual([])
  })
})
