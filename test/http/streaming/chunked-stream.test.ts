import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listeningHost, openHost, reasonOf } from '../host.ts'
import { openStream } from '../stream-client.ts'

const subscribed = '{"status":"success","message":"subscribed"}'

describe('GET /v2/things/<ref>', () => {
  it('answers at once, with simple headers', async () => {
    const { url } = await listeningHost()
    const stream = await openStream(url)
    const head = await stream.head()
    expect(head.split('\r\n')[0]).toBe('HTTP/1.1 200 OK')
    expect(head.toLowerCase()).toContain('\r\ncontent-type: application/json\r\n')
    expect(head.toLowerCase()).toContain('\r\ntransfer-encoding: chunked')
    expect(head.toLowerCase()).toContain('\r\nconnection: close')
    expect(head).not.toMatch(/content-length|\{/i)
    expect(await stream.next()).toBe(subscribed)
  })

  it('gives one chunk per write, as it was written', async () => {
    const { url, write } = await listeningHost()
    const stream = await openStream(url)
    expect(await stream.next()).toBe(subscribed)
    await write(
      { value: 21.5, key: 'a', datetime: '20261121093000', geo: { long: '2.22', lat: 41.41 }, other: 1 },
      { key: 'b', value: { deep: ['ü', null] } },
    )
    await write({ key: '$settings.name', value: 'x' })
    expect(await stream.next()).toBe(
      '[{"key":"a","geo":{"lat":41.41,"long":2.22},"datetime":"20261121093000","value":21.5},' +
        '{"key":"b","value":{"deep":["ü",null]}}]',
    )
    expect(await stream.next()).toBe('[{"key":"$settings.name","value":"x"}]')
  })

  it('gives one chunk per write when many come at once', async () => {
    const { url, inject, path, write } = await listeningHost()
    const stream = await openStream(url)
    expect(await stream.next()).toBe(subscribed)
    const values = Array.from({ length: 500 }, (_, value) => value)
    await Promise.all(
      values.map(value => inject({ method: 'POST', url: path, body: { values: [{ key: 'k', value }] } })),
    )
    await write({ key: 'long', value: 'x'.repeat(60_000) })
    for (const value of values) expect(await stream.next()).toBe(`[{"key":"k","value":${value}}]`)
    expect((await stream.next()).length).toBeGreaterThan(60_000)
  })

  it('leaves out what is not to be broadcast and what was stored before, and gives what is not to be stored', async () => {
    const { url, inject, path, write } = await listeningHost()
    const stream = await openStream(url)
    expect(await stream.next()).toBe(subscribed)
    const post = (query: string, value: number) =>
      inject({ method: 'POST', url: `${path}?${query}`, body: { values: [{ key: 'k', value }] } })
    const again = { key: 'k', value: 1, datetime: '2026-01-01T00:00:00Z' }
    await write(again)
    await write(again)
    await post('broadcast=false', 2)
    await post('store=false', 3)
    await post('store=false&broadcast=false', 4)
    await write({ key: 'k', value: 5 })
    const values = async () => JSON.parse(await stream.next())[0].value
    expect([await values(), await values(), await values()]).toEqual([1, 3, 5])
  })

  it('gives nothing of other things', async () => {
    const { url, things, inject, write } = await listeningHost()
    const other = await things.registry.create({})
    const stream = await openStream(url)
    expect(await stream.next()).toBe(subscribed)
    const body = { values: [{ key: 'k', value: 'other' }] }
    await inject({ method: 'POST', url: `/v2/things/${other.thingToken}`, body })
    await write({ key: 'k', value: 'own' })
    expect(await stream.next()).toBe('[{"key":"k","value":"own"}]')
  })

  it('sends {} at the asked period', async () => {
    const { url } = await listeningHost()
    const begin = performance.now()
    const stream = await openStream(`${url}?keepAlive=1`)
    expect(await stream.next()).toBe(subscribed)
    expect([await stream.next(), await stream.next()]).toEqual(['{}', '{}'])
    // Clamped to a second; how late it may be is no business of a test.
    expect(performance.now() - begin).toBeGreaterThan(1_900)
  })

  it('outlasts the time for which the host lets a connection be silent', async () => {
    const host = await openHost({ fastify: { connectionTimeout: 300 } })
    const stream = await openStream(
      `${(await host.app.listen({ host: '127.0.0.1', port: 0 })) + host.path}?keepAlive=1000`,
    )
    expect([await stream.next(), await stream.next()]).toEqual([subscribed, '{}'])
  })

  it.each(['0', '-1', '1.5', 'x', '', '1&keepAlive=1'])('refuses keepAlive=%s', async keepAlive => {
    const { inject, path } = await openHost()
    const answer = await inject({ url: `${path}?keepAlive=${keepAlive}` })
    expect([answer.statusCode, reasonOf(answer)]).toEqual([400, 'invalid_query'])
  })

  it('answers HEAD with the headers alone', async () => {
    const { url } = await listeningHost()
    const response = await fetch(url, { method: 'HEAD' })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('content-length')).toBeNull()
    const events = await fetch(url, { method: 'HEAD', headers: { accept: 'text/event-stream' } })
    expect(events.headers.get('content-type')).toBe('text/event-stream')
  })

  it('may be read by a page of another origin', async () => {
    const { url } = await listeningHost()
    const stream = await openStream(url, { origin: 'https://dashboard.example' })
    expect(await stream.head()).toContain('access-control-allow-origin: *')
  })

  it('gives a document with every data event of a client that parses each as one', async () => {
    const { url, write } = await listeningHost()
    const request = get(`${url}?keepAlive=1000`)
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    onTestFinished(() => void request.destroy())
    const documents: unknown[] = []
    let wake = () => {}
    response.on('data', data => {
      documents.push(JSON.parse(data))
      wake()
    })
    const until = async (isReached: () => boolean) => {
      while (!isReached()) await new Promise<void>(resolve => (wake = resolve))
    }
    await until(() => documents.length > 0)
    for (let value = 0; value < 300; value++) await write({ key: 'k', value })
    await until(() => JSON.stringify(documents.at(-1)) === '{}' && documents.length > 300)
    expect(documents[0]).toEqual(JSON.parse(subscribed))
    const written = documents.filter(document => Array.isArray(document)).flat()
    expect(written).toEqual(Array.from({ length: 300 }, (_, value) => ({ key: 'k', value })))
  })
})
