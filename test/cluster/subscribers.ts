import { onTestFinished } from 'vitest'
import type { Thing } from '../helpers/http-client.ts'
import type { connectMqtt, MqttClient } from '../helpers/mqtt-client.ts'
import { mqttOfTest } from '../helpers/of-test.ts'
import type { ServerProcess } from '../helpers/server-process.ts'
import { EventSource } from '../http/event-source.ts'
import { openStream } from '../http/stream-client.ts'

/** Who is told the values of one resource of a thing, one by one. */
export interface Subscriber {
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
export async function subscribeInEveryWay(node: ServerProcess, thing: Thing): Promise<readonly Subscriber[]> {
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
