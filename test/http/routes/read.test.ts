import { describe, expect, it } from 'vitest'
import { openHost, reasonOf } from '../host.ts'

const day = '2026-01-01T'
const hours = Array.from({ length: 10 }, (_, hour) => ({
  key: 't',
  value: hour,
  datetime: `${day}0${hour}:00:00.000Z`,
}))

async function openWithHours() {
  const host = await openHost()
  await host.write(...hours)
  const read = async (query: string) => await host.inject({ url: `${host.path}/resources/t?${query}` })
  const values = async (query: string) =>
    (await read(query)).json().map((item: { value: unknown }) => item.value)
  return { ...host, read, values }
}

describe('GET …/resources/<key>', () => {
  it('gives the newest record alone unless asked for more', async () => {
    const { read } = await openWithHours()
    const answer = await read('')
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json')
    expect(answer.body).toBe(`[{"key":"t","value":9,"datetime":"${day}09:00:00.000Z"}]`)
  })

  it('gives values to the letter, and geo', async () => {
    const { inject, path } = await openHost()
    const value = '{"b":[1e+300,"\\ud83d"],"a":null}'
    const body = `{"values":[{"datetime":"2026","key":"k","value":${value},"geo":{"long":"2.5","lat":-1}}]}`
    const sent = body.replace('"2026"', '"20260101000000"')
    expect((await inject({ method: 'POST', url: path, body: sent })).statusCode).toBe(201)
    const item = `{"key":"k","value":${value},"datetime":"${day}00:00:00.000Z","geo":{"lat":-1,"long":2.5}}`
    expect((await inject({ url: `${path}/resources/k` })).body).toBe(`[${item}]`)
  })

  it('takes startDate as inclusive and endDate as exclusive', async () => {
    const { values } = await openWithHours()
    expect(await values('limit=9&startDate=20260101030000&endDate=20260101060000')).toEqual([5, 4, 3])
    expect(await values('limit=9&order=asc&startDate=2026-01-01T07:00Z')).toEqual([7, 8, 9])
    expect(await values('startDate=20270101000000')).toEqual([])
    expect(await values('endDate=1960-01-01T00:00:00Z')).toEqual([])
  })

  it('reads the plus of a zone that was not encoded', async () => {
    const { values } = await openWithHours()
    expect(await values('limit=9&startDate=2026-01-01T09:00:00+01:00')).toEqual([9, 8])
    expect(await values('limit=9&startDate=2026-01-01T09:00:00%2B01:00')).toEqual([9, 8])
    expect(await values('limit=9&startDate=2026-01-01+08:00')).toEqual([9, 8])
  })

  it('clamps a limit over 1,000', async () => {
    const { write, values } = await openWithHours()
    await write(...Array.from({ length: 1001 }, () => ({ key: 't', value: 'x' })))
    expect(await values('limit=99999999999999999999')).toHaveLength(1000)
  })

  it.each([
    ['limit=0', 'invalid_limit'],
    ['limit=-1', 'invalid_limit'],
    ['limit=1.5', 'invalid_limit'],
    ['limit=', 'invalid_limit'],
    ['limit=1&limit=2', 'invalid_limit'],
    ['startDate=20260230000000', 'invalid_range'],
    ['endDate=', 'invalid_range'],
    ['endDate=1&endDate=2', 'invalid_range'],
    ['order=up', 'invalid_query'],
    ['interval=1h', 'invalid_query', 'interval needs aggregate'],
    ['interval=banana', 'invalid_query', 'interval needs aggregate'],
    ['tz=Europe/Madrid&limit=5', 'invalid_query', 'tz needs aggregate or points'],
    ['tz=Mars/X', 'invalid_query', 'tz needs aggregate or points'],
    ['empty=false', 'invalid_query', 'empty needs aggregate or points'],
    ['empty', 'invalid_query', 'empty needs aggregate or points'],
    ['interval=1h&tz=Europe/Madrid&empty=1', 'invalid_query', 'interval needs aggregate'],
    ['cursor=AAAA&points=10', 'invalid_query', 'cursor is for records, not for intervals'],
    ['cursor=AAAA&aggregate=avg&interval=1h', 'invalid_query', 'cursor is for records, not for intervals'],
    ['cursor=nonsense', 'invalid_cursor'],
    ['cursor=', 'invalid_cursor'],
  ])('refuses ?%s', async (query, reason, message = expect.any(String)) => {
    const { read } = await openWithHours()
    const answer = await read(query)
    expect(answer.statusCode).toBe(400)
    expect(reasonOf(answer)).toBe(reason)
    expect(answer.json().message).toEqual(message)
  })

  it('links to the next page with the other parameters as they were', async () => {
    const { inject, read, path } = await openWithHours()
    const seen: number[] = []
    let answer = await read(
      'limit=3&order=asc&startDate=2026-01-01T01:00:00%2B00:00&endDate=2027-01-01T00:00:00%2B00:00',
    )
    for (;;) {
      seen.push(...answer.json().map((item: { value: number }) => item.value))
      const link = answer.headers.link as string | undefined
      if (link === undefined) break
      const [, query = ''] = /^<(.+)>; rel="next"$/.exec(link) ?? []
      // Alone, it is of any prefix that a proxy may have put in front of the path.
      expect(query.startsWith('?limit=3&order=asc&startDate=')).toBe(true)
      expect(new URLSearchParams(query).get('endDate')).toBe('2027-01-01T00:00:00+00:00')
      answer = await inject({ url: `${path}/resources/t${query}` })
    }
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('answers 404 for a key that was never written or cannot be', async () => {
    const { inject, path } = await openWithHours()
    for (const key of ['T', 't.', 'a%20b', '%00', '%2e%2e%2ft', '$x%00', 'x'.repeat(129), '$settings.name']) {
      const answer = await inject({ url: `${path}/resources/${key}` })
      expect(answer.statusCode).toBe(404)
      expect(reasonOf(answer)).toBe('unknown_resource')
    }
  })

  it('answers HEAD like GET, without the body', async () => {
    const { inject, path } = await openWithHours()
    const url = `${path}/resources/t`
    const [get, head] = [await inject({ url }), await inject({ method: 'HEAD', url })]
    expect(head.statusCode).toBe(200)
    expect(head.body).toBe('')
    expect(head.headers['content-length']).toBe(get.headers['content-length'])
    expect(head.headers['content-type']).toBe('application/json')
  })
})
