import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { ThingwireError } from '../../../src/errors.ts'
import type { StoreDriver } from '../../../src/store/contract.ts'
import { createMemoryStore } from '../../../src/store/memory/index.ts'
import { readCsv } from '../../cli/records/read-file.ts'
import { connectTo, openHost, reasonOf } from '../host.ts'

const datetime = '2026-01-01T00:00:00.000Z'
const csv = { accept: 'text/csv' }
const ndjson = { accept: 'application/x-ndjson' }

describe('Accept: text/csv', () => {
  it('gives scalars plain, the rest as JSON, quoted by RFC 4180', async () => {
    const { inject, path, write } = await openHost()
    const values = [1.5, true, 'plain', 'a,b', 'say "hi"', 'two\nlines', '', { a: [1, 'x'] }, 'ü']
    await write(...values.map(value => ({ key: 'k', value, datetime })))
    await write({ key: 'k', value: null, geo: { lat: 1, long: -2.5 }, datetime })
    const answer = await inject({ url: `${path}/resources/k?order=asc`, headers: csv })
    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8')
    const fields = [
      '1.5',
      'true',
      'plain',
      '"a,b"',
      '"say ""hi"""',
      '"two\nlines"',
      '""',
      '"{""a"":[1,""x""]}"',
      'ü',
    ]
    const lines = [...fields.map(field => `${datetime},${field},,`), `${datetime},,1,-2.5`]
    expect(answer.body).toBe(['datetime,value,lat,long', ...lines, ''].join('\r\n'))
  })

  it('is read back as it was, with spaces at the ends of a text, too', async () => {
    const { inject, path, write } = await openHost()
    const spaces = [
      ' x ',
      'x ',
      '\tx',
      '\u00a0x\u00a0',
      ' ',
      ' a,b ',
      ' "q" ',
      '\nx\n',
      '\ufeffx',
      '\u2003',
      ' \r\n ',
      '',
    ]
    await write(...spaces.map(value => ({ key: 'k', value, datetime })))
    const { body } = await inject({ url: `${path}/resources/k?order=asc`, headers: csv })
    const { records } = await readCsv(body, { key: 'k' })
    expect(records.map(({ value }) => value)).toEqual(spaces)
  })

  it('is found anywhere in Accept', async () => {
    const { inject, path, write } = await openHost()
    await write({ key: 'k', value: 1, datetime })
    const headers = { accept: 'text/html, TEXT/CSV;q=0.9, */*;q=0.5' }
    expect((await inject({ url: `${path}/resources/k`, headers })).headers['content-type']).toContain(
      'text/csv',
    )
    const any = await inject({ url: `${path}/resources/k`, headers: { accept: '*/*' } })
    expect(any.headers['content-type']).toBe('application/json')
  })
})

describe('Accept: application/x-ndjson', () => {
  it('gives one item per line, newest first unless asked otherwise', async () => {
    const { inject, path, write } = await openHost()
    await write({ key: 'k', value: 1, datetime }, { key: 'k', value: { a: '\n' }, datetime })
    const answer = await inject({ url: `${path}/resources/k`, headers: ndjson })
    expect(answer.headers['content-type']).toBe('application/x-ndjson')
    expect(answer.body).toBe(
      `{"key":"k","value":{"a":"\\n"},"datetime":"${datetime}"}\n{"key":"k","value":1,"datetime":"${datetime}"}\n`,
    )
  })
})

describe('an export', () => {
  it('gives the whole range, or as many records as asked for', async () => {
    const { inject, path, write } = await openHost()
    await write(...Array.from({ length: 4321 }, (_, value) => ({ key: 'k', value })))
    const values = async (query: string) => {
      const answer = await inject({ url: `${path}/resources/k?${query}`, headers: ndjson })
      return answer.body
        .trim()
        .split('\n')
        .map(line => JSON.parse(line).value)
    }
    const all = Array.from({ length: 4321 }, (_, value) => value)
    expect(await values('order=asc')).toEqual(all)
    expect(await values('limit=2500')).toEqual(all.toReversed().slice(0, 2500))
  })

  it('is refused like a read', async () => {
    const { inject, path, write } = await openHost()
    await write({ key: 'k', value: 1 })
    for (const headers of [csv, ndjson]) {
      const get = async (rest: string) =>
        reasonOf(await inject({ url: `${path}/resources/${rest}`, headers }))
      expect(await get('other')).toBe('unknown_resource')
      expect(await get('k?limit=0')).toBe('invalid_limit')
      expect(await get('k?cursor=nonsense')).toBe('invalid_cursor')
    }
  })

  it('breaks the transfer when the store fails in the middle', async () => {
    let pages = 0
    const driver = storeWith(() => {
      if (++pages > 12) throw new ThingwireError('store_unavailable')
    })
    const host = await openHost({ driver, fastify: { bodyLimit: 8 * megabyte } })
    await host.write(...kilobytes(5000))
    const connection = await connectTo(host.app)
    connection.send(`GET ${host.path}/resources/k HTTP/1.1\r\nHost: a\r\nAccept: text/csv\r\n\r\n`)
    const received = await connection.closed()
    expect(received).toContain('HTTP/1.1 200 OK')
    expect(received.length).toBeGreaterThan(megabyte)
    expect(received.endsWith('0\r\n\r\n')).toBe(false)
  })

  it('answers 503 when the store fails before anything is sent', async () => {
    const driver = storeWith(() => {
      throw new ThingwireError('store_unavailable')
    })
    const { inject, path, write } = await openHost({ driver })
    await write({ key: 'k', value: 1 })
    const answer = await inject({ url: `${path}/resources/k`, headers: csv })
    expect(answer.statusCode).toBe(503)
    expect(reasonOf(answer)).toBe('store_unavailable')
    expect(answer.headers['retry-after']).toBe('5')
  })

  it('reads no faster than the client does', async () => {
    let pages = 0
    const driver = storeWith(() => pages++)
    const host = await openHost({ driver, fastify: { bodyLimit: 8 * megabyte } })
    for (let write = 0; write < 4; write++) await host.write(...kilobytes(5000))
    const connection = await connectTo(host.app)
    connection.socket.pause()
    const request = once(host.app.server, 'request')
    connection.send(`GET ${host.path}/resources/k HTTP/1.1\r\nHost: a\r\nAccept: text/csv\r\n\r\n`)
    const [, reply] = (await request) as [unknown, ServerResponse]
    while (!reply.writableNeedDrain) await nextTurn()
    for (let turn = 0; turn < 1000; turn++) await nextTurn()
    expect(pages).toBeLessThan(60)
    connection.socket.resume()
    const received = await connection.received('\r\n0\r\n\r\n')
    expect(received.match(/x{1000}/g)).toHaveLength(20_000)
    expect(pages).toBe(80)
  })
})

const megabyte = 1024 * 1024

function kilobytes(count: number) {
  const value = 'x'.repeat(1000)
  return Array.from({ length: count }, () => ({ key: 'k', value }))
}

function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

/** A store in memory that calls `onRead` before each page. */
function storeWith(onRead: () => void): StoreDriver {
  const driver = createMemoryStore()
  const read: typeof driver.records.read = async (...query) => {
    onRead()
    return await driver.records.read(...query)
  }
  return { ...driver, records: { ...driver.records, read } }
}
