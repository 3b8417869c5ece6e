import { describe, expect, it } from 'vitest'
import { summaryOf } from '../../../src/cli/writing/file-reader.ts'
import { type ReadOptions, readCsv } from './read-file.ts'

const at = '2026-11-20T09:30:00.000Z'

/** What the columns of a file are taken for, by name. */
async function summaryOfFile(text: string, options: ReadOptions = {}) {
  const { columns } = await readCsv(text, { now: 'each', ...options })
  return columns.map(summaryOf)[0]
}

const other = '2026-11-20T09:31:00Z'

describe('the time of a CSV file', () => {
  it.each([
    // Names of any language.
    ['created_at,entry_id\n2026-11-20 09:30:00 UTC,1\n', ['created_at']],
    ['when,T\n2026-11-20T09:30:00Z,21.5\n', ['when']],
    ['Erfasst am;T\n20.11.2026 09:30;21\n', ['Erfasst am']],
    ['Horodatage;T\n2026-11-20 09:30;21\n', ['Horodatage']],
    ['"Marca de tiempo",T\n2026/11/20 9:30:00 AM,21\n', ['Marca de tiempo']],
    ['日時,T\n2026/11/20 9:30,21\n', ['日時']],
    ['Время,T\n20.11.2026 09:30:00,21\n', ['Время']],
    ['χρόνος;T\n2026-11-20T09:30+02:00;21\n', ['χρόνος']],
    ['local time,T\n2026-11-20T09:30:00Z,21\n', ['local time']],
    ['x,T\n" 2026-11-20 09:30 ",21\n', ['x']],
    [',T\n2026-11-20 09:30,21\n', ['column 1 without a name']],
    // A day alone, and one with a time of day.
    ['Tag;T\n20.11.2026;21\n', ['Tag']],
    ['日付,時刻,T\n2026/11/20,9:30,21\n', ['日付', '時刻']],
    ['Ora;Giorno;T\n09:30:00;20.11.2026;21\n', ['Giorno', 'Ora']],
    ['Day,Clock,T\n2026-11-20,9:30 PM,21\n', ['Day', 'Clock']],
    ['Dag,start,time,T\n2026-11-20,09:00,09:30,21\n', ['Dag', 'time']],
    ['date,expiry,time,T\n2026-11-20,2027-11-20,09:30,21\n', ['date', 'time']],
    ['date,time,T\n2026-11-20 00:00:00,09:30,21\n', ['date', 'time']],
    ['date,time,T\n20261120,093000,21\n', ['date', 'time']],
    // A midnight is a whole time, also where a length stands beside it.
    ['Beginn;Dauer;T\n2026-11-20 00:00;00:15;21\n', ['Beginn']],
    // A name decides between several.
    [`created_at,timestamp,T\n${at},${other},21\n`, ['timestamp']],
    [`time,datetime,T\n${at},${other},21\n`, ['datetime']],
    ['note,T,Date/Time\n2026-11-19,21,2026-11-20 09:30\n', ['Date/Time']],
    [`Time (UTC),T,message\n2026-11-20 09:30,21,${other}\n`, ['Time (UTC)']],
    ['@timestamp,installed,T\n2026-11-20T09:30:00Z,2026-01-01,21\n', ['@timestamp']],
    // Digits alone are a time by name.
    ['TIME_STAMP,n\n20261120093000,20261120093000\n', ['TIME_STAMP']],
    ['epoch,n\n1795167000,1795167000\n', ['epoch']],
    [`ts,created_at,T\n1795167000,${at},21\n`, ['ts'], { timeUnit: 's' }],
    // Without a cell names decide, too.
    [`time,received,T\n,${at},21\n`, ['time']],
    ['date,time,T\n,,21\n', ['date', 'time']],
    ['T,_time\n', ['_time']],
    ['Uhrzeit;T\n09:30;21\n', ['Uhrzeit'], { date: '2026-11-20' }],
  ])('%j is found', async (text, time, options: ReadOptions = {}) => {
    expect(await summaryOfFile(text, options)).toMatchObject({ time })
  })

  it.each([
    'n,T\n20261120093000,21\n',
    'n,T\n20261120,21\n',
    'n,T\n1795167000,21\n',
    'pressure,T\n101325.5,21\n',
    'from,T\n09:30,21\n',
    'when,T\n11/20/2026,21\n',
    'when,T\n,21\nx,2026-11-20T09:30:00Z\n',
    'response_time_ms,uptime\n12,13\n',
    'message,T\nsince 2026-11-20T09:30:00Z,21\n',
    'version,T\n1.10.26,21\n',
  ])('%j has none: refused, and read with --now', async text => {
    const message = expect.stringMatching(/--time-column/)
    await expect(readCsv(text)).rejects.toMatchObject({ status: 2, message })
    expect(await summaryOfFile(text)).toMatchObject({ time: [], leftOut: [] })
  })

  it.each([
    ['when,T\n11/20/2026 09:30,21\n', /^"11\/20\/2026 09:30" .*write it as 2026-11-21 .*\(column when;/],
    ['T,when\n21,20-11-2026\n', /^"20-11-2026" .*21\.11\.2026 \(column when;/],
    ['von,T\n08:00,21\n', /^"08:00" .*add a column date.*--date \(column von;/],
    ['Uhr,T\n08:00 MDT,21\n', /^"08:00 MDT" .*leave out the letters.*--tz/],
    ['x,T\n1.78E+12,21\n', /^"1\.78E\+12" .*cut off its last digits.*\(column x;/],
    ['x,T\n47:30.0,21\n', /^"47:30\.0" .*only minutes and seconds/],
    ['YEAR,DOY,T\n2026,152,21\n', /^"2026" .*it is a year; join the parts/],
    [
      'a,b\n7,21.5\n',
      /^no column has a time in its first row: a \(7\), b \(21\.5\)\. .*--time-column.*--now$/,
    ],
    ['a,b\n', /^no column has a time in its first row: a \(\), b \(\)/],
  ])('%j is none, and why is said of the cell that is nearest to one', async (text, message) => {
    await expect(readCsv(text)).rejects.toMatchObject({ status: 2, message: expect.stringMatching(message) })
  })

  it.each([
    [
      `created_at,updated_at,T\n${at},${other},21\n`,
      /created_at and updated_at could each be the time.*--time-column/,
    ],
    [`Anfang;Ende;T\n${at};${other};21\n`, /Anfang and Ende could each be the time/],
    [`moment,note,T\n${at},2026-11-19,21\n`, /moment and note could each be the time/],
    ['Tag,gekauft,T\n2026-11-20,2025-01-01,21\n', /Tag and gekauft could each be the time/],
    [`date,last_updated,T\n2026-11-20,${other},21\n`, /date and last_updated could each be the time/],
    [`date,seen,T\n11/20/2026,${other},21\n`, /date and seen could each be the time/],
    [`timestamp,time,T\n${at},12.5,21\n`, /timestamp and time could each be the time/],
    [`Timestamp,time,T\n${at},${other},21\n`, /Timestamp and time could each be the time/],
    ['Tag,von,bis,T\n2026-11-20,09:30,10:30,21\n', /von and bis could each be the time/],
    ['Tag,Kauf,time\n2026-11-20,2025-01-01,09:30\n', /Tag and Kauf could each be the day.*date/],
  ])('%j is refused with its two', async (text, message) => {
    await expect(readCsv(text)).rejects.toMatchObject({ status: 2, message: expect.stringMatching(message) })
  })

  it('is decided by the first row that is no header', async () => {
    const { records, faults } = await readCsv(`x,y\nx,y\n${at},1\n1,${at}\n`)
    expect(records).toEqual([{ key: 'y', value: 1, datetime: at }])
    expect(faults).toEqual([expect.stringMatching(/^4 datetime: the time "1" is a number/)])
  })

  it.each(['12.5', 'noon'])('is by its name the column that has %s', async cell => {
    const { records, faults } = await readCsv(`time,created_at,T\n${cell},${at},21\n`)
    expect(records).toEqual([])
    expect(faults).toEqual([expect.stringMatching(/^2 datetime: /)])
  })

  it('is not in the value of a record', async () => {
    const { records } = await readCsv(`key,value,when\nbought,2025-01-01,${at}\n`)
    expect(records).toEqual([{ key: 'bought', value: '2025-01-01', datetime: at }])
  })

  it('leaves other times out', async () => {
    const text = `datetime,seen,T,bought,time\n${at},${other},21,2025-01-01,x\n`
    expect(await summaryOfFile(text)).toMatchObject({ keys: ['T'], leftOut: ['seen', 'bought', 'time'] })
  })
})

describe('the position of a CSV file', () => {
  it.each([
    ['lat', 'long'],
    ['Latitude', 'Longitude'],
    ['GPS Latitude', 'gps_lon'],
    ['location-lat', 'location-long'],
    ['Latitude (deg)', 'Longitude (deg)'],
    ['positionLat', 'positionLng'],
    ['LAT', 'LNG'],
    ['start lat', 'start lon'],
  ])('is %s and %s', async (lat, long) => {
    const text = `time,T,${long},${lat}\n${at},1,23,60\n`
    expect(await summaryOfFile(text)).toMatchObject({ position: [lat, long] })
  })

  it.each([
    ['S', 'E'],
    ['N', 'W'],
    ['N', 'E'],
  ])('is refused with its signs beside it: %s, %s', async (ns, ew) => {
    const { records, faults } = await readCsv(`time,lat,ns,lon,ew\n${at},33.9,${ns},151.2,${ew}\n`)
    expect(records).toEqual([])
    expect(faults).toEqual([expect.stringMatching(/^2 geo: .*with a minus/)])
  })

  it('is read beside a direction of the wind', async () => {
    const { records } = await readCsv(`time,lat,lon,wind\n${at},33.9,151.2,S\n`)
    expect(records).toContainEqual({ key: 'wind', value: 'S', geo: { lat: 33.9, long: 151.2 }, datetime: at })
  })

  it('is that of the plain names among several', async () => {
    const text = `time,latitude_error,latitude,lon\n${at},1,60,23\n`
    expect(await summaryOfFile(text)).toMatchObject({ position: ['latitude', 'lon'] })
  })

  it.each(['flat,plate', 'latency,longest', 'salon,T', 'long_press,T', 'lat_long,T', 'gps_lat,T'])(
    'is not in %s',
    async names => {
      const text = `time,${names}\n${at},1,2\n`
      expect(await summaryOfFile(text)).toMatchObject({ position: [], keys: names.split(',') })
    },
  )
})

describe('the columns of a CSV file', () => {
  // Shapes that platforms, databases, panels, trackers and loggers give out.
  it.each([
    ['created_at,entry_id,field1\n2026-11-20 09:30:00 UTC,1,21.5\n', { entry_id: 1, field1: 21.5 }],
    ['created_at,entry_id,field1\n2026-11-20T09:30:00+00:00,1,21.5\n', { entry_id: 1, field1: 21.5 }],
    ['"Time","temperature"\n"2026-11-20 09:30:00","21.5"\n', { temperature: 21.5 }],
    ['Datetime,Temperature\n2026-11-20 09:30,21.5\n', { Temperature: 21.5 }],
    [
      'id,ida,timestamp,latitude,longitude,speed\n7,x,2026-11-20T09:30:00Z,60.1,23.5,5\n',
      { speed: 5, $geo: null },
    ],
    [',timestamp,humidity\n0,2026-11-20 09:30:00.000,48\n', { humidity: 48 }],
    ['Zeitstempel;Temperatur\n20.11.2026 09:30;21.5\n', { Temperatur: 21.5 }],
    ['TIMESTAMP\tBattV\n2026-11-20 09:30:00\t12.6\n', { BattV: 12.6 }],
    ['Date,Time,T\n2026/11/20,9:30:00 AM,21.5\n', { T: 21.5 }],
    ['Datum;Uhrzeit;T\n20.11.2026;09:30;21.5\n', { T: 21.5 }],
    ['entity_id,state,last_changed\nsensor.t,21.5,2026-11-20T09:30:00.000Z\n', { 'sensor.t': 21.5 }],
    ['Timestamp,Variable,Value\n20261120093000,t,21.5\n', { t: 21.5 }],
    ['Date,T\n2026-11-20 11:30:00 +0200,21.5\n', { T: 21.5 }],
    ['datetime,created_at,T\n2026-11-20T09:30:00Z,2026-11-20T10:00:00Z,21.5\n', { T: 21.5 }],
  ])('%j has its time', async (text, values) => {
    const { records, faults } = await readCsv(text)
    expect(faults).toEqual([])
    const read = Object.fromEntries(records.map(({ key, value }) => [key, value]))
    expect(read).toMatchObject(values)
    expect(records.map(({ datetime }) => datetime)).toEqual(records.map(() => at))
  })

  const wide = (count: number, nameOf: (hour: number) => string) => {
    const hours = Array.from({ length: count }, (_, hour) => hour)
    return `Date,${hours.map(nameOf)}\n2026-06-30,${hours}\n2026-07-01,${hours}\n`
  }

  it.each([
    ['n…', wide(24, hour => `n${hour}`).replaceAll(/2026-0\d-\d\d/g, '$& 00:00')],
    ['d…', wide(24, hour => `d${hour}`).replaceAll(/2026-(\d\d)-(\d\d)/g, '2026$1$2')],
    ['H…', wide(24, hour => `H${String(hour + 1).padStart(2, '0')}`)],
    ['…', wide(24, hour => `${hour + 1}`)],
    ['Hour.….MW', wide(25, hour => `Hour.${hour}.MW`)],
    [
      'h…',
      wide(4, hour => `h${hour * 6}`)
        .replaceAll('Date,', 'Date,station,')
        .replaceAll('-30,', '-30,x,')
        .replaceAll('-01,', '-01,x,'),
    ],
  ])('that may be the hours of a day are noted once: %s', async (name, text) => {
    const { records, notes } = await readCsv(text)
    expect(records.length).toBeGreaterThan(7)
    expect(notes).toEqual([
      expect.stringMatching(/: if these columns are the hours of a day, make a row of each/),
    ])
    expect(notes[0]?.startsWith(`${name}: `)).toBe(true)
  })

  it.each([
    ['their row has a time of day', wide(24, hour => `H${hour}`).replaceAll(/(\d\d),0,/g, '$1 09:30,0,')],
    [
      'a row behind that of a midnight has one',
      wide(24, hour => `H${hour}`)
        .replace('-30', '-30 00:00')
        .replace('-01', '-01 00:01'),
    ],
    ['there are three', wide(3, hour => `T${hour}`)],
    ['they differ in words', wide(4, hour => `T${'x'.repeat(hour + 1)}`)],
  ])('are no hours of a day if %s', async (_, text) => {
    expect((await readCsv(text)).notes).toEqual([])
  })

  it('that are times of day are refused', async () => {
    const text = wide(24, hour => `${hour}:00`)
    await expect(readCsv(text)).rejects.toThrow(/^"0:00", .*"23:00" are times of day: make a row of each/)
  })

  it('is read without a time that is found with --time-column or --now alone', async () => {
    const text = 'moment,T\n11/20/2026,21.5\n2026-11-20T09:30:00Z,21.5\n'
    await expect(readCsv(text)).rejects.toThrow(
      /^"11\/20\/2026" cannot be read as a time.*21\.11\.2026.*--time-column/,
    )
    const read = { key: 'T', value: 21.5, datetime: at }
    expect((await readCsv(text, { timeColumn: 'MOMENT' })).records).toEqual([read])
    const { records } = await readCsv(text, { now: 'each' })
    expect(records.some(record => 'datetime' in record)).toBe(false)
  })

  it.each([
    ['time,timestamp,T\n', /time and timestamp could each be the time/],
    ['time,lat,T\n', /a column lat but none of the longitude.*lon, lng/],
    ['time,Lng,T\n', /a column Lng but none of the latitude/],
    ['time,lat,gps_lat,lon\n', undefined],
    ['time,gps_lat,pos_lat,lon\n', /gps_lat and pos_lat could each be the latitude.*--geo-columns/],
    ['time,value\n', /a column value needs a column key next to it.*--key/],
    ['time,T,T\n', /the column T appears twice/],
    ['time\n', /no column of values/],
    ['time,de pth,Temp (°C)\n', /another name to "de pth", "Temp \(°C\)"/],
    ['time,metric,variable,value\n', /metric and variable could each be the key/],
  ])('the header %j is refused with what to do', async (head, message) => {
    const reading = readCsv(head)
    if (message === undefined) await expect(reading).resolves.toBeDefined()
    else await expect(reading).rejects.toMatchObject({ status: 2, message: expect.stringMatching(message) })
  })

  it.each([
    [{ timeColumn: 'nothing' }, /--time-column: there is no column nothing among time, T/],
    [{ geoColumns: ['y', 'x'] as const }, /--geo-columns: there is no column y/],
    [{ key: 't' }, /--key needs a column value/],
  ])('an option that names no column is refused: %j', async (options, message) => {
    await expect(readCsv('time,T\n', options)).rejects.toMatchObject({
      status: 2,
      message: expect.stringMatching(message),
    })
  })

  it('takes a position from named columns', async () => {
    const { records } = await readCsv(`time,y,x,T\n${at},60.1,23.5,1\n`, { geoColumns: ['Y', 'x'] })
    expect(records[0]).toEqual({ key: '$geo', value: null, geo: { lat: 60.1, long: 23.5 }, datetime: at })
  })

  it('leaves out and names what is none of it', async () => {
    const text = `id,value,feed_id,created_at,lat,lon,ele\n1,21.5,9,${at},,,\n`
    const { records, columns } = await readCsv(text, { key: 'temp' })
    expect(records).toEqual([{ key: 'temp', value: 21.5, datetime: at }])
    const [found] = columns
    expect(found?.leftOut.map(({ name }) => name)).toEqual(['id', 'feed_id', 'ele'])
  })
})

describe('the result of a database query', () => {
  const head = ',result,table,_start,_stop,_time,_value,_field,_measurement,place'
  const row = (table: number, value: string, field: string, place = 'a') =>
    `,_result,${table},2026-11-20T09:00:00Z,2026-11-20T10:00:00Z,${at},${value},${field},air,${place}`

  it('becomes records of the keys in _field', async () => {
    const { records, faults, columns } = await readCsv(
      [head, row(0, '21.5', 't'), row(1, '48', 'h')].join('\n'),
    )
    expect({ records, faults }).toEqual({
      faults: [],
      records: [
        { key: 't', value: 21.5, datetime: at },
        { key: 'h', value: 48, datetime: at },
      ],
    })
    expect(columns[0]?.leftOut).toHaveLength(7)
  })

  it('with annotations and a header for each table is read as a whole', async () => {
    const annotations = ['#group,false,false', '#datatype,string,long', '#default,_result,']
    const block = (table: number, field: string) => [...annotations, head, row(table, '1', field), '']
    const text = [...block(0, 't'), ...block(1, 'h')].join('\r\n')
    expect((await readCsv(text)).records.map(({ key }) => key)).toEqual(['t', 'h'])
  })

  it('with a column for each field leaves out what the database says itself', async () => {
    const wide = `,result,table,_start,_stop,_time,h,t\n,,0,${at},${at},${at},48,21.5\n`
    expect((await readCsv(wide)).records.map(({ key, value }) => [key, value])).toEqual([
      ['h', 48],
      ['t', 21.5],
    ])
  })

  it('refuses two series with one key, and says how to tell them apart', async () => {
    const { records, faults } = await readCsv(
      [head, row(0, '21.5', 't', 'a'), row(1, '9.5', 't', 'b'), row(1, '9.6', 't', 'b')].join('\n'),
    )
    expect(records).toHaveLength(1)
    expect(faults).toEqual([
      expect.stringMatching(/^3 : t comes from more than one table.*filter the query/),
      expect.stringMatching(/^4 : t comes/),
    ])
  })
})
