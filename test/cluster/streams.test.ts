import { describe, expect, it, onTestFinished } from 'vitest'
import { openClient } from '../../src/store/redis/connection/connection.ts'
import { redisKeys } from '../../src/store/redis/keys.ts'
import type { RunningNodes } from '../helpers/cluster.ts'
import { createThing, readAll, type Thing, write } from '../helpers/http-client.ts'
import { nodesOfTest, nodesOfTests } from '../helpers/of-test.ts'
import { noRateLimits, type ServerProcess } from '../helpers/server-process.ts'
import { EventSource } from '../http/event-source.ts'
import { openStream } from '../http/stream-client.ts'

const cluster = nodesOfTests(2, { environment: noRateLimits })

/** Of every record: so they are read in the order in which they were committed (contract §4). */
const datetime = '2026-01-02T03:04:05.000Z'

async function writeValue(node: ServerProcess, thing: Thing, value: string): Promise<void> {
  const answer = await write(node, thing, { values: [{ key: 'n', value, datetime }] })
  expect(answer.status).toBe(201)
}

/** Writes through both nodes until it is stopped. @returns how to stop: resolves when all is acknowledged */
function writeThroughBoth(thing: Thing): () => Promise<void> {
  let isOver = false
  const writers = [0, 1, 0, 1].map(async (place, writer) => {
    for (let count = 0; !isOver; count++) await writeValue(cluster.node(place), thing, `${writer} ${count}`)
  })
  return async () => {
    isOver = true
    await Promise.all(writers)
  }
}

async function openEvents(node: ServerProcess, thing: Thing, lastEventId = ''): Promise<EventSource> {
  const source = await EventSource.open(`${node.url}/v2/things/${thing.thingToken}`, lastEventId)
  onTestFinished(() => source.destroy())
  await source.identified()
  return source
}

/** The values of the events so far; none may be a reset. */
function valuesOf({ parser }: EventSource): string[] {
  return parser.events.map(({ event, data }) => {
    if (event !== 'values') throw new Error(`an event ${event}: ${data}`)
    return JSON.parse(data)[0].value
  })
}

function has({ parser }: EventSource, value: string): boolean {
  return parser.events.some(({ event, data }) => event === 'values' && JSON.parse(data)[0].value === value)
}

async function committed(thing: Thing): Promise<unknown[]> {
  return (await readAll(cluster.node(0), thing, 'n')).map(({ value }) => value).toReversed()
}

describe('Last-Event-ID on another node', () => {
  it('resumes without gap or repeat while writes go on through both, however often', async () => {
    const thing = await createThing(cluster.node(0))
    const whole = await Promise.all(cluster.nodes.map(node => openEvents(node, thing)))
    const stop = writeThroughBoth(thing)
    const got: string[] = []
    let lastEventId = ''
    for (let hop = 0; hop < 30; hop++) {
      const source = await openEvents(cluster.node(hop % 2), thing, lastEventId)
      await source.until(() => source.parser.events.length >= 1 + (hop % 7) * 5)
      // What was received by the time that it is cut.
      await source.destroy()
      lastEventId = source.lastEventId
      got.push(...valuesOf(source))
      // Some writes are missed.
      if (hop % 3 === 0) await writeValue(cluster.node(0), thing, `between ${hop}`)
    }
    await stop()
    await writeValue(cluster.node(1), thing, 'last')
    const source = await openEvents(cluster.node(1), thing, lastEventId)
    await source.until(() => valuesOf(source).includes('last'))
    got.push(...valuesOf(source))
    const order = await committed(thing)
    expect(got).toEqual(order.slice(order.indexOf(got[0])))
    // Who stayed on one node has had all of it, in the same order on each.
    for (const each of whole) {
      await each.until(() => valuesOf(each).includes('last'))
      expect(valuesOf(each)).toEqual(order)
    }
  })

  it('resumes on a node that was not told yet what the client has from another', async () => {
    const thing = await createThing(cluster.node(0))
    const source = await openEvents(cluster.node(0), thing)
    for (let round = 0; round < 20; round++) {
      await writeValue(cluster.node(0), thing, `${round}`)
      await source.until(() => valuesOf(source).includes(`${round}`))
      const other = await openEvents(cluster.node(1), thing, source.lastEventId)
      await writeValue(cluster.node(1), thing, `${round} after`)
      await other.until(() => other.parser.events.length > 0)
      expect(valuesOf(other)).toEqual([`${round} after`])
      await other.destroy()
    }
  })

  it('resumes on a node that was started after the one that it had was killed', async () => {
    const nodes = await nodesOfTest(1)
    const thing = await createThing(nodes.node(0))
    const source = await openEvents(nodes.node(0), thing)
    await writeValue(nodes.node(0), thing, 'had')
    await source.until(() => valuesOf(source).length === 1)
    await nodes.node(0).kill()
    const next = await nodes.add()
    await writeValue(next, thing, 'missed')
    const resumed = await openEvents(next, thing, source.lastEventId)
    await writeValue(next, thing, 'live')
    await resumed.until(() => resumed.parser.events.length === 2)
    expect(valuesOf(resumed)).toEqual(['missed', 'live'])
  })

  it('is kept fresh while other things are written to', async () => {
    const [thing, other] = [await createThing(cluster.node(0)), await createThing(cluster.node(0))]
    const url = `${cluster.node(0).url}/v2/things/${thing.thingToken}?keepAlive=1000`
    const source = await EventSource.open(url)
    onTestFinished(() => source.destroy())
    await source.identified()
    const first = source.lastEventId
    await writeValue(cluster.node(1), other, 'of another thing')
    await forgetLog(cluster, cluster.nodes)
    await source.until(() => source.lastEventId !== first)
    expect(source.parser.events).toEqual([])
    await source.destroy()
    await writeValue(cluster.node(1), thing, 'missed')
    const resumed = await openEvents(cluster.node(1), thing, source.lastEventId)
    await resumed.until(() => resumed.parser.events.length > 0)
    expect(valuesOf(resumed)).toEqual(['missed'])
  })

  it('is answered with reset where it is unknown, and where the log does not go back so far', async () => {
    const thing = await createThing(cluster.node(0))
    const source = await openEvents(cluster.node(0), thing)
    const before = source.lastEventId
    await writeValue(cluster.node(0), thing, 'gone')
    await source.until(() => valuesOf(source).length === 1)
    const last = source.lastEventId
    await forgetLog(cluster, cluster.nodes)
    for (const id of [before, 'unknown', before.replace(/^./, first => (first === 'A' ? 'B' : 'A'))]) {
      for (const [index, node] of cluster.nodes.entries()) {
        const value = `${index} ${id}`
        const reset = await openEvents(node, thing, id)
        expect((await reset.next()).event).toBe('reset')
        await writeValue(node, thing, value)
        // A node may hear of what was written through the other only after the stream has begun.
        await reset.until(() => has(reset, value))
        const again = await openEvents(node, thing, reset.parser.events[0]?.lastEventId)
        await again.until(() => has(again, value))
        expect(valuesOf(again).at(-1)).toBe(value)
      }
    }
    const kept = await openEvents(cluster.node(1), thing, last)
    await kept.until(() => kept.parser.events.length > 0)
    expect(valuesOf(kept)[0]).toBe(`0 ${before}`)
  })
})

describe('a node that has missed commits', () => {
  it('ends its streams, and says reset to those of events when they come back', async () => {
    const nodes = await nodesOfTest(2)
    const stuck = nodes.node(1)
    const thing = await createThing(stuck)
    const chunks = await openStream(`${stuck.url}/v2/things/${thing.thingToken}`)
    await chunks.next()
    const source = await openEvents(stuck, thing)
    await writeValue(stuck, thing, 'had')
    await source.until(() => valuesOf(source).length === 1)
    stuck.process.kill('SIGSTOP')
    // Redis has an answer for it already that is waiting for this one.
    await writeValue(nodes.node(0), thing, 'on its way')
    await writeValue(nodes.node(0), thing, 'missed')
    await forgetLog(nodes, [])
    stuck.process.kill('SIGCONT')
    await chunks.closed
    await source.client.closed
    const reset = await openEvents(stuck, thing, source.lastEventId)
    expect((await reset.next()).event).toBe('reset')
    await writeValue(nodes.node(0), thing, 'live')
    expect((await reset.next()).data).toContain('live')
  })
})

/** Does to the log what time does: what is in it now is trimmed, when these nodes have read it. */
async function forgetLog({ redis, node }: RunningNodes, readers: readonly ServerProcess[]): Promise<void> {
  const keys = redisKeys('thingwire')
  const client = await openClient(redis.url)
  const newest = await client.hget(keys.head, 'number')
  for (const reader of readers) {
    const marker = await createThing(node(0))
    const source = await openEvents(reader, marker)
    await writeValue(node(0), marker, 'marker')
    await source.until(() => valuesOf(source).length === 1)
    await source.destroy()
  }
  await client
    .multi()
    .xtrim(keys.log, 'MINID', `${Number(newest) + 1}`)
    .hset(keys.head, 'trimmed', newest ?? '')
    .exec()
  client.disconnect()
}
