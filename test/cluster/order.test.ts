import { describe, expect, it } from 'vitest'
import { createThing, readAll, type Thing, write } from '../helpers/http-client.ts'
import { publishPacket } from '../helpers/mqtt-client.ts'
import { mqttOfTest, nodesOfTests } from '../helpers/of-test.ts'
import { noRateLimits, type ServerProcess } from '../helpers/server-process.ts'
import { subscribeInEveryWay } from './subscribers.ts'

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
