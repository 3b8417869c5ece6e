import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { DoorService, eventually } from '../../mqtt/door-service.ts'
import { type ListeningHost, listeningHost, reasonOf } from '../host.ts'
import { openStream, type StreamClient } from '../stream-client.ts'

const limited = () => listeningHost(undefined, { limits: { streamsPerThing: 2 } })
const events = { accept: 'text/event-stream' }

async function statusOf(stream: StreamClient): Promise<string | undefined> {
  return (await stream.head()).split('\r\n')[0]
}

/** Ends a stream; resolves when the server knows. */
async function leave(
  { app }: ListeningHost,
  open: (headers: object) => Promise<StreamClient>,
  headers: object,
) {
  const connected = once(app.server, 'connection') as Promise<[Socket]>
  const stream = await open(headers)
  const [socket] = await connected
  const gone = new Promise<void>(resolve => socket.once('close', () => resolve()))
  expect(await statusOf(stream)).toBe('HTTP/1.1 200 OK')
  await stream.destroy()
  await gone
}

describe('streamsPerThing', () => {
  it('bounds the streams of a thing, of both forms together, and of no other thing', async () => {
    const { url, things, thingToken } = await limited()
    const other = await things.registry.create({})
    const open = [await openStream(url), await openStream(url, events)]
    for (const stream of open) expect(await statusOf(stream)).toBe('HTTP/1.1 200 OK')
    for (const headers of [{}, events]) {
      const answer = await fetch(url, { headers })
      const body = await answer.text()
      const received = { statusCode: answer.status, body, headers: Object.fromEntries(answer.headers) }
      expect([answer.status, reasonOf(received)]).toEqual([429, 'too_many_streams'])
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    }
    expect(things.limits.met.get('too_many_streams')).toBe(2)
    const ofOther = await openStream(url.replace(thingToken, other.thingToken))
    expect(await statusOf(ofOther)).toBe('HTTP/1.1 200 OK')
  })

  it('makes room for a page that is loaded again and again', async () => {
    const service = await DoorService.start({ limits: { streamsPerThing: 2 } })
    const { thingToken } = await service.createThing()
    const url = `${service.url}/v2/things/${thingToken}`
    /** The status of one more stream, which is left at once, as a browser does. */
    const load = async () => {
      const page = new AbortController()
      const { status } = await fetch(url, { headers: events, signal: page.signal })
      page.abort()
      return status
    }
    // The server may see the next one come before the last one go.
    for (let count = 0; count < 10; count++) await eventually(load).toBe(200)
  })

  it('counts neither HEAD, nor what was refused, nor a stream that has ended', async () => {
    const host = await limited()
    const { url, thingId, thingToken } = host
    await openStream(url)
    for (let count = 0; count < 4; count++) {
      expect((await fetch(url, { method: 'HEAD', headers: events })).status).toBe(200)
      expect((await fetch(`${url}?keepAlive=x`)).status).toBe(400)
      expect((await fetch(url.replace(thingToken, thingId))).status).toBe(401)
      for (const headers of [{}, events]) await leave(host, each => openStream(url, { ...each }), headers)
    }
    expect(await statusOf(await openStream(url))).toBe('HTTP/1.1 200 OK')
  })

  it('counts no stream that the log had no room for', async () => {
    const host = await limited()
    const { things, url, app } = host
    const { enter } = things.streamLog
    things.streamLog.enter = async () => {
      throw new Error('the store fails')
    }
    for (let count = 0; count < 4; count++) {
      const answer = await app.inject({ url: host.path, headers: events })
      expect(answer.statusCode).toBe(500)
    }
    things.streamLog.enter = enter
    expect(await statusOf(await openStream(url, events))).toBe('HTTP/1.1 200 OK')
  })
})
