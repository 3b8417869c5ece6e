import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { calendarBuckets } from '../../../src/core/time/calendar-buckets.ts'
import { timeZoneOf } from '../../../src/core/time/time-zone.ts'
import { localDate, localTime } from './local-time.ts'

const hour = 3_600_000
const quarter = hour / 4

async function bucketsIn(zone: string, unit: 'd' | 'mo' = 'd', count = 1) {
  const found = await timeZoneOf(zone)
  if (!found) throw new Error(`no zone ${zone}`)
  return calendarBuckets(found, unit, count)
}

/** Zones with a year in which their clocks do what few others do. */
const years: readonly [zone: string, year: number][] = [
  ['Europe/Madrid', 2026],
  ['America/New_York', 2024],
  ['Australia/Lord_Howe', 2025],
  ['America/Sao_Paulo', 2015],
  ['America/Santiago', 2022],
  ['America/Havana', 2020],
  ['Asia/Kathmandu', 1986],
  ['Asia/Kolkata', 2026],
  ['Africa/Casablanca', 2024],
  ['Africa/Cairo', 2014],
  ['Asia/Gaza', 2011],
  ['Antarctica/Troll', 2026],
  ['America/Caracas', 2016],
  ['Asia/Pyongyang', 2018],
  ['America/Boa_Vista', 2000],
  ['Pacific/Apia', 2011],
]

describe('days of a zone', () => {
  it.each(years)('are its dates, without a gap: %s %i', async (zone, year) => {
    const buckets = await bucketsIn(zone)
    const dates: string[] = []
    for (let at = Date.UTC(year, 0, 1); at < Date.UTC(year + 1, 0, 1); ) {
      const { start, end } = buckets.at(at)
      const date = localDate(at, zone)
      dates.push(date)
      expect(localDate(start - 1, zone) < date).toBe(true)
      expect(localDate(end, zone) > date).toBe(true)
      const within = Array.from({ length: Math.ceil((end - start) / quarter) }, (_, n) => start + n * quarter)
      expect(new Set(within.map(each => localDate(each, zone)))).toEqual(new Set([date]))
      expect(buckets.at(end).start).toBe(end)
      at = end
    }
    expect(dates).toEqual([...new Set(dates)].sort())
    expect(dates.length).toBeGreaterThanOrEqual(365)
  })

  it.each([
    ['Europe/Madrid', '2026-03-29T12:00:00Z', 23, '2026-03-29 00:00'],
    ['Europe/Madrid', '2026-10-25T12:00:00Z', 25, '2026-10-25 00:00'],
    ['America/New_York', '2024-03-10T17:00:00Z', 23, '2024-03-10 00:00'],
    ['America/New_York', '2024-11-03T17:00:00Z', 25, '2024-11-03 00:00'],
    ['Australia/Lord_Howe', '2025-10-05T03:00:00Z', 23.5, '2025-10-05 00:00'],
    ['Australia/Lord_Howe', '2025-04-06T03:00:00Z', 24.5, '2025-04-06 00:00'],
    // There is no midnight.
    ['America/Sao_Paulo', '2015-10-18T12:00:00Z', 23, '2015-10-18 01:00'],
    ['America/Sao_Paulo', '2015-02-21T12:00:00Z', 25, '2015-02-21 00:00'],
    // There are two.
    ['America/Havana', '2020-11-01T12:00:00Z', 25, '2020-11-01 00:00'],
    ['Asia/Kathmandu', '2026-01-01T12:00:00Z', 24, '2026-01-01 00:00'],
  ])('are as long as they are: %s %s', async (zone, noon, hours, begin) => {
    const { start, end } = (await bucketsIn(zone)).at(Date.parse(noon))
    expect([(end - start) / hour, localTime(start, zone)]).toEqual([hours, begin])
  })

  it('leave out a date that was left out', async () => {
    const buckets = await bucketsIn('Pacific/Apia')
    const { start, end } = buckets.at(Date.parse('2011-12-30T09:59:59.999Z'))
    expect([localDate(start, 'Pacific/Apia'), localDate(end, 'Pacific/Apia')]).toEqual([
      '2011-12-29',
      '2011-12-31',
    ])
    expect(buckets.at(end).start).toBe(end)
  })

  it('do not take up again a date that comes again', async () => {
    const buckets = await bucketsIn('America/St_Johns')
    // At one minute past midnight it was 23:01 again.
    const again = Date.parse('2010-11-07T02:45:00Z')
    expect(localTime(again, 'America/St_Johns')).toBe('2010-11-06 23:15')
    const { start, end } = buckets.at(again)
    expect([start, end].map(at => localTime(at, 'America/St_Johns'))).toEqual([
      '2010-11-07 00:00',
      '2010-11-08 00:00',
    ])
    expect(buckets.at(start - 1).end).toBe(start)
    expect(start).toBeLessThan(again)
  })

  it('are counted from 1970-01-01 of the zone, several to a bucket', async () => {
    const zone = 'America/New_York'
    const buckets = await bucketsIn(zone, 'd', 7)
    for (let at = Date.parse('1970-01-01T05:00:00Z'), week = 0; week < 3000; week++) {
      const { start, end } = buckets.at(at)
      expect(start).toBe(at)
      expect(localTime(start, zone).slice(11)).toBe('00:00')
      expect(Math.round((end - start) / (24 * hour))).toBe(7)
      at = end
    }
    expect(buckets.at(0)).toEqual({
      start: Date.parse('1969-12-25T05:00:00Z'),
      end: Date.parse('1970-01-01T05:00:00Z'),
    })
  })
})

describe('months of a zone', () => {
  it('begin with the first instant of their first day, also over leap years', async () => {
    const zone = 'Europe/Madrid'
    const buckets = await bucketsIn(zone, 'mo')
    let at = Date.parse('1999-12-31T23:00:00Z')
    for (let year = 2000; year <= 2101; year++) {
      for (let month = 1; month <= 12; month++) {
        const { start, end } = buckets.at(at)
        expect(start).toBe(at)
        expect(localTime(start, zone)).toBe(`${year}-${String(month).padStart(2, '0')}-01 00:00`)
        const days = Math.round((end - start) / (24 * hour))
        expect(days).toBe(new Date(Date.UTC(year, month, 0)).getUTCDate())
        expect(buckets.at(end - 1).start).toBe(start)
        at = end
      }
    }
  })

  it.each([
    [3, '2024-01-01', '2024-04-01'],
    [12, '2024-01-01', '2025-01-01'],
    [120, '2020-01-01', '2030-01-01'],
    [9_999_999_999, '1970-01-01', undefined],
  ])('are counted from January 1970, %i to a bucket', async (count, first, next) => {
    const zone = 'Asia/Kathmandu'
    const { start, end } = (await bucketsIn(zone, 'mo', count)).at(Date.parse('2024-02-29T12:00:00Z'))
    expect(localDate(start, zone)).toBe(first)
    if (next !== undefined) expect(localDate(end, zone)).toBe(next)
    else expect(end).toBeGreaterThan(253_402_300_799_999)
  })
})

describe('every instant', () => {
  it('is in one bucket', async () => {
    const zones = await Promise.all(
      Intl.supportedValuesOf('timeZone').map(async name => [name, await timeZoneOf(name)] as const),
    )
    const zone = fc.constantFrom(...zones)
    const datetime = fc.integer({ min: 0, max: 4_000_000_000_000 })
    const unit = fc.constantFrom('d' as const, 'mo' as const)
    const count = fc.integer({ min: 1, max: 40 })
    fc.assert(
      fc.property(zone, datetime, unit, count, ([name, found], at, unit, count) => {
        if (!found) throw new Error(`no zone ${name}`)
        const buckets = calendarBuckets(found, unit, count)
        const { start, end } = buckets.at(at)
        expect(start <= at && at < end).toBe(true)
        for (const within of [start, Math.floor((start + end) / 2), end - 1]) {
          expect(calendarBuckets(found, unit, count).at(within)).toEqual({ start, end })
        }
        expect(buckets.at(end).start).toBe(end)
        expect(buckets.at(start - 1).end).toBe(start)
      }),
      { numRuns: 500 },
    )
  })
})

describe('the zone of a name', () => {
  it.each(['Europe/Madrid', 'europe/madrid', 'UTC', 'Etc/GMT+3', 'US/Eastern', 'Asia/Calcutta'])(
    'is there: %s',
    async name => {
      expect(await timeZoneOf(name)).toBeDefined()
    },
  )

  it('is not there, of other texts', async () => {
    const others = [
      '',
      'Mars/Olympus',
      '+02:00',
      '2026-01-01T00:00[Europe/Madrid]',
      'UTC\u0000',
      'a'.repeat(10_000),
    ]
    for (const other of others) expect(await timeZoneOf(other)).toBeUndefined()
  })
})
