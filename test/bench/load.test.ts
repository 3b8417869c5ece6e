import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { subscribe } from '../../bench/load/subscribers.ts'
import {
  type HttpWrites,
  type LoadResult,
  type Marks,
  type MqttWrites,
  runWrites,
  startWriting,
} from '../../bench/load/writes.ts'
import { get, type Posts, post } from '../../bench/load/wrk.ts'
import { createThing, type Thing } from '../helpers/http-client.ts'
import { noRateLimits, type ServerProcess, startServer } from '../helpers/server-process.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const phases = { warmUp: 0.2, measured: 0.5 }
const noMarks: Marks = { onBegin: () => {}, onEnd: () => {} }
const host = '127.0.0.1'

let server: ServerProcess
let thing: Thing
let removeDirectory: () => Promise<void>
let lastKey = 0

beforeAll(async () => {
  const dataDir = await temporaryDirectory(remove => {
    removeDirectory = remove
  })
  server = await startServer({ dataDir, environment: noRateLimits })
  thing = await createThing(server)
})

afterAll(async () => {
  await server.stop()
  await removeDirectory()
})

describe('runWrites over MQTT', () => {
  it.each([
    { qos: 0 },
    { qos: 1 },
    { qos: 1, version: 5 },
    { qos: 0, version: 5, isAliased: true },
    { qos: 1, version: 5, isAliased: true },
  ] as const)('has an ack for each record that is stored: %o', async spoken => {
    const key = nextKey()
    const result = await runWrites({ ...mqttWrites({ key }), ...spoken }, phases, noMarks)
    expectComplete(result, await countStored(key))
    expect(result).not.toHaveProperty('latency')
  })

  it('deals topics to connections, each of which publishes to its own in turn', async () => {
    const key = nextKey()
    const others = await Promise.all(Array.from({ length: 3 }, () => createThing(server)))
    const topics = [thing, ...others].map(({ thingToken }) => `things/${thingToken}/write`)
    const { total } = await runWrites({ ...mqttWrites({ key }), connections: 2, topics }, phases, noMarks)
    const [first = 0, second = 0, third = 0, fourth = 0] = await Promise.all(
      [thing, ...others].map(each => countStored(key, each)),
    )
    expect(first + second + third + fourth).toBe(total)
    // The first connection has the first and the third topic.
    for (const ahead of [first - third, second - fourth]) expect([0, 1]).toContain(ahead)
  })

  it('sends all that is due, whatever is acked', async () => {
    const key = nextKey()
    const result = await runWrites(mqttWrites({ key, rate: 40 }), phases, noMarks)
    expectComplete(result, await countStored(key))
    expectLatency(result)
  })

  it('ends the measured stretch at a count of acks', async () => {
    const key = nextKey()
    const result = await runWrites(mqttWrites({ key }), { ...phases, measured: 60, acks: 1_000 }, noMarks)
    expectComplete(result, await countStored(key))
    expect(result.done).toBeGreaterThanOrEqual(1_000)
  })

  it('ends when so many acks are not received in time', async () => {
    const writes = mqttWrites({ key: nextKey(), rate: 10 })
    await expect(runWrites(writes, { ...phases, acks: 1_000_000 }, noMarks)).rejects.toThrow(
      '1000000 acks: not in',
    )
  })

  it('says when the measured stretch begins and ends', async () => {
    const calls: string[] = []
    const marks = { onBegin: () => void calls.push('begin'), onEnd: () => void calls.push('end') }
    await runWrites(mqttWrites({ key: nextKey() }), phases, marks)
    expect(calls).toEqual(['begin', 'end'])
  })

  it('goes on until it is stopped', async () => {
    const key = nextKey()
    const writing = await startWriting(mqttWrites({ key, rate: 400 }))
    await expect.poll(() => countStored(key)).toBeGreaterThan(0)
    const result = await writing.stop()
    expectComplete(result, await countStored(key))
    expectLatency(result)
  })

  it('ends when a connection is refused', async () => {
    const writes = { ...mqttWrites({ key: nextKey() }), username: 'nobody', password: 'wrong' }
    await expect(runWrites(writes, phases, noMarks)).rejects.toThrow(/^writer-\d: refused with CONNACK 4$/)
  })

  it('ends when nothing listens', async () => {
    const writes = { ...mqttWrites({ key: nextKey() }), ports: [1] }
    await expect(runWrites(writes, phases, noMarks)).rejects.toThrow('ECONNREFUSED')
  })

  it('ends when the server dies meanwhile', async () => {
    const mortal = await startServer({ dataDir: await temporaryDirectory(), environment: noRateLimits })
    const { thingToken } = await createThing(mortal)
    const port = Number(new URL(mortal.mqttUrl).port)
    const writes = {
      ...mqttWrites({ key: nextKey() }),
      ports: [port],
      username: thingToken,
      topics: [`things/${thingToken}/write`],
    }
    let wasAlive = false
    const onBegin = async () => {
      wasAlive = true
      await mortal.kill()
    }
    const marks = { ...noMarks, onBegin }
    await expect(runWrites(writes, { ...phases, measured: 600 }, marks)).rejects.toThrow(/^writer-\d: /)
    expect(wasAlive).toBe(true)
  })
})

describe('runWrites over HTTP', () => {
  it('has an answer for each record that is stored', async () => {
    const key = nextKey()
    const result = await runWrites(httpWrites({ key }), phases, noMarks)
    expectComplete(result, await countStored(key))
  })

  it('sends all that is due, whatever is answered', async () => {
    const key = nextKey()
    const result = await runWrites(httpWrites({ key, rate: 400 }), phases, noMarks)
    expectComplete(result, await countStored(key))
    expectLatency(result)
  })

  it('ends with what was answered instead', async () => {
    const writes = { ...httpWrites({ key: nextKey() }), paths: [`/v2/things/${'x'.repeat(43)}`] }
    await expect(runWrites(writes, phases, noMarks)).rejects.toThrow(
      /answered with 401: .*unknown_thing_token/,
    )
  })
})

describe('post', () => {
  it('counts no more answers than records are stored', async () => {
    const key = nextKey()
    const counts: number[] = []
    const count = async () => void counts.push(await countStored(key))
    const result = await post(posts({ key }), phases, { onBegin: count, onEnd: count })
    const [atBegin = 0, atEnd = 0] = counts
    expect(atBegin).toBeGreaterThan(0)
    expect(result.done).toBeGreaterThan(0)
    // What was on its way as the warm-up and the load ended is stored, too, of each connection.
    const unanswered = atEnd - atBegin - result.done
    expect(unanswered).toBeGreaterThanOrEqual(0)
    expect(unanswered).toBeLessThanOrEqual(6)
    expect(result.processorTime).toBeGreaterThan(0)
  })

  it('ends with what was answered instead', async () => {
    const wrong = { ...posts({ key: nextKey() }), url: `${server.url}/v2/things/${'x'.repeat(43)}` }
    await expect(post(wrong, phases, noMarks)).rejects.toThrow(/answered with 401: .*unknown_thing_token/)
  })

  it('ends when requests fail behind the first', async () => {
    const environment = { THINGWIRE_WRITES_PER_SECOND: '10' }
    const limited = await startServer({ dataDir: await temporaryDirectory(), environment })
    const { thingToken } = await createThing(limited)
    const url = `${limited.url}/v2/things/${thingToken}`
    await expect(post({ ...posts({ key: 'limited' }), url }, phases, noMarks)).rejects.toThrow(
      /wrk: \d+ requests failed/,
    )
    await limited.stop()
  })

  it('ends when the server dies meanwhile', async () => {
    const mortal = await startServer({ dataDir: await temporaryDirectory(), environment: noRateLimits })
    const { thingToken } = await createThing(mortal)
    const url = `${mortal.url}/v2/things/${thingToken}`
    const marks = { ...noMarks, onBegin: async () => void (await mortal.kill()) }
    await expect(post({ ...posts({ key: 'mortal' }), url }, phases, marks)).rejects.toThrow('wrk')
  })
})

describe('get', () => {
  it('counts answers', async () => {
    const key = nextKey()
    await post(posts({ key }), phases, noMarks)
    const paths = ['', '?limit=10'].map(query => `${pathOf(key)}${query}`)
    const result = await get({ url: server.url, connections: 3, paths }, phases, noMarks)
    expect(result.done).toBeGreaterThan(0)
    expect(result.processorTime).toBeGreaterThan(0)
  })

  it('ends with what was answered instead of the first', async () => {
    const paths = [pathOf('never-written')]
    await expect(get({ url: server.url, connections: 3, paths }, phases, noMarks)).rejects.toThrow(
      /answered with 404: .*unknown_resource/,
    )
  })

  it('ends when a path behind the first fails', async () => {
    const key = nextKey()
    await post(posts({ key }), phases, noMarks)
    const paths = [pathOf(key), pathOf('never-written')]
    await expect(get({ url: server.url, connections: 3, paths }, phases, noMarks)).rejects.toThrow(
      /wrk: \d+ requests failed/,
    )
  })
})

describe('subscribe', () => {
  it.each([
    { qos: 0, copies: 1 },
    { qos: 1, copies: 1 },
    { qos: 1, version: 5, identifiers: 'one', copies: 1 },
    { qos: 1, version: 5, identifiers: 'each', copies: 2 },
    { qos: 1, version: 5, identifiers: 'each', sessionExpiry: 600, copies: 2 },
  ] as const)('counts each message at each subscriber: %o', async ({ copies, ...own }) => {
    const key = nextKey()
    // Both match the key, and none of the retained values of other keys.
    const filters = [key, `${key}/#`].map(last => `things/${thing.thingToken}/values/${last}`)
    const subscriber = await subscribe({ ...subscription(''), filters, ...own })
    const { total } = await runWrites(mqttWrites({ key }), phases, noMarks)
    expect(await subscriber.drained()).toBe(2 * copies * total)
    expect(await subscriber.processorTime()).toBeGreaterThan(0)
    await subscriber.close()
  })

  it('ends when the filter is refused', async () => {
    await expect(subscribe(subscription('#'))).rejects.toThrow('SUBACK 128, when subscribing to #')
  })
})

interface Choice {
  readonly key: string
  readonly rate?: number
}

function mqttWrites({ key, rate }: Choice): MqttWrites {
  return {
    host,
    ports: [Number(new URL(server.mqttUrl).port)],
    connections: 3,
    clientIdPrefix: 'writer-',
    username: thing.thingToken,
    topics: [`things/${thing.thingToken}/write`],
    payload: body(key),
    qos: 1,
    window: 50,
    ...(rate === undefined ? {} : { rate }),
  }
}

function httpWrites({ key, rate }: Choice): HttpWrites {
  return {
    host,
    ports: [Number(new URL(server.url).port)],
    connections: 3,
    paths: [`/v2/things/${thing.thingToken}`],
    body: body(key),
    ...(rate === undefined ? {} : { rate }),
  }
}

function posts({ key }: Choice): Posts {
  const url = `${server.url}/v2/things/${thing.thingToken}`
  return { url, connections: 3, body: body(key) }
}

function subscription(filter: string) {
  const port = Number(new URL(server.mqttUrl).port)
  return {
    host,
    port,
    clientIdPrefix: 'subscriber-',
    username: thing.thingToken,
    filters: [filter],
    qos: 1,
    count: 2,
  } as const
}

function pathOf(key: string): string {
  return `/v2/things/${thing.thingToken}/resources/${key}`
}

function body(key: string): string {
  return JSON.stringify({ values: [{ key, value: 21.5 }] })
}

function nextKey(): string {
  return `temperature-${++lastKey}`
}

async function countStored(key: string, of = thing): Promise<number> {
  const url = `${server.url}/v2/things/${of.thingToken}/resources/${key}?aggregate=count&interval=1d`
  const days = (await (await fetch(url)).json()) as readonly { readonly count: number }[]
  return days.reduce((sum, { count }) => sum + count, 0)
}

function expectComplete(result: LoadResult, stored: number): void {
  expect(result).toMatchObject({ total: stored, unacked: 0 })
  expect(result.done).toBeLessThanOrEqual(stored)
  expect(result.processorTime).toBeGreaterThan(0)
}

/** Only that figures are there, and belong together: how good they are is the machine's. */
function expectLatency({ latency, lateness }: LoadResult): void {
  for (const figures of [latency, lateness]) {
    expect(figures?.p50).toBeGreaterThan(0)
    expect(figures?.max).toBeGreaterThanOrEqual(figures?.p99 ?? Number.POSITIVE_INFINITY)
  }
}
