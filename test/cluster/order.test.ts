import { describe, expect, it, onTestFinished } from 'vitest'
import { createThing, readAll, type Thing, write } from '../helpers/http-client.ts'
import { type connectMqtt, type MqttClient, publishPacket } from '../helpers/mqtt-client.ts'
import { mqttOfTest, nodesOfTests } from '../helpers/of-test.ts'
import { noRateLimits, type ServerProcess } from '../helpers/server-process.ts'
import { EventSource } from '../http/event-source.ts'
import { openStream } from '../http/stream-client.ts'

const cluster = nodesOfTests(2, { environment: noRateLimits })

const writesOfEach = 40
/** Of every record: so they are read in the order in which they were committed (contract §4). */
const datetime = '2026-01-02T03:04:05.000Z'

function reading(value: string): object {
  return { values: [{ key: 'n', value, datetime }] }
}

function valuesOf(writer: string): string[] {
  return Array.from({ length: writesOfEach }, (_, index) => `${writer} ${index}`)
}

/** Writes one after another. */
async function writeOverHttp(node: ServerProcess, thing: Thing, writer: string): Promise<void> {
  for (const value of valuesOf(writer)) expect((await write(node, thing, reading(value))).status).toBe(201)
}

/** Writes without waiting for acks in between; resolves when all is stored. */
async function writeOverMqtt(url: string, thing: Thing, qos: 0 | 1 | 2, writer: string): Promise<void> {
  const client = await mqttOfTest({ url, username: thing.thingToken })
  const topic = `things/${thing.thingToken}/write`
  const packets = valuesOf(writer).map((value, index) =>
    publishPacket(topic, reading(value), { qos, ...(qos === 0 ? {} : { messageId: index + 1 }) }),
  )
  client.send(...packets)
  // Stored behind all of them.
  const last = { values: [{ key: 'done', value: writer }], broadcast: false }
  await client.publish(topic, last, { messageId: writesOfEach + 1 })
}

/** Writers through both doors on every node, at every QoS. */
function writeEverywhere(thing: Thing): Promise<void>[] {
  return cluster.nodes.flatMap((node, index) => [
    writeOverHttp(node, thing, `HTTP ${index}`),
    writeOverMqtt(node.mqttUrl, thing, 0, `QoS 0 ${index}`),
    writeOverMqtt(node.mqttUrl, thing, 1, `QoS 1 ${index}`),
    writeOverMqtt(node.webSocketUrl, thing, 2, `QoS 2 ${index}`),
  ])
}

/** What was committed, in commit order, as one node reads it. */
async function committed(node: ServerProcess, thing: Thing): Promise<unknown[]> {
  return (await readAll(node, thing, 'n')).map(({ value }) => value).toReversed()
}

describe('writes through both doors of both nodes', () => {
  it('reach every subscriber of either in commit order, none lost or doubled', async () => {
    const things = [await createThing(cluster.node(0)), await createThing(cluster.node(1))]
    const watched = await Promise.all(
      things.map(async thing => {
        const ways = await Promise.all(cluster.nodes.map(node => subscribeInEveryWay(node, thing)))
        return { thing, subscribers: ways.flat() }
      }),
    )
    await Promise.all(things.flatMap(writeEverywhere))
    for (const { thing, subscribers } of watched) {
      const order = await committed(cluster.node(0), thing)
      expect(order).toHaveLength(8 * writesOfEach)
      expect(await committed(cluster.node(1), thing)).toEqual(order)
      for (const subscriber of subscribers) {
        expect({ [subscriber.name]: await subscriber.take(order.length) }).toEqual({
          [subscriber.name]: order,
        })
        expect(await subscriber.rest()).toEqual([])
      }
      // Of each writer in the order in which it wrote.
      for (const writer of ['HTTP 0', 'QoS 0 1', 'QoS 1 0', 'QoS 2 1']) {
        expect(order.filter(value => String(value).startsWith(writer))).toEqual(valuesOf(writer))
      }
    }
  })
})

/** Who is told the values of one resource of a thing, one by one. */
interface Subscriber {
  readonly name: string
  /** The next so many, in the order in which they came. @throws Error if they do not come */
  take(count: number): Promise<unknown[]>
  /** What has come beyond those. */
  rest(): Promise<unknown[]>
}

interface Message {
  readonly value: unknown
}

/** Subscribers of every kind to `n` of the thing, on one node. */
async function subscribeInEveryWay(node: ServerProcess, thing: Thing): Promise<readonly Subscriber[]> {
  const operator = { username: 'operator', password: node.adminKey }
  const own = { username: thing.thingToken }
  const mqtt = ([0, 1] as const).flatMap(qos =>
    [node.mqttUrl, node.webSocketUrl].flatMap(url => [
      subscribe(`QoS ${qos} at ${url}`, thing, `things/${thing.thingId}/values/n`, qos, { url, ...own }),
      subscribe(`operator, QoS ${qos} at ${url}`, thing, 'things/+/values/+', qos, { url, ...operator }),
    ]),
  )
  return await Promise.all([...mqtt, openChunks(node, thing), openEvents(node, thing)])
}

async function subscribe(
  name: string,
  { thingId }: Thing,
  filter: string,
  qos: 0 | 1,
  options: Parameters<typeof connectMqtt>[0],
): Promise<Subscriber> {
  const client = await mqttOfTest(options)
  await client.subscribe(filter, qos)
  const next = async () => {
    const { payload } = await client.next(
      (packet): packet is Extract<MqttClient['received'][number], { cmd: 'publish' }> =>
        packet.cmd === 'publish' && packet.topic === `things/${thingId}/values/n`,
    )
    return (JSON.parse(payload.toString()) as Message).value
  }
  let taken = 0
  return {
    name,
    take: async count => {
      taken += count
      return await inTurn(count, next)
    },
    rest: async () => {
      await client.ping()
      const all = client.received.filter(
        packet => packet.cmd === 'publish' && packet.topic === `things/${thingId}/values/n`,
      )
      return all.slice(taken)
    },
  }
}

async function openChunks(node: ServerProcess, { thingToken }: Thing): Promise<Subscriber> {
  const stream = await openStream(`${node.url}/v2/things/${thingToken}`)
  // That it is subscribed.
  await stream.next()
  const next = async () => valueIn(await stream.next())
  return { name: `chunks at ${node.url}`, take: count => inTurn(count, next), rest: async () => [] }
}

async function openEvents(node: ServerProcess, { thingToken }: Thing): Promise<Subscriber> {
  const source = await EventSource.open(`${node.url}/v2/things/${thingToken}`)
  onTestFinished(() => source.destroy())
  await source.identified()
  const next = async () => valueIn((await source.next()).data)
  return { name: `events at ${node.url}`, take: count => inTurn(count, next), rest: async () => [] }
}

/** Of a write of one record. */
function valueIn(text: string): unknown {
  return (JSON.parse(text) as Message[])[0]?.value
}

async function inTurn<Result>(count: number, task: () => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  for (let index = 0; index < count; index++) results.push(await task())
  return results
}
