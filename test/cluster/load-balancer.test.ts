import { request } from 'node:http'
import { connect } from 'node:net'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type RunningNodes, startNodes } from '../helpers/cluster.ts'
import { createThing, readAll, write } from '../helpers/http-client.ts'
import { type LoadBalancer, startLoadBalancer } from '../helpers/load-balancer.ts'
import { connectMqtt, MqttClient } from '../helpers/mqtt-client.ts'
import { redisOfTests } from '../helpers/redis-of-test.ts'

const redis = redisOfTests()

let cluster: RunningNodes
let balancer: LoadBalancer
beforeEach(async () => {
  const environment = {
    THINGWIRE_TRUSTED_PROXIES: '127.0.0.1',
    THINGWIRE_FAILED_CREDENTIALS_PER_MINUTE: '1',
  }
  cluster = await startNodes(2, { redis: redis.server, environment })
  balancer = await startLoadBalancer(cluster.nodes)
  return async () => {
    await balancer.end()
    await cluster.end()
  }
})

function numbered(value: number): object {
  return { values: [{ key: 'n', value }] }
}

/** CONNACK to a credential that is not valid, from this address. */
async function refusedOverMqtt(localAddress: string): Promise<number> {
  const { hostname, port } = new URL(balancer.mqttUrl)
  const client = new MqttClient(connect({ host: hostname, port: Number(port), localAddress }), {
    url: balancer.mqttUrl,
  })
  onTestFinished(() => client.destroy())
  await client.connect({ username: 'x', password: 'not valid' })
  return client.connack.returnCode ?? 0
}

/** Status of the answer to a credential that is not valid, from this address. */
function refusedOverHttp(localAddress: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'not valid' }
    request(`${balancer.url}/v2/admin/things`, { localAddress, headers, agent: false }, answer => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
      .on('error', reject)
      .end()
  })
}

async function inTurn<Result>(count: number, task: () => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  for (let index = 0; index < count; index++) results.push(await task())
  return results
}

describe('two nodes behind the load balancer of config/haproxy.cfg', () => {
  it('see the addresses of its clients: who is refused for theirs is none of the others', async () => {
    // Each node counts for itself, so the third attempt is the second on one of them.
    expect(await inTurn(3, () => refusedOverMqtt('127.0.0.2'))).toContain(5)
    expect(await refusedOverMqtt('127.0.0.3')).toBe(4)
    expect(await inTurn(3, () => refusedOverHttp('127.0.0.4'))).toContain(429)
    expect(await refusedOverHttp('127.0.0.5')).toBe(401)
  })

  it('lose no request and refuse no client while one leaves and the other stays', async () => {
    const service = { url: balancer.url, adminKey: cluster.adminKey }
    const thing = await createThing(service)
    const clients = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        connectMqtt({
          url: index % 2 === 0 ? balancer.mqttUrl : balancer.webSocketUrl,
          username: thing.thingToken,
        }),
      ),
    )
    onTestFinished(async () => void (await Promise.all(clients.map(client => client.destroy()))))
    let isOver = false
    const acked: number[] = []
    let next = 0
    const device = async () => {
      while (!isOver || acked.length < 100) {
        const value = next++
        expect((await write(service, thing, numbered(value))).status).toBe(201)
        acked.push(value)
      }
    }
    const newClients = async () => {
      while (!isOver) {
        const client = await connectMqtt({ url: balancer.mqttUrl, username: thing.thingToken })
        expect(client.connack.returnCode).toBe(0)
        await client.destroy()
      }
    }
    const load = Promise.all([device(), device(), device(), newClients()])
    const exit = await cluster.node(0).stop()
    isOver = true
    await load
    expect(exit).toMatchObject({ code: 0, signal: null })
    expect(exit.stderr).not.toContain('cutting')
    expect(await balancer.ready()).toBe(1)

    const closed = await Promise.all(
      clients.map(client =>
        client.ping().then(
          () => false,
          () => true,
        ),
      ),
    )
    expect(closed.filter(isClosed => isClosed)).toHaveLength(3)
    const stored = new Set((await readAll(cluster.node(1), thing, 'n')).map(({ value }) => value))
    expect(acked.filter(value => !stored.has(value))).toEqual([])
  })

  it('answer as a node would while none is ready, and serve again when Redis is back', async () => {
    const service = { url: balancer.url, adminKey: cluster.adminKey }
    const thing = await createThing(service)
    await redis.server.stop()
    await expect.poll(balancer.ready).toBe(0)
    const answer = await write(service, thing, numbered(1))
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('5')
    expect(await answer.json()).toMatchObject({ status: 'error', code: 503, reason: 'store_unavailable' })
    await redis.server.restart()
    await expect.poll(balancer.ready).toBe(2)
    const later = await write(service, thing, numbered(2))
    expect({ status: later.status, ...((await later.json()) as object) }).toMatchObject({ status: 'created' })
  })
})
