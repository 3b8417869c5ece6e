import { describe, expect, it } from 'vitest'
import { openHost, reasonOf } from '../host.ts'
import { addressOf, allIntervals, intervalsOf, pagesFrom, routes } from './intervals.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()
const every = 'aggregate=count,avg,min,max,sum,first,last&empty=true'

async function openWith(...minutes: readonly number[]) {
  const host = await openHost()
  await host.write(...minutes.map(minute => ({ key: 'k', value: minute, datetime: at(minute) })))
  return host
}

const of = (minute: number, ...values: readonly number[]) => {
  const [first, last] = [values[0] ?? null, values.at(-1) ?? null]
  const sum = values.length === 0 ? null : values.reduce((sum, value) => sum + value)
  return {
    datetime: at(minute),
    count: values.length,
    avg: sum === null ? null : sum / values.length,
    min: first,
    max: last,
    sum,
    first,
    last,
  }
}

describe.each(routes)('empty of %s', route => {
  it('gives every interval from the first to the last with records', async () => {
    const host = await openWith(3, 4, 31, 59)
    const url = addressOf(host, route, `${every}&interval=10m`)
    const expected = [of(0, 3, 4), of(10), of(20), of(30, 31), of(40), of(50, 59)]
    expect(await allIntervals(host, `${url}&order=asc`)).toEqual(expected)
    expect(await allIntervals(host, url)).toEqual(expected.toReversed())
    expect(await allIntervals(host, url.replace('empty=true', 'empty=0'))).toHaveLength(3)
  })

  it('gives every interval of a range, also of one without records', async () => {
    const host = await openWith(31)
    const url = addressOf(host, route, `${every}&interval=10m&order=asc`)
    const range = (from: number, to: number) => `&startDate=${at(from)}&endDate=${at(to)}`
    expect(await allIntervals(host, url + range(15, 50))).toEqual([of(10), of(20), of(30, 31), of(40)])
    expect(await allIntervals(host, url + range(100, 121))).toEqual([of(100), of(110), of(120)])
    expect(await allIntervals(host, url + range(50, 50))).toEqual([])
    expect(await allIntervals(host, url + range(50, 40))).toEqual([])
    expect(await allIntervals(host, `${url}&startDate=${at(5)}`)).toEqual([of(0), of(10), of(20), of(30, 31)])
    expect(await allIntervals(host, `${url}&endDate=${at(51)}`)).toEqual([of(30, 31), of(40), of(50)])
    expect(await allIntervals(host, `${url}&startDate=${at(41)}`)).toEqual([])
  })

  it.each(['asc', 'desc'])('is walked by links, each interval once, %s', async order => {
    const host = await openWith(3, 31, 59, 201)
    const url = addressOf(host, route, `${every}&interval=10m&order=${order}`)
    const all = await allIntervals(host, url)
    expect(all).toHaveLength(21)
    for (const limit of [1, 4, 21, 22]) expect(await allIntervals(host, `${url}&limit=${limit}`)).toEqual(all)
  })

  it('gives days of a zone, 10,000 at most in one answer', async () => {
    const host = await openWith(0)
    const url = addressOf(
      host,
      route,
      'aggregate=count&empty=true&interval=1d&tz=Europe/Madrid&limit=20000&order=asc' +
        '&startDate=1990-01-01T00:00:00Z&endDate=2027-01-01T00:00:00Z',
    )
    const sizes: number[] = []
    for await (const answer of pagesFrom(host, url)) sizes.push(intervalsOf(answer).length)
    // The first one begins in 1989, in UTC.
    expect(sizes).toEqual([10_000, 13_515 - 10_000])
  })

  it('ends early where texts are long, and goes on', async () => {
    const host = await openHost()
    const value = 'x'.repeat(60_000)
    for (let n = 0; n < 30; n += 10) {
      await host.write(
        ...Array.from({ length: 10 }, (_, m) => ({ key: 'k', value, datetime: at((n + m) * 3) })),
      )
    }
    const url = addressOf(host, route, 'aggregate=count,last&empty=true&interval=1m&order=asc')
    const first = await host.inject({ url })
    expect(intervalsOf(first).length).toBeLessThan(88)
    const counts = (await allIntervals(host, url)).map(({ count }) => count)
    expect(counts).toEqual(Array.from({ length: 88 }, (_, minute) => (minute % 3 === 0 ? 1 : 0)))
  })

  it('must be a flag', async () => {
    const host = await openWith(0)
    const url = addressOf(host, route, 'aggregate=count&interval=1m&empty=yes')
    expect(reasonOf(await host.inject({ url }))).toBe('invalid_query')
  })
})
