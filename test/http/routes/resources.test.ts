import { describe, expect, it } from 'vitest'
import { connectTo, openHost, reasonOf } from '../host.ts'

describe('GET …/resources', () => {
  it('lists names, settings paths as the one document they are', async () => {
    const { inject, path, write } = await openHost()
    expect((await inject({ url: `${path}/resources` })).body).toBe('{"resources":[]}')
    await write(
      ...['b', 'a.b', 'a'].map(key => ({ key, value: 1 })),
      ...['$settings.x', '$settings.y.z', '$settings'].map(key => ({ key, value: { a: 1 } })),
      { key: '$geo', value: [1, 2] },
    )
    const { resources } = (await inject({ url: `${path}/resources` })).json()
    expect(resources).toEqual(['$geo', '$settings', 'a', 'a.b', 'b'])
  })
})

describe('GET …/all_resources', () => {
  it('gives the newest records of every resource', async () => {
    const { inject, path, write } = await openHost()
    expect((await inject({ url: `${path}/all_resources` })).body).toBe('[]')
    const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`
    await write(...[1, 2, 3].flatMap(n => ['a', 'b'].map(key => ({ key, value: n, datetime: at(n) }))))
    const item = (key: string, n: number) => ({ key, value: n, datetime: at(n) })
    expect((await inject({ url: `${path}/all_resources` })).json()).toEqual([
      { key: 'a', values: [item('a', 3)] },
      { key: 'b', values: [item('b', 3)] },
    ])
    const two = (await inject({ url: `${path}/all_resources?limit=2` })).json()
    expect(two[1]).toEqual({ key: 'b', values: [item('b', 3), item('b', 2)] })
    expect(reasonOf(await inject({ url: `${path}/all_resources?limit=0` }))).toBe('invalid_limit')
  })

  it('streams what is more than it holds back', async () => {
    const host = await openHost()
    const value = 'x'.repeat(60_000)
    for (let key = 0; key < 60; key++) await host.write({ key: `k${key}`, value })
    const answer = await host.inject({ url: `${host.path}/all_resources` })
    expect(answer.headers['content-length']).toBeUndefined()
    expect(answer.json()).toHaveLength(60)
    const head = await host.inject({ method: 'HEAD', url: `${host.path}/all_resources` })
    expect(head.statusCode).toBe(200)
    expect(head.headers['content-length']).toBeUndefined()
    const connection = await connectTo(host.app)
    connection.send(`HEAD ${host.path}/all_resources HTTP/1.1\r\nHost: a\r\n\r\n`)
    expect(await connection.received('\r\n\r\n')).toContain('200 OK')
  })
})
