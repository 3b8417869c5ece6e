import { describe, expect, it } from 'vitest'
import { openHost, reasonOf } from '../host.ts'
import { addressOf, allIntervals, intervalsOf, routes } from './intervals.ts'

const begin = Date.UTC(2026, 0, 1)
const at = (second: number) => new Date(begin + second * 1000).toISOString()

async function openWith(...records: readonly [second: number, value: unknown][]) {
  const host = await openHost()
  for (let from = 0; from < records.length; from += 5000) {
    const part = records.slice(from, from + 5000)
    await host.write(...part.map(([second, value]) => ({ key: 'k', value, datetime: at(second) })))
  }
  return host
}

/** One record a second, but for a peak. */
const withPeak = (seconds: number, peak: number) =>
  Array.from({ length: seconds }, (_, n): [number, unknown] => [n, n === peak ? 1e6 : n % 10])

describe.each(routes)('points of %s', route => {
  it('gives what a line and a band need of columns of a round length, so that no peak is missing', async () => {
    const host = await openWith(...withPeak(3600, 1234))
    const answer = await host.inject({ url: addressOf(host, route, 'points=800&order=asc') })
    expect(answer.headers['thingwire-interval']).toBe('5s')
    const columns = intervalsOf(answer)
    expect(columns).toHaveLength(720)
    expect(columns[0]).toEqual({
      datetime: at(0),
      avg: 2,
      min: 0,
      max: 4,
      count: 5,
      first: 0,
      last: 4,
    })
    expect(columns[246]).toEqual({
      datetime: at(1230),
      avg: 200_001.2,
      min: 0,
      max: 1e6,
      count: 5,
      first: 0,
      last: 1e6,
    })
    const newestFirst = await host.inject({ url: addressOf(host, route, 'points=800') })
    expect(intervalsOf(newestFirst)).toEqual(columns.toReversed())
  })

  it.each([
    [0, 0.4, 400, '1ms'],
    [0, 0.4, 100, '5ms'],
    [0, 1, 50, '20ms'],
    [0, 1, 2, '500ms'],
    [0, 1, 1, '1s'],
    [0, 60, 60, '1s'],
    [0, 60, 59, '2s'],
    // One second later it begins in one column more.
    [1, 61, 30, '5s'],
    [0, 3600, 720, '5s'],
    [0, 3600, 360, '10s'],
    [0, 3600, 240, '15s'],
    [0, 3600, 120, '30s'],
    [0, 3600, 60, '1m'],
    [0, 3600, 30, '2m'],
    [0, 86_400, 288, '5m'],
    // Ten minutes are left out.
    [0, 86_400, 287, '15m'],
    [0, 3600, 2, '30m'],
    [0, 86_400, 24, '1h'],
    [0, 86_400, 23, '2h'],
    [0, 86_400, 8, '3h'],
    [0, 86_400, 2, '12h'],
    [0, 86_400, 1, '1d'],
    [0, 30 * 86_400, 800, '1h'],
    [0, 365 * 86_400, 800, '12h'],
    [0, 365 * 86_400, 365, '1d'],
    [0, 365 * 86_400, 100, '5d'],
    [0, 365 * 86_400, 1, '1000d'],
    [0, 7900 * 365 * 86_400, 10, '500000d'],
  ])('of a range from %i s to %i s, %i of them, are of a round length', async (from, to, points, length) => {
    const host = await openWith([0, 1])
    const range = `startDate=${at(from)}&endDate=${at(to)}`
    const url = addressOf(host, route, `points=${points}&empty=true&${range}`)
    const answer = await host.inject({ url })
    expect(answer.headers['thingwire-interval']).toBe(length)
    expect(intervalsOf(answer).length).toBeLessThanOrEqual(points)
    expect(answer.headers.link).toBeUndefined()
  })

  it.each([
    [
      'numbers among others',
      ['on', 1, false, 2],
      { avg: 1.5, min: 1, max: 2, count: 4, first: 'on', last: 2 },
    ],
    ['no number', ['on', false], { avg: null, min: null, max: null, count: 2, first: 'on', last: false }],
    ['the largest numbers', [1.7e308, 1.7e308], { avg: 1.7e308, min: 1.7e308, max: 1.7e308, count: 2 }],
    ['both ends', [1.7e308, -1.7e308], { avg: 0, min: -1.7e308, max: 1.7e308, count: 2 }],
  ] as const)('have the average of %s', async (_, values, expected) => {
    const host = await openWith(...values.map((value, n): [number, unknown] => [n / 100, value]))
    const [column] = intervalsOf(await host.inject({ url: addressOf(host, route, 'points=1') }))
    expect(column).toMatchObject(expected)
  })

  it('takes the first and the last record for a range that has no ends', async () => {
    const host = await openWith([70, 1], [100, 2], [99_999, 3])
    const lengthOf = async (query: string) =>
      (await host.inject({ url: addressOf(host, route, query) })).headers['thingwire-interval']
    expect(await lengthOf('points=31')).toBe('1h')
    expect(await lengthOf(`points=31&endDate=${at(101)}`)).toBe('1s')
    expect(await lengthOf(`points=30&endDate=${at(101)}`)).toBe('2s')
    expect(await lengthOf(`points=1&startDate=${at(101)}`)).toBe('2d')
    expect(await lengthOf(`points=10&startDate=${at(200_000)}`)).toBe('1ms')
  })

  it('has columns of days in the zone that is asked for', async () => {
    const host = await openWith(
      ...Array.from({ length: 400 }, (_, day): [number, unknown] => [(day - 700) * 86_400, day]),
    )
    const answer = await host.inject({ url: addressOf(host, route, 'points=401&tz=Europe/Madrid&order=asc') })
    expect(answer.headers['thingwire-interval']).toBe('1d')
    const starts = intervalsOf(answer).map(({ datetime }) => datetime.slice(11))
    expect(new Set(starts)).toEqual(new Set(['22:00:00.000Z', '23:00:00.000Z']))
    expect(starts).toHaveLength(400)
  })

  it.each(['asc', 'desc'])(
    'goes on by links with the same columns, where texts are long, %s',
    async order => {
      const host = await openHost()
      for (let part = 0; part < 4; part++) {
        await host.write(
          ...Array.from({ length: 10 }, (_, n) => ({
            key: 'k',
            value: `${part}${n}`.repeat(30_000),
            datetime: at((part * 10 + n) * 60),
          })),
        )
      }
      const url = addressOf(host, route, `points=20&order=${order}`)
      const first = await host.inject({ url })
      expect(first.headers['thingwire-interval']).toBe('2m')
      expect(first.headers.link).not.toContain('points')
      const starts = (await allIntervals(host, url)).map(({ datetime }) => datetime)
      const expected = Array.from({ length: 20 }, (_, n) => at(n * 120))
      expect(starts).toEqual(order === 'asc' ? expected : expected.toReversed())
    },
  )

  it.each([
    ['points=0', 'invalid_points'],
    ['points=', 'invalid_points'],
    ['points=-1', 'invalid_points'],
    ['points=1.5', 'invalid_points'],
    ['points=many', 'invalid_points'],
    ['points=1&points=1', 'invalid_points'],
    ['points=800&aggregate=avg', 'invalid_points'],
    ['points=800&interval=1h', 'invalid_points'],
    ['points=800&limit=10', 'invalid_points'],
    ['points=800&startDate=x', 'invalid_range'],
    ['points=800&tz=x', 'invalid_time_zone'],
  ])('refuses ?%s', async (query, reason) => {
    const host = await openWith([0, 1])
    expect(reasonOf(await host.inject({ url: addressOf(host, route, query) }))).toBe(reason)
  })

  it('answers 404 for a key that was never written', async () => {
    const host = await openHost()
    expect(reasonOf(await host.inject({ url: addressOf(host, route, 'points=10') }))).toBe('unknown_resource')
  })
})

describe('points of several keys', () => {
  it('have the columns of all of them', async () => {
    const host = await openWith([0, 1])
    await host.write({ key: 'late', value: 2, datetime: at(3599) })
    const answer = await host.inject({ url: `${host.path}/aggregates?keys=k,late,never&points=60` })
    expect(answer.headers['thingwire-interval']).toBe('1m')
    const column = (second: number, value: number) => [
      { datetime: at(second), avg: value, min: value, max: value, count: 1, first: value, last: value },
    ]
    expect(answer.json()).toEqual({ k: column(0, 1), late: column(3540, 2), never: [] })
  })

  it('can be read by pages of any origin', async () => {
    const host = await openWith([0, 1])
    const headers = { origin: 'https://example.org' }
    const answer = await host.inject({ url: addressOf(host, 'aggregates', 'points=1'), headers })
    expect(answer.headers['access-control-expose-headers']).toContain('Thingwire-Interval')
  })
})
