import { once } from 'node:events'
import { type AddressInfo, connect as connectTcp, createServer, type Socket } from 'node:net'
import { connect, type IClientOptions, type MqttClient } from 'mqtt'
import type { QoS } from 'mqtt-packet'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { Changes } from '../helpers/changes.ts'
import { ask, type Session, type Thing, write } from '../helpers/http-client.ts'
import { connectMqtt } from '../helpers/mqtt-client.ts'
import { serverOfTest, serverOfTests } from '../helpers/of-test.ts'
import type { ServerProcess } from '../helpers/server-process.ts'

/** What the server itself puts before a subscriber, which is retained and kept messages, is no reason to cut it (contract §7.6). */

const environment = { THINGWIRE_TOPICS: 'frigate/#', THINGWIRE_DRAIN_TIMEOUT: '1000' }
const grants = [
  { filter: 'frigate/#', access: 'read' },
  { filter: 'frigate/#', access: 'write' },
]
const megabyte = 1_000_000
const everyQoS = [0, 1, 2] as const
const transports = ['TCP', 'WebSocket'] as const

/** The password of one who may read the things, and use the topics. */
async function passwordFor(server: ServerProcess, things: readonly Thing[] = []): Promise<string> {
  const body = { things: things.map(({ thingId }) => thingId), access: 'read', topics: grants }
  return (await ask<Session>(server, 'POST', '/v2/admin/sessions', body)).sessionToken
}

/** Publishes at QoS 1 so many messages of so many bytes, on `<base>/0` and so on; resolves when all are acknowledged. */
async function publish(
  { mqttUrl: url }: ServerProcess,
  password: string,
  base: string,
  { count, bytes, retain = false, qos = 1 }: { count: number; bytes: number; retain?: boolean; qos?: QoS },
): Promise<void> {
  const publisher = await connectMqtt({ url, username: 'x', password })
  for (let n = 0; n < count; n++)
    await publisher.publish(`${base}/${n}`, Buffer.alloc(bytes, 'x'), { retain, qos })
  await publisher.disconnect()
}

interface Subscriber {
  readonly client: MqttClient
  /** By topic, how many messages of how many bytes came, and with RETAIN. */
  readonly seen: ReadonlyMap<string, { count: number; bytes: number; isRetained: boolean }>
  readonly changes: Changes
  /** How often its connection has ended. */
  readonly cuts: number
  /** Resolves when so many topics have come. */
  has(topics: number): Promise<void>
}

/** A client of mqtt.js, which comes again whenever it is cut. */
async function connectTo(
  { mqttUrl, webSocketUrl }: ServerProcess,
  password: string,
  { transport = 'TCP', port, ...options }: IClientOptions & { transport?: 'TCP' | 'WebSocket' } = {},
): Promise<Subscriber> {
  const url = new URL(transport === 'TCP' ? mqttUrl : webSocketUrl)
  if (port !== undefined) url.port = String(port)
  const client = connect(url.href, { username: 'x', password, reconnectPeriod: 50, ...options })
  onTestFinished(() => client.endAsync(true))
  const seen = new Map<string, { count: number; bytes: number; isRetained: boolean }>()
  const changes = new Changes()
  let cuts = 0
  client.on('close', () => {
    cuts++
    changes.tell()
  })
  client.on('message', (topic, { length: bytes }, { retain: isRetained }) => {
    seen.set(topic, { count: (seen.get(topic)?.count ?? 0) + 1, bytes, isRetained })
    changes.tell()
  })
  await new Promise<void>((resolve, reject) => {
    client.once('connect', () => resolve()).once('error', reject)
  })
  return {
    ...{ client, seen, changes },
    get cuts() {
      return cuts
    },
    has: async topics => void (await changes.until(() => seen.size >= topics, 120_000)),
  }
}

/** What a subscriber has that was sent all, each message once, and was not cut. */
const whole = (base: string, count: number, bytes: number, isRetained = true) =>
  new Map(Array.from({ length: count }, (_, n) => [`${base}/${n}`, { count: 1, bytes, isRetained }]))

describe('retained messages of 1 MB', () => {
  const server = serverOfTests({ environment })
  let password: string

  beforeAll(async () => {
    password = await passwordFor(server())
    await publish(server(), password, 'frigate/large', { count: 20, bytes: megabyte, retain: true })
    await publish(server(), password, 'frigate/more', { count: 40, bytes: megabyte, retain: true })
  })

  it.each(transports.flatMap(transport => everyQoS.map(qos => [transport, qos] as const)))(
    'come whole to mqtt.js over %s at QoS %i',
    async (transport, qos) => {
      const subscriber = await connectTo(server(), password, { transport })
      await subscriber.client.subscribeAsync('frigate/large/#', { qos })
      await subscriber.has(20)
      expect(subscriber.seen).toEqual(whole('frigate/large', 20, megabyte))
      expect(subscriber.cuts).toBe(0)
    },
  )

  it('come whole to mqtt.js if there are 60, by filters that overlap too', async () => {
    const subscriber = await connectTo(server(), password)
    await subscriber.client.subscribeAsync(['frigate/#', 'frigate/more/+'], { qos: 1 })
    await subscriber.has(60)
    const all = [...whole('frigate/large', 20, megabyte), ...whole('frigate/more', 40, megabyte)]
    expect(subscriber.seen).toEqual(new Map(all))
    expect(subscriber.cuts).toBe(0)
  })

  it.each(transports)(
    'come whole over %s to a reader that takes many times drainTimeout for them, and is answered its pings',
    async transport => {
      const target = transport === 'TCP' ? server().mqttUrl : server().webSocketUrl
      const { port } = await openSlowPath(Number(new URL(target).port), 2 * megabyte)
      const subscriber = await connectTo(server(), password, { transport, port, keepalive: 8 })
      await subscriber.client.subscribeAsync('frigate/large/#', { qos: 1 })
      await subscriber.has(1)
      // What is published meanwhile does not wait for all of them.
      await publish(server(), password, `frigate/large/live/${transport}`, { count: 1, bytes: 100 })
      await subscriber.has(21)
      const [live] = [...subscriber.seen.keys()].filter(topic => topic.includes('live'))
      expect([...subscriber.seen.keys()].indexOf(live ?? '')).toBeLessThan(20)
      expect([...subscriber.seen.values()].every(({ count }) => count === 1)).toBe(true)
      expect(subscriber.cuts).toBe(0)
    },
  )
})

describe('500 retained messages of 60 KB', () => {
  const server = serverOfTests({ environment })
  let password: string

  beforeAll(async () => {
    password = await passwordFor(server())
    await publish(server(), password, 'frigate/many', { count: 500, bytes: 60_000, retain: true })
  })

  it.each(everyQoS)('come whole to mqtt.js at QoS %i, and to a slow reader', async qos => {
    const { port } = await openSlowPath(Number(new URL(server().mqttUrl).port), 8 * megabyte)
    for (const options of [{}, { port }]) {
      const subscriber = await connectTo(server(), password, options)
      await subscriber.client.subscribeAsync('frigate/#', { qos })
      await subscriber.has(500)
      expect(subscriber.seen).toEqual(whole('frigate/many', 500, 60_000))
      expect(subscriber.cuts).toBe(0)
    }
  })

  it('come whole beside the retained views of things, by one SUBSCRIBE', async () => {
    const thing = await ask<Thing>(server(), 'POST', '/v2/admin/things', {})
    const values = Array.from({ length: 60 }, (_, n) => ({ key: `k${n}`, value: ''.padEnd(60_000, 'x') }))
    for (let n = 0; n < 60; n += 10) await write(server(), thing, { values: values.slice(n, n + 10) })
    const both = await passwordFor(server(), [thing])
    const { port } = await openSlowPath(Number(new URL(server().mqttUrl).port), 8 * megabyte)
    for (const options of [{}, { port }]) {
      const subscriber = await connectTo(server(), both, options)
      await subscriber.client.subscribeAsync(['frigate/#', `things/${thing.thingId}/values/+`], { qos: 1 })
      await subscriber.has(560)
      expect(
        [...subscriber.seen.values()].filter(({ count, isRetained }) => count === 1 && isRetained),
      ).toHaveLength(560)
      expect(subscriber.cuts).toBe(0)
    }
  })
})

describe('messages that were kept for a session that was away', () => {
  const count = 14

  it.each(transports.flatMap(transport => ([1, 2] as const).map(qos => [transport, qos] as const)))(
    'come whole to mqtt.js over %s at QoS %i, and to a slow reader that subscribes to more at once',
    async (transport, qos) => {
      const server = await serverOfTest({ environment })
      const password = await passwordFor(server)
      const target = transport === 'TCP' ? server.mqttUrl : server.webSocketUrl
      const { port } = await openSlowPath(Number(new URL(target).port), 4 * megabyte)
      for (const [clientId, options] of Object.entries({ fast: {}, slow: { port } })) {
        const session = { transport, clientId, clean: false, reconnectPeriod: 0 }
        const leaving = await connectTo(server, password, session)
        await leaving.client.subscribeAsync('frigate/kept/#', { qos })
        await leaving.client.endAsync()
        await publish(server, password, 'frigate/kept', { count, bytes: megabyte, retain: false, qos })
        const subscriber = await connectTo(server, password, { ...session, ...options })
        await subscriber.client.subscribeAsync(['frigate/other/#', 'frigate/third'], { qos })
        await subscriber.has(count)
        expect(subscriber.seen).toEqual(whole('frigate/kept', count, megabyte, false))
        expect(subscriber.cuts).toBe(0)
      }
    },
  )
})

/** How often the path lets something through, milliseconds. */
const step = 20

/** A way to a server on which its answers come no faster than a link lets them. */
interface SlowPath {
  readonly port: number
}

/**
 * Opens a way to a port of 127.0.0.1, until the end of the test.
 *
 * @param rate of each connection, towards the client, bytes a second
 */
async function openSlowPath(target: number, rate: number): Promise<SlowPath> {
  const sockets = new Set<Socket>()
  const server = createServer(near => {
    const far = connectTcp(target, '127.0.0.1')
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    near.pipe(far)
    far.pause()
    let credit = 0
    const timer = setInterval(() => {
      credit = Math.min(credit + (rate * step) / 1_000, rate / 10)
      // What is paused reads on in pieces, each of which may be more than the credit.
      while (credit > 0) {
        const bytes = far.read() as Buffer | null
        if (!bytes) return
        credit -= bytes.length
        near.write(bytes)
      }
    }, step)
    far.on('readable', () => {})
    const close = () => {
      clearInterval(timer)
      near.destroy()
      far.destroy()
    }
    near.once('close', close)
    far.once('close', close)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port }
}
