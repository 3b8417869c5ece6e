import { describe, expect, it } from 'vitest'
import { localDate } from '../../core/time/local-time.ts'
import { type Host, openHost, reasonOf } from '../host.ts'
import { addressOf, allIntervals, type GivenInterval, intervalsOf, routes } from './intervals.ts'

const hour = 3_600_000
const query = 'aggregate=count,sum,min,max,first,last'

interface Reading {
  readonly time: number
  readonly value: number
}

/** A host with a record of `k` every so often in a range. */
async function openWith(from: string, to: string, every = hour): Promise<Host & { readings: Reading[] }> {
  const host = await openHost()
  const begin = Date.parse(from)
  const count = (Date.parse(to) - begin) / every
  const readings = Array.from({ length: count }, (_, n) => ({ time: begin + n * every, value: (n * 7) % 13 }))
  const records = readings.map(({ time, value }) => ({
    key: 'k',
    value,
    datetime: new Date(time).toISOString(),
  }))
  for (let at = 0; at < count; at += 5000) await host.write(...records.slice(at, at + 5000))
  return { ...host, readings }
}

/** What the intervals of days (or months) must be, oldest first: from the readings, and dates by Node alone. */
function folded(readings: readonly Reading[], zone: string, unit: 'd' | 'mo'): GivenInterval[] {
  const nameOf = (time: number) => localDate(time, zone).slice(0, unit === 'd' ? 10 : 7)
  const groups = new Map<string, Reading[]>()
  for (const reading of readings) {
    const name = nameOf(reading.time)
    groups.set(name, [...(groups.get(name) ?? []), reading])
  }
  return [...groups].map(([name, group]) => {
    let start = group[0]?.time ?? 0
    while (nameOf(start - hour / 4) === name) start -= hour / 4
    const values = group.map(({ value }) => value)
    return {
      datetime: new Date(start).toISOString(),
      count: values.length,
      sum: values.reduce((sum, value) => sum + value),
      min: Math.min(...values),
      max: Math.max(...values),
      first: values[0],
      last: values.at(-1),
    }
  })
}

describe.each(routes)('tz of %s', route => {
  it.each([
    ['Europe/Madrid', '2026-03-25', '2026-04-02', 23],
    ['Europe/Madrid', '2026-10-20', '2026-10-30', 25],
    ['America/New_York', '2024-03-08', '2024-03-13', 23],
    ['America/New_York', '2024-11-01', '2024-11-06', 25],
    ['America/Sao_Paulo', '2015-10-16', '2015-10-21', 23],
    ['America/Sao_Paulo', '2015-02-19', '2015-02-25', 25],
    ['Australia/Lord_Howe', '2025-10-03', '2025-10-08', 23.5],
    ['Australia/Lord_Howe', '2025-04-03', '2025-04-09', 24.5],
    ['Asia/Kathmandu', '2026-01-01', '2026-01-05', 24],
    ['Pacific/Apia', '2011-12-27', '2012-01-04', 24],
  ])('gives the days of %s, %s', async (zone, from, to, hours) => {
    const half = hour / 2
    const host = await openWith(`${from}T00:00:00Z`, `${to}T00:00:00Z`, half)
    const expected = folded(host.readings, zone, 'd')
    expect(expected.map(({ count }) => count)).toContain((hours * hour) / half)
    const url = addressOf(host, route, `${query}&interval=1d&tz=${zone}`)
    expect(await allIntervals(host, `${url}&order=asc`)).toEqual(expected)
    expect(await allIntervals(host, url)).toEqual(expected.toReversed())
  })

  it.each(['asc', 'desc'])('is walked by links, each day once, %s', async order => {
    const zone = 'Europe/Madrid'
    const host = await openWith('2026-02-01T05:30:00Z', '2026-11-15T03:00:00Z', 3 * hour)
    const expected = folded(host.readings, zone, 'd')
    const url = addressOf(host, route, `${query}&interval=1d&tz=${zone}&limit=7&order=${order}`)
    expect(await allIntervals(host, url)).toEqual(order === 'asc' ? expected : expected.toReversed())
  })

  it.each(['Europe/Madrid', 'America/Sao_Paulo', 'Asia/Kathmandu', undefined])(
    'gives the months of %s, over leap years',
    async zone => {
      const host = await openWith('2023-11-20T00:00:00Z', '2025-04-03T00:00:00Z', 6 * hour)
      const expected = folded(host.readings, zone ?? 'UTC', 'mo')
      expect(expected.length).toBeGreaterThan(16)
      const url = addressOf(host, route, `${query}&interval=1mo${zone ? `&tz=${zone}` : ''}`)
      expect(await allIntervals(host, `${url}&order=asc`)).toEqual(expected)
      expect(await allIntervals(host, `${url}&limit=5`)).toEqual(expected.toReversed())
    },
  )

  it('gives quarters and years as months, counted from January', async () => {
    const host = await openWith('2024-02-10T00:00:00Z', '2025-02-01T00:00:00Z', 24 * hour)
    const starts = async (interval: string) =>
      (
        await allIntervals(
          host,
          addressOf(host, route, `${query}&interval=${interval}&tz=Europe/Madrid&order=asc`),
        )
      ).map(({ datetime }) => datetime)
    expect(await starts('3mo')).toEqual([
      '2023-12-31T23:00:00.000Z',
      '2024-03-31T22:00:00.000Z',
      '2024-06-30T22:00:00.000Z',
      '2024-09-30T22:00:00.000Z',
      '2024-12-31T23:00:00.000Z',
    ])
    expect(await starts('12mo')).toEqual(['2023-12-31T23:00:00.000Z', '2024-12-31T23:00:00.000Z'])
  })

  it('leaves hours and what is shorter as they are', async () => {
    const host = await openWith('2026-03-28T00:00:00Z', '2026-03-30T00:00:00Z', hour / 2)
    for (const interval of ['45m', '1h', '6h']) {
      const url = addressOf(host, route, `${query}&interval=${interval}`)
      expect(await allIntervals(host, `${url}&tz=Asia/Kathmandu`)).toEqual(await allIntervals(host, url))
    }
  })

  it('takes names as they are written, and none that there is not', async () => {
    const host = await openWith('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z')
    const days = async (zone: string) =>
      await host.inject({ url: addressOf(host, route, `aggregate=count&interval=1d&tz=${zone}`) })
    const madrid = intervalsOf(await days('Europe/Madrid'))
    expect(intervalsOf(await days('europe%2Fmadrid'))).toEqual(madrid)
    expect(intervalsOf(await days('Etc/GMT-1'))).toEqual(madrid)
    expect(intervalsOf(await days('Etc/GMT+3'))).toEqual(intervalsOf(await days('Etc/GMT%2B3')))
    for (const zone of ['', 'Mars/Olympus', '%2B02:00', 'Europe/Madrid&tz=Europe/Madrid', '__proto__']) {
      const answer = await days(zone)
      expect([zone, reasonOf(answer)]).toEqual([zone, 'invalid_time_zone'])
      expect(answer.json().message).toContain('tz')
    }
  })

  it.each(['1w', '1M', '1month', '0mo', '1.5mo'])('refuses an interval of %s', async interval => {
    const host = await openWith('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z')
    const url = addressOf(host, route, `aggregate=count&interval=${interval}`)
    expect(reasonOf(await host.inject({ url }))).toBe('invalid_interval')
  })
})
