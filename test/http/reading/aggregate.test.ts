import { describe, expect, it } from 'vitest'
import { openHost, reasonOf } from '../host.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1) + minute * 60_000).toISOString()

async function openWith(...values: [minute: number, value: unknown][]) {
  const host = await openHost()
  const geo = { lat: 1, long: 1 }
  await host.write(...values.map(([minute, value]) => ({ key: 'k', value, geo, datetime: at(minute) })))
  const read = async (query: string) => await host.inject({ url: `${host.path}/resources/k?${query}` })
  return { ...host, read }
}

const every = 'aggregate=avg,min,max,sum,count,first,last'

describe('aggregate', () => {
  it('summarises intervals that are aligned to the epoch, newest first, without empty ones', async () => {
    const { read } = await openWith([1, 4], [3, 2], [9, 6], [70, -1])
    const answer = await read(`${every}&interval=10m`)
    expect(answer.body).toBe(
      `[{"datetime":"${at(70)}","avg":-1,"min":-1,"max":-1,"sum":-1,"count":1,"first":-1,"last":-1},` +
        `{"datetime":"${at(0)}","avg":4,"min":2,"max":6,"sum":12,"count":3,"first":4,"last":6}]`,
    )
    const oldestFirst = await read(`${every}&interval=10m&order=asc`)
    expect(oldestFirst.json()).toEqual(answer.json().reverse())
  })

  it('gives the functions in the order in which they were asked for, each once', async () => {
    const { read } = await openWith([0, 1])
    const answer = await read('aggregate=max,count,max&interval=1d')
    expect(answer.body).toBe(`[{"datetime":"${at(0)}","max":1,"count":1}]`)
  })

  it('has intervals of milliseconds', async () => {
    const { read } = await openWith([0, 1], [0.002, 2], [0.01, 3])
    const answer = (await read('aggregate=sum&interval=500ms')).json()
    expect(answer).toEqual([
      { datetime: at(0.5 / 60), sum: 3 },
      { datetime: at(0), sum: 3 },
    ])
  })

  it('counts what is no number in count, first and last only', async () => {
    const { read } = await openWith([0, 'a'], [1, 3], [2, { b: '-1' }])
    const mixed = { avg: 3, min: 3, max: 3, sum: 3, count: 3, first: 'a', last: { b: '-1' } }
    expect((await read(`${every}&interval=1h`)).json()).toEqual([{ datetime: at(0), ...mixed }])
  })

  it('is null where there is no number', async () => {
    const { read } = await openWith([0, 'a'], [1, true], [2, null])
    const none = { avg: null, min: null, max: null, sum: null, count: 3, first: 'a', last: null }
    expect((await read(`${every}&interval=1h`)).json()).toEqual([{ datetime: at(0), ...none }])
  })

  it('summarises over more records than a page holds', async () => {
    const values = Array.from({ length: 2500 }, (_, minute): [number, unknown] => [minute, 1])
    const { read } = await openWith(...values)
    const days = (await read('aggregate=sum&interval=1d&order=asc')).json()
    expect(days).toMatchObject([{ sum: 1440 }, { sum: 1060 }])
  })

  it.each(['asc', 'desc'])('links to what is left, %s', async order => {
    const values = Array.from({ length: 25 }, (_, minute): [number, unknown] => [minute, minute])
    const { read } = await openWith(...values)
    const seen: number[] = []
    let answer = await read(`aggregate=sum&interval=2m&limit=5&order=${order}&startDate=${at(3)}`)
    for (;;) {
      seen.push(...answer.json().map((item: { sum: number }) => item.sum))
      const [, query] = /^<\?(.+)>; rel="next"$/.exec((answer.headers.link as string | undefined) ?? '') ?? []
      if (query === undefined) break
      answer = await read(query)
    }
    const sums = [3, 9, 13, 17, 21, 25, 29, 33, 37, 41, 45, 24]
    expect(seen).toEqual(order === 'asc' ? sums : sums.reverse())
  })

  it('ends an answer early, with a link, before it gets too large', async () => {
    const large = 'x'.repeat(60_000)
    const { read } = await openWith(
      ...Array.from({ length: 12 }, (_, minute): [number, unknown] => [minute, large]),
    )
    const answer = await read('aggregate=first,last&interval=1m')
    expect(answer.json().length).toBeLessThan(12)
    expect(answer.headers.link).toContain('endDate=')
  })

  it('is no shorter for large values that it does not give', async () => {
    const values = Array.from({ length: 12 }, (_, minute): [number, unknown] => [minute, 'x'.repeat(60_000)])
    const { read } = await openWith(...values, [12, 1])
    for (const order of ['asc', 'desc']) {
      const answer = await read(`aggregate=count,max&interval=1m&order=${order}`)
      expect(answer.json()).toHaveLength(13)
      expect(answer.headers.link).toBeUndefined()
      const some = await read(`aggregate=count&interval=1m&order=${order}&limit=12`)
      expect(some.json()).toHaveLength(12)
      expect(some.headers.link).toBeDefined()
    }
  })

  it('gives sums and averages to 15 significant digits, and the rest as it was written', async () => {
    const tenths = Array.from({ length: 1_000 }, (): [number, unknown] => [0, 0.1])
    const { read } = await openWith(
      ...tenths.map(([, value], at): [number, unknown] => [at, value]),
      [1_000, 0.30000000000000004],
    )
    const [whole] = (await read(`${every}&interval=365d`)).json()
    expect(whole).toMatchObject({ sum: 100.3, max: 0.30000000000000004, last: 0.30000000000000004 })
    expect((await read(`aggregate=avg,sum&interval=1m&limit=1`)).body).toContain('"avg":0.3,"sum":0.3')
  })

  it('is null only where the result itself leaves the range of a double', async () => {
    const huge = Number.MAX_VALUE
    const { read } = await openWith([0, huge], [61, huge], [62, huge], [121, huge], [122, huge], [123, -huge])
    expect((await read('aggregate=avg,sum&interval=1h&order=asc')).json()).toMatchObject([
      { avg: huge, sum: huge },
      { avg: huge, sum: null },
      { avg: Number((huge / 3).toPrecision(15)), sum: huge },
    ])
  })

  it('has at most 1,000 intervals unless asked for more', async () => {
    const { read } = await openWith(
      ...Array.from({ length: 1001 }, (_, minute): [number, unknown] => [minute, 1]),
    )
    const answer = await read('aggregate=count&interval=1m')
    expect(answer.json()).toHaveLength(1000)
    expect(answer.headers.link).toBeDefined()
    expect((await read('aggregate=count&interval=1m&limit=20000')).json()).toHaveLength(1001)
  })

  it.each([
    ['aggregate=&interval=1h', 'invalid_aggregate'],
    ['aggregate=median&interval=1h', 'invalid_aggregate'],
    ['aggregate=avg,&interval=1h', 'invalid_aggregate'],
    ['aggregate=avg&aggregate=min&interval=1h', 'invalid_aggregate'],
    ['aggregate=avg', 'invalid_interval'],
    ['aggregate=avg&interval=0m', 'invalid_interval'],
    ['aggregate=avg&interval=1w', 'invalid_interval'],
    ['aggregate=avg&interval=1.5h', 'invalid_interval'],
    ['aggregate=avg&interval=1h&limit=x', 'invalid_limit'],
    ['aggregate=avg&interval=1h&startDate=x', 'invalid_range'],
  ])('refuses ?%s', async (query, reason) => {
    const { read } = await openWith([0, 1])
    expect(reasonOf(await read(query))).toBe(reason)
  })

  it('answers 404 for a key that was never written, and [] for an empty range', async () => {
    const { inject, path, read } = await openWith([0, 1])
    const unknown = await inject({ url: `${path}/resources/other?${every}&interval=1h` })
    expect(reasonOf(unknown)).toBe('unknown_resource')
    expect((await read(`${every}&interval=1h&startDate=20260201000000`)).body).toBe('[]')
  })
})
