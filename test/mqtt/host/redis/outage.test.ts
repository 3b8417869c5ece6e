import { describe, expect, it } from 'vitest'
import { createThing, readAll, type Thing, write } from '../../../helpers/http-client.ts'
import { isMessageOn, type MqttClient } from '../../../helpers/mqtt-client.ts'
import { redisOfTest } from '../../../helpers/redis-of-test.ts'
import type { RedisServer } from '../../../helpers/redis-server.ts'
import { untilReady } from '../../../helpers/waiting.ts'
import { nextOn, valueIn } from '../../messages.ts'
import { connectThing, connectUser, type PlantNode, plantOfTest } from './plant.ts'

/** What becomes of the clients of a host while the Redis of its broker is away, and when it comes back. */

interface Outage {
  readonly name: string
  readonly begin: (redis: RedisServer) => unknown
  /** Resolves when it has lasted longer than a command would wait that Redis is asked for by default. */
  readonly lasts: (node: PlantNode) => unknown
  readonly end: (redis: RedisServer) => unknown
}

const outages: readonly Outage[] = [
  {
    name: 'is killed',
    begin: redis => redis.kill(),
    // Each of three connections is given up after 20 attempts.
    lasts: node => node.told(/(?:.*ECONNREFUSED.*\n){66}/),
    end: redis => redis.restart(),
  },
  {
    name: 'hangs',
    begin: redis => redis.process.kill('SIGSTOP'),
    // It is waited for.
    lasts: () => {},
    end: redis => redis.process.kill('SIGCONT'),
  },
]

function reading(value: unknown) {
  return { values: [{ key: 'n', value }] }
}

/** Subscribes, and waits for what is retained. */
async function listen(client: MqttClient, { thingId }: Thing): Promise<void> {
  const topic = `things/${thingId}/values/n`
  expect(await client.subscribeAll([topic, `things/${thingId}/errors`])).toEqual([1, 1])
  await client.next(packet => isMessageOn(topic)(packet) && packet.retain)
}

/** A message of a user at one node comes to a user at the other. */
async function expectUsersToBeServed(nodes: readonly [PlantNode, PlantNode]): Promise<void> {
  const panel = await connectUser(nodes[0], 'panel')
  expect(await panel.subscribe('plant/press')).toBe(1)
  const controller = await connectUser(nodes[1], 'controller')
  await controller.publish('plant/press', 'on', { qos: 2 })
  await panel.next(isMessageOn('plant/press'))
}

describe.each(outages)('while the Redis of the broker $name', ({ begin, lasts, end }) => {
  it('things of another Redis go on, connect and subscribe, and stay when it comes back', async () => {
    const [ofThings, ofBroker] = [await redisOfTest(), await redisOfTest()]
    const setup = { brokerRedisUrl: ofBroker.url }
    const nodes = [await plantOfTest(ofThings.url, setup), await plantOfTest(ofThings.url, setup)] as const
    const thing = await createThing(nodes[0])
    const topic = `things/${thing.thingToken}/write`
    expect((await write(nodes[0], thing, reading('first'))).status).toBe(201)
    const writer = await connectThing(nodes[0], thing, { clientId: 'writer' })
    const listener = await connectThing(nodes[1], thing, { clientId: 'listener' })
    await listen(listener, thing)
    await expectUsersToBeServed(nodes)

    await begin(ofBroker)
    const waiting = connectUser(nodes[0], 'panel')
    for (const qos of [0, 1, 2] as const) {
      await writer.publish(topic, reading(qos), { qos })
      expect(valueIn((await nextOn(listener, '/values/n')).payload)).toBe(qos)
    }
    const stay: MqttClient[] = [writer, listener]
    for (const clean of [true, false]) {
      const options = { clientId: `board ${clean}`, clean }
      const first = await connectThing(nodes[0], thing, options)
      await listen(first, thing)
      // The broker of the second node hears of it before, and that of the first one does not know yet that it has gone.
      const second = await connectThing(nodes[1], thing, options)
      await first.untilClosed()
      const third = await connectThing(nodes[0], thing, options)
      expect(third.connack).toMatchObject({ returnCode: 0, sessionPresent: !clean })
      await second.untilClosed()
      await third.publish(topic, reading(`of ${clean}`), { qos: 2 })
      await third.unsubscribe(`things/${thing.thingId}/errors`)
      await third.ping()
      stay.push(third)
    }
    const leaving = await connectThing(nodes[1], thing)
    await leaving.takeLeave()
    expect(await readAll(nodes[1], thing, 'n')).toHaveLength(6)

    for (const node of nodes) await lasts(node)
    await end(ofBroker)
    expect((await waiting).connack.returnCode).toBe(0)
    await expectUsersToBeServed(nodes)
    for (const client of stay) await client.ping()
    await stay.at(-1)?.publish(topic, reading('last'))
    await nextOn(listener, '/values/n')
  })
})

describe.each(outages)('while the one Redis of a host $name', ({ begin, end }) => {
  it('clients of things are told so, stay connected, and go on afterwards', async () => {
    const redis = await redisOfTest()
    const nodes = [await plantOfTest(redis.url), await plantOfTest(redis.url)] as const
    const thing = await createThing(nodes[0])
    const topic = `things/${thing.thingToken}/write`
    expect((await write(nodes[0], thing, reading('first'))).status).toBe(201)
    const writer = await connectThing(nodes[0], thing, { clientId: 'writer' })
    const listener = await connectThing(nodes[1], thing, { clientId: 'listener' })
    await listen(listener, thing)
    const subscriber = await connectThing(nodes[0], thing, { clientId: 'subscriber' })

    await begin(redis)
    for (const node of nodes) {
      for (const clean of [true, false]) {
        const refused = await connectThing(node, thing, { clientId: `board ${clean}`, clean })
        expect(refused.connack.returnCode).toBe(3)
      }
    }
    expect((await write(nodes[0], thing, reading('not now'))).status).toBe(503)
    // Whoever wants something of the store is to come again.
    await expect(subscriber.subscribe(`things/${thing.thingId}/errors`)).rejects.toThrow()
    for (const client of [writer, listener]) await client.ping()

    await end(redis)
    for (const node of nodes) await untilReady(node)
    await writer.publish(topic, reading('last'))
    expect(valueIn((await nextOn(listener, '/values/n')).payload)).toBe('last')
    await expectUsersToBeServed(nodes)
  })
})

it('a node of a host that is stopped while the Redis of its broker is away ends all the same', async () => {
  const [ofThings, ofBroker] = [await redisOfTest(), await redisOfTest()]
  const node = await plantOfTest(ofThings.url, { brokerRedisUrl: ofBroker.url })
  await connectUser(node, 'panel')
  await ofBroker.kill()
  expect((await node.stop()).code).toBe(1)
})
