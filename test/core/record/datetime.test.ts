import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatDatetime, latestDatetime, parseDatetime } from '../../../src/core/record/datetime.ts'

const anyTime = fc.integer({ min: 0, max: latestDatetime })
const text = (number: number, digits: number) => String(number).padStart(digits, '0')

// Every spelling and every bound is a row of the case table, test/doors/cases/records.test.ts.
describe('parseDatetime()', () => {
  it('reads what formatDatetime() writes', () => {
    fc.assert(
      fc.property(anyTime, time => {
        expect(parseDatetime(formatDatetime(time))).toBe(time)
      }),
    )
  })

  it('reads the digits of formatDatetime() with milliseconds', () => {
    fc.assert(
      fc.property(anyTime, time => {
        expect(parseDatetime(formatDatetime(time).replaceAll(/\D/g, ''))).toBe(time)
      }),
    )
  })

  it('takes the days that the calendar has, and no others', () => {
    const digits = (maximum: number) => fc.integer({ min: 0, max: maximum })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9999 }), digits(14), digits(33), (year, month, day) => {
        const date = `${text(year, 4)}-${text(month, 2)}-${text(day, 2)}`
        const time = parseDatetime(`${date}T00:00:00Z`)
        // Date reads some days that do not exist as the next month's, and never gives one of those out.
        const wanted = new Date(`${date}T00:00:00Z`)
        const exists = !Number.isNaN(wanted.getTime()) && wanted.toISOString().startsWith(date)
        expect(time).toBe(exists ? wanted.getTime() : undefined)
      }),
    )
  })

  it('does not take a day for the one before that differs in year, month or day alone', () => {
    const dates = ['2026-11-21', '2027-11-21', '2027-12-21', '2027-12-22', '2026-12-22', '2026-11-22']
    for (const date of [...dates, ...dates.toReversed()]) {
      expect(parseDatetime(`${date}T09:30:00Z`)).toBe(Date.parse(`${date}T09:30:00Z`))
    }
  })

  it('cuts a fraction behind milliseconds, whatever stands behind it', () => {
    const zones = ['', 'Z', 'z', '+00:00', '-00:00']
    const fractions = { 5: 500, 25: 250, 125: 125, '0009': 0, '9999': 999, '123456789': 123, '000': 0 }
    for (const zone of zones) {
      for (const [fraction, milliseconds] of Object.entries(fractions)) {
        const spelled = `2026-11-21T09:30:07.${fraction}${zone}`
        expect(parseDatetime(spelled), spelled).toBe(Date.UTC(2026, 10, 21, 9, 30, 7, milliseconds))
      }
    }
  })

  it('moves by the zone', () => {
    const zone = fc.tuple(
      fc.constantFrom(1, -1),
      fc.integer({ min: 0, max: 23 }),
      fc.integer({ min: 0, max: 59 }),
    )
    fc.assert(
      fc.property(zone, ([sign, hours, minutes]) => {
        const spelled = `2026-11-21T09:30:00${sign > 0 ? '+' : '-'}${text(hours, 2)}:${text(minutes, 2)}`
        expect(parseDatetime(spelled)).toBe(
          Date.UTC(2026, 10, 21, 9, 30) - sign * (hours * 60 + minutes) * 60_000,
        )
      }),
    )
  })

  it('is negative before 1970, the years 0 to 99 included', () => {
    expect(parseDatetime('1969-12-31T23:59:59.999Z')).toBe(-1)
    expect(parseDatetime('00991231235959')).toBe(Date.parse('0099-12-31T23:59:59Z'))
    expect(parseDatetime('0000-02-29T00:00:00Z')).toBe(Date.parse('0000-02-29T00:00:00Z'))
  })

  it('is a safe integer or undefined for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[\dTZ:.+-]*$/)), spelled => {
        const time = parseDatetime(spelled)
        expect(time === undefined || Number.isSafeInteger(time)).toBe(true)
      }),
    )
  })
})

describe('formatDatetime()', () => {
  it('spells UTC with milliseconds', () => {
    expect(formatDatetime(1446034736799)).toBe('2015-10-28T12:18:56.799Z')
    expect(formatDatetime(0)).toBe('1970-01-01T00:00:00.000Z')
    expect(formatDatetime(latestDatetime)).toBe('9999-12-31T23:59:59.999Z')
  })
  it('spells any time as Date does, whatever was spelled before', () => {
    const edge = fc.oneof(
      anyTime,
      ...[1_000, 60_000, 3_600_000, 86_400_000].map(unit =>
        fc.integer({ min: 0, max: Math.floor(latestDatetime / unit) }).map(count => count * unit),
      ),
      fc.constantFrom(0, latestDatetime + 1, -86_400_000),
    )
    const near = fc.constantFrom(0, 1, -1, 999, 1_000, -1_000, 59_999, 60_000, 86_399_999, 86_400_000)
    fc.assert(
      fc.property(edge, fc.array(near, { maxLength: 20 }), (first, steps) => {
        let time = first
        for (const step of [0, ...steps, -1, 1]) {
          time += step
          expect(formatDatetime(time)).toBe(new Date(time).toISOString())
        }
      }),
    )
  })

  it('has no spelling for what is no time', () => {
    for (const time of [Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => formatDatetime(time)).toThrow(RangeError)
  })
})
