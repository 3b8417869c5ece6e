import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { EventSource } from '../event-source.ts'
import { connectTo, type Host, listeningHost, postText } from '../host.ts'
import { openStream } from '../stream-client.ts'

const minutes = 60_000
const sse = { accept: 'text/event-stream' }

describe('GET /v2/things/<ref> with Accept: text/event-stream', () => {
  it('gives one event per write: its full records, and an id', async () => {
    const { url, write } = await listeningHost()
    const stream = await openStream(url, sse)
    expect((await stream.head()).toLowerCase()).toContain('\r\ncontent-type: text/event-stream\r\n')
    expect(await stream.next()).toMatch(/^id: \S+\n\n$/)
    const datetime = '2026-01-01T00:00:00.000Z'
    await write(
      { key: 'a', value: 'two\nlines', geo: { lat: 1, long: 2 }, datetime: '20260101000000' },
      { key: '$geo', value: [2, 1], datetime },
    )
    expect(await stream.next()).toMatch(/^event: values\nid: \S+\ndata: \[.*\]\n\n$/)
    const source = await openEvents(url)
    await write({ key: 'b', value: null, geo: { lat: 1, long: 2 }, datetime })
    const { event, data, lastEventId } = await source.next()
    expect(event).toBe('values')
    expect(JSON.parse(data)).toEqual([{ key: 'b', value: null, datetime, geo: { lat: 1, long: 2 } }])
    expect(lastEventId).not.toMatch(/[{\s]/)
  })

  it('sends a comment at the asked period', async () => {
    const { url } = await listeningHost()
    const source = await openEvents(`${url}?keepAlive=1000`)
    await source.until(() => source.parser.comments === 2)
    expect(source.parser.events).toEqual([])
  })

  it('shows the records of a page as REST does', async () => {
    const { url, write, inject, path } = await listeningHost()
    const source = await openEvents(url)
    await write({ key: 'k', value: { b: 1, a: [-0, 1e3] }, geo: { lat: '1.50', long: 2 } })
    const answer = await inject({ url: `${path}/resources/k` })
    expect((await source.next()).data).toBe(answer.body)
  })
})

describe('Last-Event-ID', () => {
  it('resumes before the first event', async () => {
    const { url, write } = await listeningHost()
    const source = await openEvents(url)
    const id = source.lastEventId
    await source.destroy()
    await write({ key: 'k', value: 1 })
    const again = await openEvents(url, id)
    await write({ key: 'k', value: 2 })
    expect(await valuesOf(again, 2)).toEqual([1, 2])
  })

  it('gives to the second client what the first one has had', async () => {
    const { url, write } = await listeningHost()
    const first = await openEvents(url)
    await write({ key: 'k', value: 1 })
    const { lastEventId } = await first.next()
    await write({ key: 'k', value: 2 })
    const second = await openEvents(url)
    await write({ key: 'k', value: 3 })
    expect(await valuesOf(second, 1)).toEqual([3])
    expect(await valuesOf(await openEvents(url, second.parser.events[0]?.lastEventId ?? ''), 0)).toEqual([])
    expect(await valuesOf(await openEvents(url, lastEventId), 2)).toEqual([2, 3])
  })

  it('neither skips nor repeats anything over 20 cuts while writes go on', async () => {
    const { url, path, app } = await listeningHost()
    const seed = Date.now()
    const random = seeded(seed)
    const got: number[] = []
    const unstored: number[] = []
    const expected: number[] = []
    const isUnstored = (value: number) => value % 11 === 3
    let lastEventId = (await openEvents(url)).lastEventId
    let isDone = false
    const writing = (async () => {
      const writer = await openPipeline(app)
      for (let value = 0; !isDone; ) {
        const requests: string[] = []
        for (const end = value + 20; value < end; value++) {
          const query = isUnstored(value) ? '?store=false' : value % 13 === 5 ? '?broadcast=false' : ''
          if (query === '') expected.push(value)
          const records = Array.from({ length: 1 + random(3) }, () => ({
            key: 'k',
            value: 'ü'.repeat(random(40)),
          }))
          requests.push(postText(path + query, { values: [{ key: 'n', value }, ...records] }))
        }
        await writer.post(requests)
      }
    })()
    const take = (source: EventSource) => {
      for (const { event, data } of source.parser.events) {
        const { value } = JSON.parse(data)[0]
        if (event !== 'values') throw new Error(`${event} with seed ${seed}`)
        if (isUnstored(value)) unstored.push(value)
        else got.push(value)
      }
    }
    for (let cut = 0; cut < 20; cut++) {
      const source = await EventSource.open(url, lastEventId, 1 + random(cut % 2 === 0 ? 2_000 : 60_000))
      await source.client.closed
      take(source)
      lastEventId = source.lastEventId
    }
    isDone = true
    await writing
    const last = await openEvents(url, lastEventId)
    const newest = expected.at(-1)
    await last.until(() => last.parser.events.some(({ data }) => JSON.parse(data)[0].value === newest))
    take(last)
    expect(got, `seed ${seed}`).toEqual(expected)
    expect(unstored, `seed ${seed}`).toEqual([...new Set(unstored)].toSorted((a, b) => a - b))
  })

  it('does not give again what is not stored, nor an id with it', async () => {
    const { url, write, inject, path } = await listeningHost()
    const source = await openEvents(url)
    await write({ key: 'k', value: 1 })
    const { lastEventId } = await source.next()
    await inject({ method: 'POST', url: `${path}?store=false`, body: { values: [{ key: 'k', value: 2 }] } })
    expect((await source.next()).lastEventId).toBe(lastEventId)
    await write({ key: 'k', value: 3 })
    expect(await valuesOf(await openEvents(url, lastEventId), 1)).toEqual([3])
    await source.destroy()
  })

  it.each(['nonsense', 'xxxxxxxx.1', '1', '../..'])('answers the unknown id %s with reset', async id => {
    const { url, write } = await listeningHost()
    await write({ key: 'k', value: 1 })
    const source = await openEvents(url, id)
    const { event, data, lastEventId } = await source.next()
    expect([event, data === '', lastEventId === id]).toEqual(['reset', false, false])
    await write({ key: 'k', value: 2 })
    expect(await valuesOf(source, 1)).toEqual([2])
    expect(await valuesOf(await openEvents(url, lastEventId), 1)).toEqual([2])
  })

  it('answers an id of a time when the thing was not streamed with reset', async () => {
    const { url, things, write, inject } = await listeningHost()
    const other = await things.registry.create({})
    const otherUrl = url.replace(/[^/]+$/, other.thingToken)
    const source = await openEvents(otherUrl)
    await inject({
      method: 'POST',
      url: `/v2/things/${other.thingToken}`,
      body: { values: [{ key: 'k', value: 0 }] },
    })
    const { lastEventId } = await source.next()
    await write({ key: 'k', value: 1 })
    const reset = await openEvents(url, lastEventId)
    expect((await reset.next()).event).toBe('reset')
    await write({ key: 'k', value: 2 })
    expect(await valuesOf(reset, 1)).toEqual([2])
  })

  it('answers an id that is ahead of the store with reset', async () => {
    const { url } = await listeningHost()
    const { lastEventId } = await openEvents(url)
    const [run] = lastEventId.split('.')
    expect((await (await openEvents(url, `${run}.999999`)).next()).event).toBe('reset')
  })

  it('is good for the newest 1,000 writes when the log was trimmed, and answered with reset before', async () => {
    const { url, things, thingId, write } = await listeningHost()
    const source = await openEvents(url)
    for (let value = 0; value < 1_500; value++) await write({ key: 'k', value })
    await source.until(() => source.parser.events.length === 1_500)
    await things.live.log.trim()
    expect(await things.documents.get(`streams/${thingId}`)).toEqual({ since: 500 })
    const idOf = (value: number) => source.parser.events[value]?.lastEventId ?? ''
    const resumed = await openEvents(url, idOf(499))
    await resumed.until(() => resumed.parser.events.length === 1_000)
    expect(JSON.parse(resumed.parser.events[0]?.data ?? '')[0].value).toBe(500)
    expect((await (await openEvents(url, idOf(100))).next()).event).toBe('reset')
    expect(
      (await things.records.readLog({ after: 0, before: Infinity, order: 'asc', limit: 1 }))[0],
    ).toMatchObject({
      records: [{ value: '500' }],
    })
  })

  it('is good for 1,000 stored writes, whatever else was written', async () => {
    const { url, things, path, inject, write } = await listeningHost()
    const source = await openEvents(url)
    const id = source.lastEventId
    for (let value = 0; value < 1_000; value++) {
      await write({ key: 'k', value })
      await inject({ method: 'POST', url: `${path}?store=false`, body: { values: [{ key: 'k', value }] } })
    }
    await source.until(() => source.parser.events.length === 2_000)
    await things.live.log.trim()
    const resumed = await openEvents(url, id)
    await resumed.until(() => resumed.parser.events.length === 1_000)
  })

  it('is good for 10 min after the last stream has ended', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { url, app, things, thingId, write } = await listeningHost()
    const [source, other] = [await openEvents(url), await openEvents(url)]
    await other.destroy()
    await vi.advanceTimersByTimeAsync(11 * minutes)
    await source.destroy()
    while ((await connectionsOf(app)) > 0) await nextTurn()
    await vi.advanceTimersByTimeAsync(9 * minutes)
    await write({ key: 'k', value: 1 })
    const resumed = await openEvents(url, source.lastEventId)
    expect(await valuesOf(resumed, 1)).toEqual([1])
    await resumed.destroy()
    while ((await connectionsOf(app)) > 0) await nextTurn()
    expect(await things.documents.get(`streams/${thingId}`)).toBeDefined()
    await vi.advanceTimersByTimeAsync(10 * minutes)
    expect(await things.documents.get(`streams/${thingId}`)).toBeUndefined()
    expect((await (await openEvents(url, source.lastEventId)).next()).event).toBe('reset')
  })

  it('keeps what a stream is reading again from being trimmed', async () => {
    const { url, things, write } = await listeningHost()
    const source = await openEvents(url)
    const value = 'x'.repeat(20_000)
    for (let count = 0; count < 1_500; count++) await write({ key: 'k', value: `${count} ${value}` })
    await source.until(() => source.parser.events.length === 1_500)
    const resumed = await openEvents(url, source.parser.events[0]?.lastEventId)
    resumed.client.socket.pause()
    for (let count = 1_500; count < 1_600; count++) await write({ key: 'k', value: count })
    await things.live.log.trim()
    resumed.client.socket.resume()
    await resumed.until(() => resumed.parser.events.length === 1_599)
    const numbers = resumed.parser.events.map(({ data }) => Number.parseInt(JSON.parse(data)[0].value, 10))
    expect(numbers).toEqual(Array.from({ length: 1_599 }, (_, index) => index + 1))
  })
})

function connectionsOf({ server }: Host['app']): Promise<number> {
  return promisify(server.getConnections.bind(server))()
}

function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

/** A connection on which requests are sent without waiting for the answers to those before. */
async function openPipeline(app: Host['app']) {
  const { socket } = await connectTo(app)
  let answers = 0
  let wake = () => {}
  socket.on('data', bytes => {
    answers += bytes.toString('latin1').split('HTTP/1.1 201').length - 1
    wake()
  })
  let posted = 0
  return {
    /** Resolves when all are answered with 201. */
    post: async (requests: readonly string[]) => {
      posted += requests.length
      socket.write(requests.join(''))
      while (answers < posted) {
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
    },
  }
}

/** An EventSource that is closed at the end of the test, once it knows from where to resume. */
async function openEvents(url: string, lastEventId = ''): Promise<EventSource> {
  const source = await EventSource.open(url, lastEventId)
  onTestFinished(() => {
    source.client.socket.destroy()
  })
  await source.client.head()
  await source.identified()
  return source
}

/** The values of the first records of the next events. */
async function valuesOf(source: EventSource, count: number): Promise<unknown[]> {
  const values: unknown[] = []
  while (values.length < count) values.push(JSON.parse((await source.next()).data)[0].value)
  return values
}

/** Whole numbers below a bound, the same ones for the same seed. */
function seeded(seed: number): (bound: number) => number {
  let state = seed >>> 0
  return bound => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}
