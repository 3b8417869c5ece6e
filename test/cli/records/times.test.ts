import { describe, expect, it } from 'vitest'
import { parseTime } from '../../../src/cli/records/times.ts'
import { readCsv } from './read-file.ts'

describe('parseTime()', () => {
  it.each([
    ['20261120093000', '2026-11-20T09:30:00.000Z'],
    ['20261120T093000', '2026-11-20T09:30:00.000Z'],
    ['20261120093000123', '2026-11-20T09:30:00.123Z'],
    ['2026-11-20T09:30:00Z', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20 09:30', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20 09:30:00 UTC', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20 09:30:00 GMT', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20 09:30:00 +0200', '2026-11-20T07:30:00.000Z'],
    ['2026-11-20T09:30:00+02', '2026-11-20T07:30:00.000Z'],
    ['2026-11-20T09:30:00-03:30', '2026-11-20T13:00:00.000Z'],
    ['2026-11-20 09:30:00,250', '2026-11-20T09:30:00.250Z'],
    ['2026-11-20 09:30:00.123456789', '2026-11-20T09:30:00.123Z'],
    ['2026-11-20_09:30:00', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20, 9:30', '2026-11-20T09:30:00.000Z'],
    ['2026/11/20 09:30', '2026-11-20T09:30:00.000Z'],
    ['2026.11.20 09:30', '2026-11-20T09:30:00.000Z'],
    ['20.11.2026 09:30:15', '2026-11-20T09:30:15.000Z'],
    ['2.1.2026, 9:05', '2026-01-02T09:05:00.000Z'],
    ['20261120 09:30:00', '2026-11-20T09:30:00.000Z'],
    ['20261120T093000Z', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20 9:30 PM', '2026-11-20T21:30:00.000Z'],
    ['2026-11-20 12:00 am', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20 12:05:09 PM', '2026-11-20T12:05:09.000Z'],
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['20.11.2026', '2026-11-20T00:00:00.000Z'],
  ])('reads %s', (text, time) => {
    const milliseconds = parseTime(text)
    expect(milliseconds === undefined ? undefined : new Date(milliseconds).toISOString()).toBe(time)
  })

  it.each([
    '03/04/2026 09:30',
    '11/20/2026',
    '20-11-2026 09:30',
    '2026-02-30 09:30',
    '30.02.2026 09:30',
    '2026-11-20 25:00',
    '2026-11-20 13:00 PM',
    '2026-11-20 09:30 CET',
    'Nov 20 2026 09:30',
    '1763631000',
    '09:30',
    'yesterday',
    '',
  ])('does not read %j, or it could be two', text => {
    expect(parseTime(text)).toBeUndefined()
  })
})

async function times(text: string, options: Parameters<typeof readCsv>[1] = {}) {
  const { records, faults } = await readCsv(text, options)
  return { times: records.map(({ datetime }) => String(datetime).replace(/:00\.000Z$/, '')), faults }
}

describe('Unix times', () => {
  it.each([
    ['1795167000', 's'],
    ['1795167000.0', 's'],
    ['1795167000000', 'ms'],
    ['1795167000000000', 'us'],
    ['1795167000000000000', 'ns'],
  ] as const)('%s is read in %s alone', async (number, timeUnit) => {
    const text = `time,n\n${number},1\n`
    expect(await times(text, { timeUnit })).toEqual({ times: ['2026-11-20T09:30'], faults: [] })
    expect((await times(text)).faults).toEqual([
      `2 datetime: the time "${number}" is a number: if it is a Unix time, give its unit with --time-unit s, ms, us or ns; if a spreadsheet counts days, export dates (column time)`,
    ])
  })

  it.each([
    ['2026-11-20T09:30:00Z', 's'],
    ['1.795E9', 's'],
    ['-5', 's'],
    ['1795167000000', 's'],
    ['soon', 'ms'],
  ] as const)('%s is none in %s', async (time, timeUnit) => {
    const { faults } = await times(`time,n\n${time},1\n`, { timeUnit })
    expect(faults).toEqual([expect.stringMatching(/is not a Unix time in/)])
  })

  it.each(['1.78E+12', '1.780E12'])(
    'whose digits a spreadsheet has cut off are refused as such: %s',
    async time => {
      for (const options of [{}, { timeUnit: 'ms' }]) {
        const { faults } = await times(`time,n\n${time},1\n`, options)
        expect(faults).toEqual([
          expect.stringMatching(/^2 datetime: "1\.78.*cut off its last digits.*\(column time\)$/),
        ])
      }
    },
  )

  it('have decimals behind a comma, too', async () => {
    const { records } = await readCsv('time;n\n1795167000,25;1\n', { timeUnit: 's', decimal: ',' })
    expect(records[0]?.datetime).toBe('2026-11-20T09:30:00.250Z')
  })
})

describe('a record without a time', () => {
  it.each(['time,n\n,1\n', 'time,lat,lon,n\n,60,23,1\n', 'time,key,value\n,n,1\n', 'date,time,n\n,,1\n'])(
    'is refused in %j, and taken with --now',
    async text => {
      const refused = await readCsv(text)
      expect(refused.records).toEqual([])
      expect(refused.faults).toEqual([expect.stringMatching(/^2 datetime: .*--now/)])
      const { records, faults } = await readCsv(text, { now: 'each' })
      expect(faults).toEqual([])
      expect(records.map(record => 'datetime' in record)).toEqual(records.map(() => false))
    },
  )

  it('is none where there is no reading', async () => {
    expect(await readCsv('time,n\n,\n')).toMatchObject({ records: [], faults: [] })
  })
})

describe('times of day', () => {
  it.each([
    ['2026-06-30,09:48\n2026-07-01,09:58\n', ['2026-06-30T09:48', '2026-07-01T09:58']],
    ['30.06.2026,9:48\n1.7.2026,9:58\n', ['2026-06-30T09:48', '2026-07-01T09:58']],
    ['20260630,094800\n20260701,095800\n', ['2026-06-30T09:48', '2026-07-01T09:58']],
    ['2026/06/30,9:48 PM\n2026/07/01,9:58 AM\n', ['2026-06-30T21:48', '2026-07-01T09:58']],
    ['2026-06-30 00:00:00,09:48:00\n', ['2026-06-30T09:48']],
    ['2026-06-30,09:48:00Z\n', ['2026-06-30T09:48']],
    ['2026-06-30,09:48+02:00\n', ['2026-06-30T07:48']],
    // In any order, since each row has its day.
    [
      '2026-07-01,09:58\n2026-06-30,09:48\n2026-06-30,09:49\n',
      ['2026-07-01T09:58', '2026-06-30T09:48', '2026-06-30T09:49'],
    ],
    // The day says nothing new of a whole time.
    ['2026-06-30,2026-07-01T09:58:00Z\n', ['2026-07-01T09:58']],
  ])('are joined with the day beside them: %j', async (rows, expected) => {
    const text = rows.replaceAll('\n', ',1\n')
    expect(await times(`date,time,n\n${text}`)).toEqual({ times: expected, faults: [] })
    expect(await times(`time;date;n\n${swapped(text)}`)).toEqual({ times: expected, faults: [] })
  })

  function swapped(text: string): string {
    return text.replace(/^(.*?),(.*?),1$/gm, '$2;$1;1')
  }

  it.each([
    ['2026-06-30,', /^2 datetime: there is a day and no time/],
    [',09:48', /^2 datetime: the time has no day in this row/],
    ['06/30/2026,09:48', /^2 datetime: "06\/30\/2026 09:48" cannot be read as a time/],
    ['2026-02-30,09:48', /cannot be read as a time/],
    ['2026-06-30,24:00', /cannot be read as a time/],
  ])('with the day %j are refused', async (cells, message) => {
    const { faults } = await times(`date,time,n\n${cells},1\n`)
    expect(faults).toEqual([expect.stringMatching(message)])
  })

  it.each([
    ['23:59:59 000001', ['2026-02-28T23:59:59.000Z', '2026-03-01T00:00:01.000Z']],
    ['20:00 06:00 07:00', ['2026-02-28T20', '2026-03-01T06', '2026-03-01T07']],
    ['22:00 02:00 14:00 01:30', ['2026-02-28T22', '2026-03-01T02', '2026-03-01T14', '2026-03-02T01:30']],
    ['9:00 9:00 9:00', ['2026-02-28T09', '2026-02-28T09', '2026-02-28T09']],
    ['11:00 PM 1:00 AM', ['2026-02-28T23', '2026-03-01T01']],
  ])('get their day from --date, over midnight: %s', async (clocks, expected) => {
    const rows = clocks.replace(/(?<=\d) (?=\d)|(?<=M) /g, ',1\n')
    const { records, faults } = await readCsv(`time,n\n${rows},1\n`, { date: '2026-02-28' })
    expect(faults).toEqual([])
    expect(records.map(({ datetime }, place) => String(datetime).slice(0, expected[place]?.length))).toEqual(
      expected,
    )
  })

  it.each([
    // Each could be a new day, or another order.
    ['08:00 18:00 08:00 18:00 08:00', 4],
    ['10:02 10:01 10:00', 3],
    ['10:00:00 10:00:02 10:00:01 10:00:03', 4],
    ['23:59:59 00:00:01 23:59:58', 4],
    ['09:00 08:00 07:00', 3],
    ['12:00 00:00', 3],
    ['18:00 06:00:01', 3],
    ['00:10 23:50 23:30', 3],
  ])('of which it is not clear on which day they are end the reading: %s', async (clocks, line) => {
    const rows = clocks.replaceAll(' ', ',1\n')
    await expect(readCsv(`time,n\n${rows},1\n`, { date: '2026-02-28' })).rejects.toMatchObject({
      status: 1,
      message: expect.stringMatching(new RegExp(`^line ${line}: .*add a column date`)),
    })
  })

  it('without a day are refused, with what to add', async () => {
    const { faults } = await times('time,n\n09:48,1\n')
    expect(faults).toEqual([expect.stringMatching(/^2 datetime: "09:48" .*column date.*--date/)])
  })

  it.each([
    ['09:48 MDT', /"09:48 MDT" .*leave out the letters at its end; --tz names a zone/],
    ['2026-06-30 09:48:00 CEST', /CEST" .*leave out the letters/],
    ['2026-06-30 13:00 PM', /PM" .*write it as 2026-11-21T09:30:00Z/],
    ['47:30.0', /"47:30\.0" .*only minutes and seconds/],
    ['6/30/26 9:48', /"6\/30\/26 9:48" .*its day and month are ambiguous/],
    ['noon', /"noon" .*write it as 2026-11-21T09:30:00Z \(column time\)/],
  ])('that cannot be read have the one advice that fits: %s', async (time, message) => {
    const { faults } = await times(`time,n\n${time},1\n`)
    expect(faults).toEqual([expect.stringMatching(message)])
  })
})
