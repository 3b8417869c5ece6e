import { describe, expect, it } from 'vitest'
import { openHost } from '../host.ts'

const json = 'application/json'
const csv = 'text/csv; charset=utf-8'
const ndjson = 'application/x-ndjson'
const events = 'text/event-stream'

/** RFC 9110, 12.5.1: by quality, then by how specific a range is, then in the order of the header. */
describe('Accept', () => {
  it.each([
    [undefined, json],
    ['', json],
    ['*/*', json],
    ['text/csv', csv],
    ['TEXT/CSV', csv],
    ['text/csv;q=0', json],
    ['application/json, text/csv;q=0', json],
    ['application/json;q=1.0, text/csv;q=0.1', json],
    ['application/json;q=0.1, text/csv;q=1.0', csv],
    ['text/html, text/csv;q=0.9, */*;q=0.1', csv],
    ['text/csv;q=0.5, application/x-ndjson;q=0.6', ndjson],
    ['application/x-ndjson, text/csv', ndjson],
    ['text/*', csv],
    ['application/*, text/csv;q=0.9', json],
    ['*/*, application/json;q=0', csv],
    ['*/*;q=0.1, application/x-ndjson', ndjson],
    ['text/csv;header=present', csv],
    ['text/csv ; q = 0.001', csv],
    ['text/csv; q=0', json],
    ['text/csv; q=0.1, application/json; q=1.0', json],
    ['text/csv;\tQ=0.000', json],
    ['text/csv ;Q=0.1 ,application/json ; q = 0.2', json],
    ['application/json; q=0.1, text/csv', csv],
    ['application/json; charset=utf-8; q=0.1, text/csv; header=present; q=0.2', csv],
    ['application/json; q=0.5; a; =; q=1, text/csv; q=0.6', csv],
    ['text/csv; header="a, b; q=0"; q=0.9, application/json; q=0.8', csv],
    ['text/csv; header="\\"; q=1"; q=0, application/json; q=0.1', json],
    ['text/csv;\t \t;q=0, */*; q=0.1', json],
    ['text/csv; quality=0', csv],
    ['text/csv; header="a', csv],
    ['text/csvx', json],
    ['x-text/csv', json],
    ['application/xml', json],
    [';;,q=', json],
  ])('%j on a resource gives %s', async (accept, wanted) => {
    const { inject, path, write } = await openHost()
    await write({ key: 'k', value: 1 })
    const headers = accept === undefined ? {} : { accept }
    const answer = await inject({ url: `${path}/resources/k`, headers })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe(wanted)
    expect(answer.headers.vary).toBe('Accept')
  })

  it.each([
    [undefined, json],
    ['*/*', json],
    ['text/event-stream', events],
    ['text/event-stream;q=0', json],
    ['application/json, text/event-stream;q=0.1', json],
    ['application/json;q=0.2, text/event-stream', events],
    ['text/event-stream; q=0.1, application/json; q=1.0', json],
    ['text/event-stream; q=0', json],
    ['text/*', events],
    ['text/event-streams', json],
  ])('%j on a stream gives %s', async (accept, wanted) => {
    const { inject, path } = await openHost()
    const headers = accept === undefined ? {} : { accept }
    const answer = await inject({ method: 'HEAD', url: path, headers })
    expect(answer.headers['content-type']).toContain(wanted)
    expect(answer.headers.vary).toBe('Accept')
  })

  it('varies beside the origin', async () => {
    const { inject, path, write } = await openHost({
      plugin: { allowedOrigins: ['https://page.example'] },
    })
    await write({ key: 'k', value: 1 })
    const answer = await inject({ url: `${path}/resources/k`, headers: { origin: 'https://page.example' } })
    expect(answer.headers.vary).toBe('Origin, Accept')
  })
})
