import { describe, expect, it } from 'vitest'
import { keyLike, meaningOf } from '../../../src/cli/records/column-names.ts'
import { readCsv } from './read-file.ts'

const at = '2026-11-20T09:30:00.000Z'

describe('meaningOf()', () => {
  it.each([
    'time',
    'Time',
    'TIME',
    '_time',
    'Timestamp',
    'TIME_STAMP',
    'timeStamp',
    'Time (UTC)',
    'Timestamp [ms]',
    'time_s',
    'utc_time',
    'UTCTime',
    '@timestamp',
    'datetime',
    'DateTime',
    'date_time',
    'Date/Time',
    'Date and time',
    'Datetime (UTC)',
    'created_at',
    'createdAt',
    'CREATED-AT',
    'Created at:',
    'published_at',
    'measuredat',
    'recorded at (UTC)',
    'last_changed',
    'Last Updated',
    'event_time',
    'device timestamp',
    'gps-time',
    'unix_time',
    'epoch',
    'epoch_ms',
    'ts',
    'Zeit',
    'Zeitstempel',
    'Uhrzeit',
    'Datum/Uhrzeit',
    'Datum und Zeit',
    'Horodatage',
    'Fecha y hora',
    'Tijdstip',
  ])('%s is a time', name => {
    expect(meaningOf(name)).toBe('time')
  })

  it.each(['date', 'Date', 'DATE', 'Datum', 'fecha', 'Date (UTC)', 'event_date'])('%s is a date', name => {
    expect(meaningOf(name)).toBe('date')
  })

  it.each([
    ['lat', 'lat'],
    ['Latitude', 'lat'],
    ['GPS Latitude', 'lat'],
    ['location-lat', 'lat'],
    ['Latitude (deg)', 'lat'],
    ['positionLat', 'lat'],
    ['Breitengrad', 'lat'],
    ['long', 'long'],
    ['lon', 'long'],
    ['LNG', 'long'],
    ['Longitude', 'long'],
    ['location-long', 'long'],
    ['gps_lon', 'long'],
    ['Längengrad', 'long'],
  ])('%s is %s', (name, meaning) => {
    expect(meaningOf(name)).toBe(meaning)
  })

  it.each([
    'response_time_ms',
    'uptime',
    'runtime',
    'travel time',
    'times',
    'times_opened',
    'local time',
    'timeout',
    'temperature',
    'data',
    'update',
    'flat',
    'plate',
    'latency',
    'longest',
    'salon',
    'heating',
    'Länge',
    'Breite',
    '',
    '°',
  ])('%j is none of them', name => {
    expect(meaningOf(name)).toBeUndefined()
  })

  it('keyLike() makes a key of a name that is none', () => {
    expect(['Temperature (°C)', 'Wind speed [m/s]', 'Außen', 'pH-Wert', '%'].map(keyLike)).toEqual([
      'Temperature_C',
      'Wind_speed_m_s',
      'Aussen',
      'pH-Wert',
      'key',
    ])
  })
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

  it.each([
    'when,T\n2026-11-20T09:30:00Z,21.5\n',
    'moment,T\n2026-11-20T09:30:00Z,21.5\n',
    'local_time,T\n2026-11-20T09:30:00Z,21.5\n',
    'T,H\n21.5,48\n',
    'key,value\nT,21.5\n',
  ])('%j without a known name of a time is refused, and read with --time-column or --now', async text => {
    await expect(readCsv(text)).rejects.toMatchObject({
      status: 2,
      message: expect.stringMatching(/--time-column.*--now/),
    })
    const [first = ''] = text.split(',')
    if (text.includes('2026')) {
      const named = await readCsv(text, { timeColumn: first.toUpperCase() })
      expect(named.records).toEqual([{ key: 'T', value: 21.5, datetime: at }])
    }
    const { records, faults } = await readCsv(text, { now: true })
    expect(faults).toEqual([])
    expect(records.every(record => !('datetime' in record))).toBe(true)
  })

  it.each([
    ['created_at,updated_at,T\n', /created_at and updated_at could each be the time.*--time-column/],
    ['time,timestamp,T\n', /time and timestamp could each be the time/],
    ['time,lat,T\n', /a column lat but none of the longitude.*lon, lng/],
    ['time,Lng,T\n', /a column Lng but none of the latitude/],
    ['time,lat,gps_lat,lon\n', undefined],
    ['time,gps_lat,pos_lat,lon\n', /gps_lat and pos_lat could each be the latitude.*--geo-columns/],
    ['time,value\n', /a column value needs a column key beside it.*--key/],
    ['time,T,T\n', /the column T is there twice/],
    ['time\n', /no column of values/],
    ['time,de pth,Temp (°C)\n', /"de pth" \(such as de_pth\), "Temp \(°C\)" \(such as Temp_C\)/],
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
    expect(found?.leftOut.map(column => found.names[column])).toEqual(['id', 'feed_id', 'ele'])
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
