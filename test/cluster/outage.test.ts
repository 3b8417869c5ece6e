import { describe, expect, it, type TestContext } from 'vitest'
import { createToken } from '../../src/core/token.ts'
import { startNode } from '../helpers/cluster.ts'
import { createThing, readAll, type Thing, write } from '../helpers/http-client.ts'
import { connectMqtt, type MqttClient } from '../helpers/mqtt-client.ts'
import { type RedisServer, startRedis } from '../helpers/redis-server.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { openPath, type TcpPath } from '../helpers/tcp-path.ts'
import { untilReady } from '../helpers/waiting.ts'

/** A node, and its way to a Redis of its own. */
interface Service {
  readonly redis: RedisServer
  readonly path: TcpPath
  readonly node: ServerProcess
}

type AtTheEnd = TestContext['onTestFinished']

async function startService(onTestFinished: AtTheEnd): Promise<Service> {
  const redis = await startRedis()
  onTestFinished(() => redis.end())
  const path = await openPath(redis.port)
  onTestFinished(() => path.close())
  const node = await startNode(`redis://127.0.0.1:${path.port}`, createToken())
  onTestFinished(async () => void (await node.kill()))
  return { redis, path, node }
}

/** How Redis can be away, and come back. */
const outages: readonly {
  readonly name: string
  readonly begin: (service: Service) => unknown
  readonly end: (service: Service) => unknown
}[] = [
  { name: 'is stopped', begin: ({ redis }) => redis.stop(), end: ({ redis }) => redis.restart() },
  { name: 'is killed', begin: ({ redis }) => redis.kill(), end: ({ redis }) => redis.restart() },
  {
    name: 'hangs',
    begin: ({ redis }) => redis.process.kill('SIGSTOP'),
    end: ({ redis }) => redis.process.kill('SIGCONT'),
  },
  {
    name: 'cannot be connected to',
    begin: ({ path }) => path.refuse(),
    end: ({ path }) => path.restore(),
  },
  {
    name: 'cannot be reached, since packets vanish,',
    begin: ({ path }) => path.swallow(),
    end: ({ path }) => path.restore(),
  },
]

function numbered(value: number): object {
  return { values: [{ key: 'n', value }], id: `w${value}` }
}

async function connectAs(node: ServerProcess, thing: Thing, onTestFinished: AtTheEnd): Promise<MqttClient> {
  const client = await connectMqtt({ url: node.mqttUrl, username: thing.thingToken })
  onTestFinished(() => client.destroy())
  return client
}

async function refusalOf(response: Response): Promise<object> {
  const { reason } = (await response.json()) as { reason: string }
  return { status: response.status, reason, retryAfter: response.headers.has('retry-after') }
}

/** Milliseconds; far beyond what is promised. */
const deadline = 45_000

describe.concurrent('while Redis', () => {
  for (const { name, begin, end } of outages) {
    it(`${name} nothing is acknowledged and nothing hangs, and afterwards each write takes effect once`, async ({
      onTestFinished,
    }) => {
      const service = await startService(onTestFinished)
      const { node } = service
      const thing = await createThing(node)
      const topic = `things/${thing.thingToken}/write`
      const device = await connectAs(node, thing, onTestFinished)
      await device.publish(topic, numbered(1))
      expect((await write(node, thing, numbered(2))).status).toBe(201)

      await begin(service)
      const publishing = device.publish(topic, numbered(3))
      const [written, read, refused] = await Promise.all([
        write(node, thing, numbered(4)),
        fetch(`${node.url}/v2/things/${thing.thingToken}/resources/n`),
        connectAs(node, thing, onTestFinished),
        expect(publishing).rejects.toThrow(),
      ])
      expect(device.acknowledgements).toEqual(['puback 1'])
      expect(await refusalOf(written)).toMatchObject({ status: 503, retryAfter: true })
      expect(await refusalOf(read)).toEqual({ status: 503, reason: 'store_unavailable', retryAfter: true })
      expect(refused.connack.returnCode).toBe(3)
      expect((await fetch(`${node.url}/readyz`)).status).toBe(503)
      expect((await fetch(`${node.url}/healthz`)).status).toBe(200)

      await end(service)
      await untilReady(node, deadline)
      const again = await connectAs(node, thing, onTestFinished)
      expect(again.connack.returnCode).toBe(0)
      for (const value of [1, 2, 3, 4]) await again.publish(topic, numbered(value))
      const values = (await readAll(node, thing, 'n')).map(record => record.value)
      expect(values.toSorted()).toEqual([1, 2, 3, 4])
    })
  }

  it('cannot be reached a node that is stopped ends in time, with what was not acknowledged refused', async ({
    onTestFinished,
  }) => {
    const { node, path } = await startService(onTestFinished)
    const thing = await createThing(node)
    await connectAs(node, thing, onTestFinished)
    path.swallow()
    const [written, exit] = await Promise.all([write(node, thing, numbered(1)), node.stop()])
    expect(written.status).toBe(503)
    expect(exit).toMatchObject({ code: 0, signal: null })
  })
})
