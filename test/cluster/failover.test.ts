import { Redis } from 'ioredis'
import { expect, it, onTestFinished } from 'vitest'
import { createToken } from '../../src/core/token.ts'
import { createThing, readAll, type Thing, write } from '../helpers/http-client.ts'
import { mqttOfTest, nodeOfTest, pathOfTest } from '../helpers/of-test.ts'
import { redisOfTest } from '../helpers/redis-of-test.ts'
import type { RedisServer } from '../helpers/redis-server.ts'
import { noRateLimits, type ServerProcess } from '../helpers/server-process.ts'
import type { TcpPath } from '../helpers/tcp-path.ts'
import { EventSource } from '../http/event-source.ts'

/** A node that waits for one replica of Redis, which the operator can put in the place of the primary. */
interface Service {
  readonly node: ServerProcess
  /** From the primary to its replica. */
  readonly replication: TcpPath
  /** SIGKILL to the primary; its replica takes its place, and gets a replica of its own. */
  failOver(): Promise<void>
}

/** Milliseconds; far beyond what is promised. */
const deadline = 50_000

async function startServer(config: Readonly<Record<string, string>> = {}): Promise<RedisServer> {
  return await redisOfTest({ config: { 'repl-diskless-sync-delay': '0', ...config } })
}

async function startService(): Promise<Service> {
  const first = await startServer()
  const replication = await pathOfTest(first.port)
  const second = await startServer({ replicaof: `127.0.0.1 ${replication.port}` })
  let primary = first
  const path = await pathOfTest(() => primary.port)
  await asking(first, async redis => {
    await expect.poll(() => redis.wait(1, 1_000), { timeout: deadline }).toBe(1)
  })
  const environment = { ...noRateLimits, THINGWIRE_REDIS_REPLICAS: '1' }
  const node = await nodeOfTest(`redis://127.0.0.1:${path.port}`, createToken(), { environment })
  const failOver = async () => {
    await first.kill()
    await asking(second, async redis => void (await redis.replicaof('NO', 'ONE')))
    primary = second
    await startServer({ replicaof: `127.0.0.1 ${second.port}` })
  }
  return { node, replication, failOver }
}

async function asking(server: RedisServer, task: (redis: Redis) => Promise<void>): Promise<void> {
  const redis = new Redis(server.url)
  try {
    await task(redis)
  } finally {
    redis.disconnect()
  }
}

/** Sends it again until it is acknowledged. @param onRefused told of each status code before that */
async function writeUntilAcknowledged(
  node: ServerProcess,
  thing: Thing,
  value: string,
  onRefused: (status: number) => void = () => {},
): Promise<void> {
  for (const until = Date.now() + deadline; Date.now() < until; ) {
    const { status } = await write(node, thing, { values: [{ key: 'n', value }], id: value })
    if (status === 201) return
    onRefused(status)
  }
  throw new Error(`${value} was never acknowledged`)
}

/** Follows a thing as a browser does: connects again with the id of the last event, until the test is over. */
class Page {
  /** Values in their order, and `reset` where events were missed. */
  readonly told: string[] = []
  #isOver = false
  #source: EventSource | undefined

  static async open(node: ServerProcess, thing: Thing): Promise<Page> {
    const page = new Page()
    onTestFinished(async () => {
      page.#isOver = true
      await page.#source?.destroy()
    })
    await page.#connect(node, thing, '')
    void page.#follow(node, thing)
    return page
  }

  async #connect(node: ServerProcess, thing: Thing, lastEventId: string): Promise<EventSource> {
    this.#source = await EventSource.open(`${node.url}/v2/things/${thing.thingToken}`, lastEventId)
    await this.#source.identified()
    return this.#source
  }

  async #follow(node: ServerProcess, thing: Thing): Promise<void> {
    while (!this.#isOver) {
      const { event, data } = (await this.#source?.next().catch(() => undefined)) ?? {}
      if (data !== undefined) this.told.push(event === 'values' ? JSON.parse(data)[0].value : event)
      else if (!this.#isOver)
        await this.#connect(node, thing, this.#source?.lastEventId ?? '').catch(() => {})
    }
  }
}

async function stored(node: ServerProcess, thing: Thing): Promise<unknown[]> {
  return (await readAll(node, thing, 'n')).map(({ value }) => value).toReversed()
}

it('a failover loses nothing that was acknowledged, repeats nothing, and hides no gap', async () => {
  const { node, replication, failOver } = await startService()
  const thing = await createThing(node)
  const { told } = await Page.open(node, thing)
  const acknowledged: string[] = []
  const refused = new Set<number>()
  let isOver = false
  const writers = ['a', 'b', 'c', 'd'].map(async writer => {
    for (let count = 0; !isOver; count++) {
      await writeUntilAcknowledged(node, thing, `${writer} ${count}`, status => refused.add(status))
      acknowledged.push(`${writer} ${count}`)
    }
  })
  const more = (count: number) => {
    const wanted = acknowledged.length + count
    return expect.poll(() => acknowledged.length, { timeout: deadline }).toBeGreaterThan(wanted)
  }
  await more(100)
  // From here on the replica gets nothing, so nothing may be acknowledged.
  replication.swallow()
  await expect.poll(() => [...refused], { timeout: deadline }).toEqual([503])
  await failOver()
  await more(100)
  isOver = true
  await Promise.all(writers)
  await writeUntilAcknowledged(node, thing, 'last')
  const order = await stored(node, thing)
  expect(order.toSorted()).toEqual([...acknowledged, 'last'].toSorted())
  await expect.poll(() => told.includes('last'), { timeout: deadline }).toBe(true)
  const live = told.slice(told.lastIndexOf('reset') + 1)
  expect(live).toEqual(order.slice(told.includes('reset') ? -live.length : 0))
})

it('a failover that loses what was not acknowledged tells live subscribers who have had it', async () => {
  const { node, replication, failOver } = await startService()
  const thing = await createThing(node)
  const { told } = await Page.open(node, thing)
  const mqtt = await mqttOfTest({ url: node.mqttUrl, username: thing.thingToken, deadline })
  await mqtt.subscribe(`things/${thing.thingId}/values/+`)
  await writeUntilAcknowledged(node, thing, 'kept')
  replication.swallow()
  const refused = await write(node, thing, { values: [{ key: 'n', value: 'lost' }] })
  expect(refused.status).toBe(503)
  expect(await refused.json()).toMatchObject({ reason: 'store_timeout' })
  expect(await stored(node, thing)).toEqual(['kept', 'lost'])
  await failOver()
  await mqtt.untilClosed()
  // A stream that comes back later than the write is told to read again, and is owed no more.
  await expect.poll(() => told, { timeout: deadline }).toContain('reset')
  await writeUntilAcknowledged(node, thing, 'after')
  await expect.poll(() => told.includes('after'), { timeout: deadline }).toBe(true)
  expect(told).toEqual(['kept', 'lost', 'reset', 'after'])
  expect(await stored(node, thing)).toEqual(['kept', 'after'])
})
