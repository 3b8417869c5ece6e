import { describe, expect, it } from 'vitest'
import { fileOptions } from '../../../src/cli/writing/file-options.ts'
import { type ReadOptions, readCsv, readNdjson } from './read-file.ts'

const hourly = (name: string, clocks: readonly string[]) =>
  [`date,${name},temp`, ...clocks.map((clock, row) => `2026-06-30,${clock},${row}`)].join('\n')

/** With the option `--tz`. */
async function inZone(tz: string) {
  const { zone } = await fileOptions({ tz, store: true, broadcast: true })
  return { zone }
}

describe('a file whose time of day is in a column that is none by its name and cells', () => {
  it.each([
    ['hours', hourly('hour', ['0', '1'])],
    ['hours and minutes', hourly('hhmm', ['0000', '0100'])],
    ['hours that end', hourly('HE', ['1', '2'])],
    ['half hours', hourly('period', ['1', '2'])],
    ['settlement periods', 'Date,settlement_period,n\n30.06.2026,47,1\n30.06.2026,48,2\n'],
    ['equal values', 'date,hour,temp\n2026-06-30,0,12\n2026-06-30,1,12\n'],
    ['minutes of the day', hourly('minute', ['0', '15', '30'])],
    ['clocks with words', hourly('at_clock', ['00:00 h', '01:00 h'])],
    ['days spelled as midnights', 'date,hour,temp\n2026-06-30 00:00,0,1\n2026-06-30 00:00,1,2\n'],
    [
      'days spelled as midnights with a zone',
      'timestamp,hr,t\n2026-06-30T00:00:00+02:00,0,1\n2026-06-30T00:00:00+02:00,1,2\n',
    ],
    ['Unix days', 'time,hour,t\n1782777600,0,1\n1782777600,1,2\n', { timeUnit: 's' }],
    ['one key', hourly('hour', ['0', '1']).replace('temp', 'value'), { key: 't' }],
    ['a key in each row', 'date,hour,key,value\n2026-06-30,0,a,1\n2026-06-30,0,b,1\n2026-06-30,1,a,2\n'],
    ['positions alone', 'date,hour,lat,lon\n2026-06-30,0,60,23\n2026-06-30,1,60.1,23\n'],
    ['days in any order', 'date,hour,t\n2026-06-30,0,1\n2026-07-01,0,2\n2026-06-30,1,3\n'],
  ])('is refused: %s', async (_, text, options: ReadOptions = {}) => {
    await expect(readCsv(text, options)).rejects.toMatchObject({
      status: 1,
      message: expect.stringMatching(/^line \d: .* two rows of .*--time-column.*--time-unit/),
    })
  })

  it.each([
    ['minutes in a column of their own', 'date,hour,minute,t\n2026-06-30,0,0,1\n2026-06-30,0,15,2\n', '1h'],
    ['two places', 'date,hour,station,value\n2026-06-30,0,KDEN,1\n2026-06-30,0,KBOS,2\n', '1h', { key: 't' }],
    [
      'a minute that comes twice',
      'date,hour,t\n2026-06-30,930,1\n2026-07-01,930,1\n2026-06-30,930,2\n',
      'hhmm',
    ],
    ['seconds in a column of their own', 'date,hour,s,t\n2026-06-30,90,1,1\n2026-06-30,90,31,2\n', '1m'],
  ])('is refused with its unit, too: %s', async (_, text, timeUnit, options: ReadOptions = {}) => {
    await expect(readCsv(text, { ...options, timeColumn: 'hour', timeUnit })).rejects.toThrow(
      /^line \d: .* two rows of .*minutes.*split the file/,
    )
  })

  it.each(['8.30', '8,30', '08.5'])('is none that reads as hhmm: %s', async clock => {
    const text = `date;hour;t\n2026-06-30;${clock};1\n`
    const { faults } = await readCsv(text, { timeColumn: 'hour', timeUnit: 'hhmm' })
    expect(faults).toEqual([expect.stringMatching(/^2 datetime: .*is not a time of day/)])
  })

  it('is refused as lines of JSON, too', async () => {
    const line = (hour: number) => JSON.stringify({ date: '2026-06-30', hour, key: 'temp', value: 1 })
    await expect(readNdjson(`${line(0)}\n${line(1)}\n`)).rejects.toThrow(/^line 2: .*--time-column/)
  })

  it.each([
    ['hour', '1h', ['0', '1', '23'], ['00:00', '01:00', '23:00']],
    ['HE', '1h', ['1', '24'], ['01:00', '24:00']],
    ['period', '30m', ['1', '48'], ['00:30', '24:00']],
    ['hhmm', 'hhmm', ['0', '0100', '930', '2359', '2400'], ['00:00', '01:00', '09:30', '23:59', '24:00']],
    ['minute', '1m', ['0', '15', '1439'], ['00:00', '00:15', '23:59']],
    ['second', '1s', ['0', '1.5'], ['00:00', '00:00:01.500']],
    ['quarter', '15m', ['0', '95'], ['00:00', '23:45']],
  ])(
    'is read when --time-column names %s and --time-unit is %s',
    async (timeColumn, timeUnit, clocks, times) => {
      const { records, faults } = await readCsv(hourly(timeColumn, clocks), { timeColumn, timeUnit })
      expect(faults).toEqual([])
      const midnight = Date.UTC(2026, 5, 30)
      const wanted = times.map(time =>
        time === '24:00' ? new Date(midnight + 86_400_000) : new Date(`2026-06-30T${time}Z`),
      )
      expect(records.map(({ datetime }) => datetime)).toEqual(wanted.map(date => date.toISOString()))
    },
  )

  it.each([
    ['1h', '25'],
    ['hhmm', '2401'],
    ['hhmm', '0960'],
    ['30m', '-1'],
    ['1h', 'noon'],
  ])('is refused in a row that has no time of day in %s: %s', async (timeUnit, clock) => {
    const { records, faults } = await readCsv(hourly('clock', [clock]), { timeColumn: 'clock', timeUnit })
    expect(records).toEqual([])
    expect(faults).toEqual([
      expect.stringMatching(new RegExp(`"${clock}" is not a time of day in ${timeUnit} \\(column clock\\)$`)),
    ])
  })

  it('needs the column to be named, and a day', async () => {
    for (const now of [undefined, 'each'] as const) {
      const read = readCsv(hourly('hour', ['0']), { timeUnit: '1h', now })
      await expect(read).rejects.toThrow(/Name the one that has times with --time-column/)
    }
    const { faults } = await readCsv('hour,t\n3,1\n', { timeColumn: 'hour', timeUnit: '1h' })
    expect(faults).toEqual([expect.stringMatching(/--time-unit 1h needs a column date/)])
  })

  it.each([
    ['one row a day', 'date,temp\n2026-06-29,1\n2026-06-30,2\n'],
    ['a row a day of each key', 'date,key,value\n2026-06-30,a,1\n2026-06-30,b,2\n'],
    [
      'two measurements at a midnight among others',
      'time,n\n2026-06-29T23:59:00Z,1\n2026-06-30T00:00:00Z,2\n2026-06-30T00:00:00Z,3\n',
    ],
    ['an empty cell', 'date,a,b\n2026-06-30,1,\n2026-06-30,,2\n'],
  ])('is none: %s', async (_, text) => {
    const { records, faults } = await readCsv(text)
    expect(faults).toEqual([])
    expect(records.length).toBeGreaterThan(1)
  })

  it('is none where --time-column names the midnights', async () => {
    const text = 'time,n\n2026-06-30T00:00:00Z,1\n2026-06-30T00:00:00Z,2\n'
    expect((await readCsv(text, { timeColumn: 'time' })).records).toHaveLength(2)
  })
})

describe('times without a zone', () => {
  const at = '2026-07-01 09:30:00'

  it.each([
    ['a whole time', `time,t\n${at},1\n`],
    ['a whole time in the form of the contract', `time,t\n20260701093000,1\n`],
    ['a time with a T', `time,t\n2026-07-01T09:30:00.000,1\n`],
    ['a name with a zone', `timestamp(America/Denver),t\n${at},1\n`],
    ['a name that says UTC', `created_at (UTC),t\n${at},1\n`, 'UTC', '2026-07-01T09:30:00'],
    ['a column tz', `timestamp,tz,t\n${at},America/Denver,1\n`],
    ['a column of abbreviations', `timestamp,TimeZone,t\n${at},MDT,1\n`],
    [
      'a zone by its other name',
      `timestamp,site,t\n${at},Asia/Kolkata,1\n`,
      'Asia/Calcutta',
      '2026-07-01T04:00:00',
    ],
    [
      'a time of day',
      `date,time (Europe/Paris),t\n2026-07-01,09:30,1\n`,
      'Europe/Paris',
      '2026-07-01T07:30:00',
    ],
    ['a day', `date,t\n2026-07-01,1\n`, 'Europe/Paris', '2026-06-30T22:00:00'],
    ['hours', `date,hour,t\n2026-07-01,9.5,1\n`, 'Europe/Paris', '2026-07-01T07:30:00', '1h'],
    ['--date', `time,t\n09:30,1\n`, 'Europe/Paris', '2026-07-01T07:30:00', undefined, '2026-07-01'],
  ])(
    'are refused without --tz: %s',
    async (_, text, name = 'America/Denver', time = '2026-07-01T15:30:00', timeUnit?: string, date?: string) => {
      const options = { ...(timeUnit === undefined ? {} : { timeUnit, timeColumn: 'hour' }), date }
      await expect(readCsv(text, { ...options, zone: undefined })).rejects.toMatchObject({
        status: 1,
        message: expect.stringMatching(/^line 2: .* names no zone: .*--tz UTC/),
      })
      const { records } = await readCsv(text, { ...options, ...(await inZone(name)) })
      expect(records.find(({ key }) => key === 't')?.datetime).toBe(`${time}.000Z`)
    },
  )

  it('are refused in lines of JSON, too', async () => {
    const line = `{"key":"t","value":1,"datetime":"${at}"}\n`
    await expect(readNdjson(line, { zone: undefined })).rejects.toThrow(/^line 1: .* names no zone: .*--tz/)
    expect((await readNdjson(line)).records[0]?.datetime).toBe('2026-07-01T09:30:00.000Z')
  })

  it.each([
    ['another zone in a row', `time,tz,t\n${at},America/Denver,1\n${at},America/New_York,2\n`, 3],
    ['another zone in the name', `time (Europe/Paris),t\n${at},1\n`, 2],
  ])('are refused with --tz for %s', async (_, text, line) => {
    await expect(readCsv(text, await inZone('America/Denver'))).rejects.toMatchObject({
      message: expect.stringMatching(
        new RegExp(`^line ${line}: \\S+ is not the zone of --tz, America/Denver`),
      ),
    })
  })

  it.each([
    ['a Z', `time,t\n2026-07-01T09:30:00Z,1\n`],
    ['UTC', `time,t\n${at} UTC,1\n`],
    ['an offset', `timestamp,tz,t\n2026-07-01T09:30:00+02:00,Europe/Berlin,1\n`],
    ['an offset behind a time of day', `date,time,t\n2026-07-01,09:30+02:00,1\n`],
    ['a Unix time', `time,t\n1782777600,1\n`, 's'],
  ])('are none that have %s', async (_, text, timeUnit?: string) => {
    const options = { zone: undefined, ...(timeUnit === undefined ? {} : { timeUnit }) }
    expect((await readCsv(text, options)).records.length).toBeGreaterThan(0)
  })

  it.each([
    ['a path that is no zone', `time,place,t\n${at},Home/Kitchen,1\n`],
    ['a room that is called zone', `time,zone,t\n${at},2,1\n`],
  ])('are read with --tz beside %s', async (_, text) => {
    expect((await readCsv(text, await inZone('America/Denver'))).records.length).toBeGreaterThan(0)
  })

  it('are refused where their clocks skip or repeat an hour', async () => {
    const zone = await inZone('America/Denver')
    const text =
      'time,t\n2026-03-08 02:30,1\n2026-11-01 01:30,2\n2026-11-01 01:30:00-06:00,3\n2026-11-01 02:30,4\n'
    const { records, faults } = await readCsv(text, zone)
    expect(faults).toEqual([
      expect.stringMatching(/^2 datetime: .*was skipped in America\/Denver/),
      expect.stringMatching(/^3 datetime: .*came twice in America\/Denver/),
    ])
    expect(records.map(({ datetime }) => datetime)).toEqual([
      '2026-11-01T07:30:00.000Z',
      '2026-11-01T09:30:00.000Z',
    ])
  })

  it('are refused in a zone that is none', async () => {
    await expect(fileOptions({ tz: 'Mars/Base', store: true, broadcast: true })).rejects.toThrow(
      /--tz must be/,
    )
  })
})

describe('Unix times in a unit that is not theirs', () => {
  it.each([
    ['1782777600', 'ms', 's'],
    ['1782777600', 'us', 's'],
    ['1782777600000', 's', 'ms'],
    ['1782777600000', 'us', 'ms'],
    ['1782777600000000', 'ns', 'us'],
    ['1782777600000000', 'ms', 'us'],
    ['1782777600000000000', 's', 'ns'],
    ['1782777600.5', 'ms', 's'],
  ])('are refused with the one that they are in: %s in %s', async (time, timeUnit, likely) => {
    const { records, faults } = await readCsv(`time,n\n${time},1\n`, { timeUnit })
    expect(records).toEqual([])
    expect(faults).toEqual([
      expect.stringMatching(new RegExp(`^2 datetime: .*with --time-unit ${likely} it is 2026-06-30T00`)),
    ])
  })

  it.each([
    ['12.5', 's'],
    ['45837', 's'],
  ])('or in none are refused: %s in %s', async (time, timeUnit) => {
    const { faults } = await readCsv(`time,n\n${time},1\n`, { timeUnit })
    expect(faults).toEqual([expect.stringMatching(/is 1970-\d\d-\d\dT.*a time since a start\?/)])
  })
})

describe('a date in digits', () => {
  it.each([
    ['20260630', 's'],
    ['2026063012', 's'],
    ['202606301200', 'ms'],
    ['20260630120000', 'us'],
    ['20260630120000000', 'ns'],
  ])('is no Unix time: %s in %s', async (time, timeUnit) => {
    const { faults } = await readCsv(`time,n\n${time},1\n`, { timeUnit })
    expect(faults).toEqual([expect.stringMatching(/but a date: leave --time-unit out/)])
  })

  it.each(['2026063012', '202606301200', '20260630120000', '20260630120000000'])(
    'is a time without a zone: %s',
    async time => {
      const { records } = await readCsv(`time,n\n${time},1\n`, await inZone('Europe/Paris'))
      expect(records[0]?.datetime).toBe('2026-06-30T10:00:00.000Z')
    },
  )

  it.each(['1782820800', '1612011223', '1899123123'])('is none in a Unix time: %s', async time => {
    await expect(readCsv(`time,n\n${time},1\n`)).resolves.toMatchObject({
      faults: [
        expect.stringMatching(
          /the time "\d+" is a number: if it is a Unix time.*if a spreadsheet counts days, export dates/,
        ),
      ],
    })
  })
})

describe('--tz', () => {
  it.each([
    ['+02:00', '07:30'],
    ['+0200', '07:30'],
    ['UTC+2', '07:30'],
    ['GMT-03:30', '13:00'],
    ['-5', '14:30'],
    ['+14', '2026-06-30T19:30'],
  ])('may be an offset: %s', async (tz, time) => {
    const { records } = await readCsv('time,n\n2026-07-01 09:30,1\n', await inZone(tz))
    expect(records[0]?.datetime).toBe(`${time.length > 5 ? time : `2026-07-01T${time}`}:00.000Z`)
  })

  it.each(['Etc/GMT+2', 'etc/utc-1', '+15', '+2:75', 'UTC+'])('is refused: %s', async tz => {
    await expect(inZone(tz)).rejects.toThrow(/--tz .*\+02:00/)
  })
})

describe('--now', () => {
  const text = 'a,n\nx,1\ny,2\n'

  it('of a file with two rows of a key has a note', async () => {
    const note = expect.stringMatching(/^n: line \d has a second value at the time of receipt/)
    expect((await readCsv(text, { now: 'once' })).notes).toContainEqual(note)
    const lines = '{"key":"n","value":1}\n{"key":"n","value":2}\n'
    expect((await readNdjson(lines, { now: 'once' })).notes).toContainEqual(note)
  })

  it('is for lines that come one at a time, and for each key once', async () => {
    expect(await readCsv(text, { now: 'each' })).toMatchObject({ notes: [] })
    expect(
      (await readNdjson('{"key":"n","value":1}\n{"key":"m","value":1}\n', { now: 'once' })).notes,
    ).toEqual([])
  })
})

describe('a number too large for a 64-bit float', () => {
  const time = '2026-11-20T09:30:00Z'

  it.each([
    ['a cell', `time,n\n${time},1e+400\n`, 'value'],
    ['a negative one', `time,n\n${time},-1e+309\n`, 'value'],
    ['many digits', `time,n\n${time},${'9'.repeat(400)}\n`, 'value'],
    ['a cell beside a position', `time,lat,lon,n\n${time},60,23,1e+400\n`, 'value'],
    ['an object', `time,n\n${time},"{""x"":1e400}"\n`, 'value'],
    ['a list', `time,n\n${time},"[1,[1e400]]"\n`, 'value'],
    ['a row of a key', `time,key,value\n${time},n,1e+400\n`, 'value'],
  ])('is refused in CSV: %s', async (_, text, field) => {
    const { records, faults } = await readCsv(text)
    expect(records).toEqual([])
    expect(faults).toEqual([expect.stringMatching(new RegExp(`^2 ${field}: .*number_out_of_range`))])
  })

  it('is refused with a decimal comma', async () => {
    const { faults } = await readCsv(`time;n\n${time};1,5e400\n`, { decimal: ',' })
    expect(faults).toEqual([expect.stringMatching(/^2 value: .*number_out_of_range/)])
  })

  it.each([
    ['a value', '"value":1e400'],
    ['a value with a position', '"value":1e400,"geo":{"lat":1,"long":2}'],
    ['a member', '"value":{"a":[{"b":-1e999}]}'],
    ['a position', '"value":1,"geo":{"lat":1e400,"long":2}'],
    ['a latitude', '"value":1,"lat":1,"long":1e400'],
  ])('is refused in lines of JSON: %s', async (_, fields) => {
    const { records, faults } = await readNdjson(`{"key":"n","datetime":"${time}",${fields}}\n`)
    expect(records).toEqual([])
    expect(faults).toEqual([expect.stringMatching(/^1 .*number_out_of_range/)])
  })

  it('is no latitude in CSV', async () => {
    const { records, faults } = await readCsv(`time,lat,lon,n\n${time},1e+400,23,1\n`)
    expect(records).toEqual([])
    expect(faults).toEqual([expect.stringMatching(/geo: "1e\+400" is not a latitude or longitude/)])
  })

  it('and a repeated member in a cell are refused alike', async () => {
    const { faults } = await readCsv(`time,n\n${time},"{""x"":1,""x"":2}"\n`)
    expect(faults).toEqual([expect.stringMatching(/^2 value: the member "x" appears twice/)])
  })
})
