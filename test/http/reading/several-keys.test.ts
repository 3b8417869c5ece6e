import { describe, expect, it } from 'vitest'
import { asAdmin, type Host, openHost, reasonOf } from '../host.ts'
import { type GivenInterval, pagesFrom } from './intervals.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()

async function openWith(...records: readonly [key: string, minute: number, value: unknown][]) {
  const host = await openHost()
  await host.write(...records.map(([key, minute, value]) => ({ key, value, datetime: at(minute) })))
  return { ...host, ask: async (query: string) => await host.inject({ url: urlOf(host, query) }) }
}

function urlOf({ path }: Host, query: string): string {
  return `${path}/aggregates?${query}`
}

/** The intervals of every key, put together from all pages; each page must have every key. */
async function walk(host: Host, query: string): Promise<Record<string, GivenInterval[]>> {
  const all: Record<string, GivenInterval[]> = {}
  for await (const answer of pagesFrom(host, urlOf(host, query))) {
    const page = answer.json() as Record<string, GivenInterval[]>
    for (const [key, items] of Object.entries(page)) all[key] = [...(all[key] ?? []), ...items]
  }
  return all
}

describe('GET …/aggregates', () => {
  it('gives each key what it alone has, in the order in which they are asked for, each once', async () => {
    const { ask, inject, path } = await openWith(['b', 1, 4], ['a', 3, 2], ['b', 9, 'x'], ['a', 70, -1])
    const query = 'aggregate=avg,count,last&interval=10m'
    const answer = await ask(`keys=b,a,b&${query}`)
    const alone = async (key: string) => (await inject({ url: `${path}/resources/${key}?${query}` })).body
    expect(answer.body).toBe(`{"b":${await alone('b')},"a":${await alone('a')}}`)
    expect(answer.headers['content-type']).toBe('application/json')
    expect((await ask(`keys=a&${query}`)).body).toBe(`{"a":${await alone('a')}}`)
  })

  it('has a member for a key that an object of JavaScript has already', async () => {
    const { ask } = await openWith(['__proto__', 0, 1], ['constructor', 0, 2], ['1', 0, 3])
    const { body } = await ask('keys=__proto__,constructor,1&aggregate=sum&interval=1d')
    const day = (sum: number) => `[{"datetime":"${at(0)}","sum":${sum}}]`
    expect(body).toBe(`{"__proto__":${day(1)},"constructor":${day(2)},"1":${day(3)}}`)
  })

  it('gives an empty array for a key that was never written, and 404 if none was', async () => {
    const { ask } = await openWith(['a', 0, 1])
    const query = 'aggregate=count&interval=1d'
    expect((await ask(`keys=nothing,a&${query}`)).json()).toEqual({
      nothing: [],
      a: [{ datetime: at(0), count: 1 }],
    })
    expect((await ask(`keys=nothing,a&${query}&empty=true`)).json().nothing).toEqual([
      { datetime: at(0), count: 0 },
    ])
    expect(reasonOf(await ask(`keys=nothing,$nothing&${query}`))).toBe('unknown_resource')
    expect((await ask(`keys=a,nothing&${query}&startDate=${at(9)}`)).json()).toEqual({ a: [], nothing: [] })
  })

  it('gives megabytes with their length, HEAD the length alone', async () => {
    const { ask, inject, path } = await openWith(
      ['a', 0, 1],
      ['b', 30, 'ä'.repeat(30_000)],
      ['b', 14_999, 2],
      ['c', 7, 'text'],
    )
    const query = 'aggregate=avg,count,first,last&interval=10m&empty=true&limit=1500'
    const answer = await ask(`keys=a,b,c&${query}`)
    const { a, b, c } = answer.json() as Record<string, unknown[]>
    expect([a?.length, b?.length, c?.length]).toEqual([1_500, 1_500, 1_500])
    const alone = await inject({ url: `${path}/resources/b?${query}` })
    expect(alone.json()).toEqual(b?.slice(0, -3))
    for (const { body, headers } of [answer, alone]) {
      expect(headers['content-type']).toBe('application/json')
      expect(Number(headers['content-length'])).toBe(Buffer.byteLength(body))
      expect(headers['transfer-encoding']).toBeUndefined()
    }
    const head = await inject({ method: 'HEAD', url: `${path}/aggregates?keys=a,b,c&${query}` })
    expect(head.body).toBe('')
    expect(head.headers['content-length']).toBe(answer.headers['content-length'])
  })

  it('reads the history of magic resources', async () => {
    const { ask, write } = await openWith(['a', 0, 1])
    await write({ key: '$geo', value: [1, 2], datetime: at(0) })
    await write({ key: '$settings.name', value: 'b', datetime: at(0) })
    const day = [{ datetime: at(0), count: 1 }]
    const answer = await ask('keys=$geo,$settings.name,$settings,a&aggregate=count&interval=1d')
    expect(answer.json()).toEqual({ $geo: day, '$settings.name': day, $settings: [], a: day })
  })

  it.each(['asc', 'desc'])('is walked by links that go on for all keys, %s', async order => {
    const records: [string, number, unknown][] = []
    for (let minute = 0; minute < 200; minute++) {
      if (minute % 3 === 0) records.push(['sparse', minute, minute])
      if (minute % 2 === 0) records.push(['text', minute, 'x'.repeat(minute)])
      if (minute > 150) records.push(['late', minute, minute])
      records.push(['dense', minute, minute])
    }
    const host = await openWith(...records)
    const query = `keys=sparse,dense,late,text,never&aggregate=count,first,last&interval=1m&order=${order}`
    const all = await walk(host, `${query}&limit=1000`)
    expect(Object.values(all).map(items => items.length)).toEqual([67, 200, 49, 100, 0])
    for (const limit of [1, 7, 60]) expect(await walk(host, `${query}&limit=${limit}`)).toEqual(all)
    for (const limit of [7, 60]) {
      const range = `startDate=${at(10)}&endDate=${at(190)}`
      expect(await walk(host, `${query}&${range}&limit=${limit}`)).toEqual(
        await walk(host, `${query}&${range}`),
      )
    }
  })

  it.each(['asc', 'desc'])(
    'gives no key what is behind the place where another had to end, %s',
    async order => {
      const host = await openWith(['a', 0, 1], ['b', 0, 1], ['c', 9, 1])
      const value = 'x'.repeat(60_000)
      for (let minute = 0; minute < 40; minute += 10) {
        await host.write(
          ...Array.from({ length: 10 }, (_, n) => ({ key: 'b', value, datetime: at(minute + n) })),
        )
      }
      const minutes = Array.from({ length: 40 }, (_, minute) => ({
        key: 'a',
        value: 1,
        datetime: at(minute),
      }))
      await host.write(...minutes)
      const query = `keys=a,b,c&aggregate=last&interval=1m&order=${order}`
      const seen: Record<string, string[]> = { a: [], b: [], c: [] }
      let pages = 0
      for await (const answer of pagesFrom(host, urlOf(host, query))) {
        const page = answer.json() as Record<string, GivenInterval[]>
        expect(page.a?.map(({ datetime }) => datetime)).toEqual(page.b?.map(({ datetime }) => datetime))
        for (const [key, items] of Object.entries(page))
          seen[key]?.push(...items.map(({ datetime }) => datetime))
        pages++
      }
      expect(pages).toBeGreaterThan(2)
      const expected = Array.from({ length: 40 }, (_, minute) => at(order === 'asc' ? minute : 39 - minute))
      expect(seen).toEqual({ a: expected, b: expected, c: [at(9)] })
    },
  )

  it.each(['asc', 'desc'])('gives 4 MiB of texts at most, and goes on, %s', async order => {
    const host = await openWith(['k0', 0, 1])
    const value = 'x'.repeat(60_000)
    const keys = Array.from({ length: 20 }, (_, n) => `k${n}`)
    for (const key of keys) {
      await host.write(...Array.from({ length: 12 }, (_, n) => ({ key, value, datetime: at(n) })))
    }
    const query = `keys=${keys.join(',')}&aggregate=last&interval=1m&order=${order}`
    expect((await host.ask(query)).body.length).toBeLessThan(6 * 1024 * 1024)
    const minutes = Array.from({ length: 12 }, (_, n) => at(order === 'asc' ? n : 11 - n))
    for (const items of Object.values(await walk(host, query))) {
      expect(items.map(({ datetime }) => datetime)).toEqual(minutes)
    }
  })

  it('gives 40,000 intervals of all keys at most, and empty ones in the same places', async () => {
    const host = await openWith(['a', 0, 1])
    const keys = Array.from({ length: 20 }, (_, n) => (n === 0 ? 'a' : `k${n}`)).join(',')
    const range = 'startDate=2026-01-01T00:00:00Z&endDate=2026-01-01T01:00:00Z&order=asc'
    const query = `keys=${keys}&aggregate=count&interval=1s&empty=true&${range}`
    const sizesOf = (body: Record<string, unknown[]>) =>
      new Set(Object.values(body).map(({ length }) => length))
    expect(sizesOf((await host.ask(`${query}&limit=10000`)).json())).toEqual(new Set([2000]))
    expect(sizesOf(await walk(host, `${query}&limit=10000`))).toEqual(new Set([3600]))
    expect(sizesOf((await host.ask(query)).json())).toEqual(new Set([1000]))
  })

  it.each([
    ['', 'invalid_keys'],
    ['keys=', 'invalid_keys'],
    ['keys=a,', 'invalid_keys'],
    ['keys=a,b c', 'invalid_keys'],
    ['keys=a&keys=b', 'invalid_keys'],
    ['keys=..', 'invalid_keys'],
    ['keys=$', 'invalid_keys'],
    [`keys=${Array.from({ length: 21 }, (_, n) => `k${n}`)}`, 'invalid_keys'],
    [`keys=${'k'.repeat(129)}`, 'invalid_keys'],
  ])('refuses ?%s', async (query, reason) => {
    const { ask } = await openWith(['a', 0, 1])
    expect(reasonOf(await ask(`${query}&aggregate=count&interval=1h`))).toBe(reason)
  })

  it.each([
    ['', 'invalid_aggregate'],
    ['interval=1h', 'invalid_aggregate'],
    ['aggregate=median&interval=1h', 'invalid_aggregate'],
    ['aggregate=avg', 'invalid_interval'],
    ['aggregate=avg&interval=1h&limit=0', 'invalid_limit'],
    ['aggregate=avg&interval=1h&startDate=x', 'invalid_range'],
    ['aggregate=avg&interval=1h&order=x', 'invalid_query'],
  ])('refuses keys with ?%s', async (query, reason) => {
    const { ask } = await openWith(['a', 0, 1])
    expect(reasonOf(await ask(`keys=a&${query}`))).toBe(reason)
  })

  it('asks for a credential of the thing once, before it looks at the query', async () => {
    const { inject, things, thingId } = await openWith(['a', 0, 1])
    const { sessionToken } = await things.sessions.create([thingId], { access: 'read', expiresIn: 60 })
    const ask = (query: string, authorization?: string) =>
      inject({
        url: `/v2/things/${thingId}/aggregates?${query}`,
        ...(authorization && { headers: { authorization } }),
      })
    const query = 'keys=a&aggregate=count&interval=1h'
    expect((await ask(query, sessionToken)).statusCode).toBe(200)
    expect((await ask(query, asAdmin.authorization)).statusCode).toBe(200)
    expect(reasonOf(await ask('keys=', 'x'.repeat(43)))).toBe('invalid_session')
    expect(reasonOf(await ask('keys='))).toBe('missing_credential')
    expect(reasonOf(await inject({ url: `/v2/things/${'a'.repeat(43)}/aggregates` }))).toBe(
      'unknown_thing_token',
    )
    const head = await inject({
      method: 'HEAD',
      url: `/v2/things/${thingId}/aggregates?${query}`,
      headers: asAdmin,
    })
    expect([head.statusCode, head.body]).toEqual([200, ''])
  })
})
