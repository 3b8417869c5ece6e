import { describe, expect, it } from 'vitest'
import { createThing, readAll, type Thing, write } from '../../../helpers/http-client.ts'
import { isMessageOn, type MqttClient } from '../../../helpers/mqtt-client.ts'
import { messagesOf, numbers, valueIn } from '../../messages.ts'
import { connectThing, connectUser, type PlantNode, twoNodesOfTests } from './plant.ts'

/** Things on a host's broker on Redis: what Thingwire promises of several nodes holds there, too. */

const plant = twoNodesOfTests()

/** A write of one record of the resource `n`. */
function reading(value: unknown) {
  return { values: [{ key: 'n', value }] }
}

function newThing(): Promise<Thing> {
  return createThing(plant.node(0))
}

/** Waits until a client has got so many live messages of `n`. @returns their values */
async function live(client: MqttClient, count: number): Promise<readonly unknown[]> {
  // A session that is left before its retained view was read is owed it: the client may get it behind what it missed.
  const values = () =>
    messagesOf(client, '/values/n').flatMap(({ retain, payload }) => (retain ? [] : [valueIn(payload)]))
  while (values().length < count) await client.next(({ cmd }) => cmd === 'publish')
  await client.ping()
  return values()
}

async function stored(node: PlantNode, thing: Thing): Promise<readonly unknown[]> {
  return (await readAll(node, thing, 'n')).map(({ value }) => value).toReversed()
}

describe('a thing at two nodes of a host', () => {
  it('writes through both into one time line, at each QoS and over HTTP, and finds it at both', async () => {
    const thing = await newThing()
    for (const place of [0, 1]) {
      const client = await connectThing(plant.node(place), thing)
      for (const qos of [0, 1, 2] as const) {
        await client.publish(`things/${thing.thingToken}/write`, reading(`${place} at ${qos}`), { qos })
      }
      expect((await write(plant.node(place), thing, reading(`${place} over HTTP`))).status).toBe(201)
    }
    const written = [0, 1].flatMap(place =>
      ['at 0', 'at 1', 'at 2', 'over HTTP'].map(how => `${place} ${how}`),
    )
    for (const place of [0, 1]) expect(await stored(plant.node(place), thing)).toEqual(written)
  })

  it('is told at one of what is refused at the other', async () => {
    const thing = await newThing()
    const listener = await connectThing(plant.node(1), thing)
    const topic = `things/${thing.thingId}/errors`
    await listener.subscribe(topic)
    const client = await connectThing(plant.node(0), thing)
    await client.publish(`things/${thing.thingToken}/write`, 'no JSON')
    expect(JSON.parse((await listener.next(isMessageOn(topic))).payload.toString())).toMatchObject({
      reason: 'invalid_json',
    })
  })

  it('finds retained at one what it has written at the other', async () => {
    const thing = await newThing()
    const writer = await connectThing(plant.node(0), thing)
    for (const value of [1, 2]) await writer.publish(`things/${thing.thingToken}/write`, reading(value))
    const topic = `things/${thing.thingId}/values/n`
    const reader = await connectThing(plant.node(1), thing)
    await reader.subscribe(topic)
    const { payload, retain } = await reader.next(isMessageOn(topic))
    expect([JSON.parse(payload.toString()).value, retain]).toEqual([2, true])
  })

  it('is sent at one what its session has missed at both, in order, and then what is live', async () => {
    const thing = await newThing()
    const session = { clientId: 'board', clean: false }
    const first = await connectThing(plant.node(0), thing, session)
    await first.subscribe(`things/${thing.thingId}/values/n`)
    await first.disconnect()
    for (const value of numbers(20)) await write(plant.node(value % 2), thing, reading(value))
    const second = await connectThing(plant.node(1), thing, session)
    expect(second.connack.sessionPresent).toBe(true)
    await live(second, 20)
    await write(plant.node(0), thing, reading(20))
    expect(await live(second, 21)).toEqual(numbers(21))
  })

  it('is seen at both in the order in which it was stored, whoever writes where', async () => {
    const thing = await newThing()
    const listeners = [
      await connectThing(plant.node(0), thing),
      await connectThing(plant.node(1), thing),
      await connectUser(plant.node(0), 'panel'),
      await connectUser(plant.node(1), 'panel'),
    ]
    for (const listener of listeners) await listener.subscribe(`things/${thing.thingToken}/values/n`)
    const writers = await Promise.all(
      numbers(6).map(number => connectThing(plant.node(number % 2), thing, { clientId: `writer ${number}` })),
    )
    await Promise.all(
      writers.flatMap((writer, number) =>
        numbers(100).map(value =>
          writer.publish(`things/${thing.thingToken}/write`, reading(`${number}: ${value}`)),
        ),
      ),
    )
    const written = await stored(plant.node(1), thing)
    expect(written).toHaveLength(600)
    for (const listener of listeners) expect(await live(listener, 600)).toEqual(written)
  })

  it.each([true, false])('takes its client over from node to node and back (clean: %s)', async clean => {
    const thing = await newThing()
    const options = { clientId: 'board', clean }
    let client = await connectThing(plant.node(0), thing, options)
    for (const visit of numbers(10, 1)) {
      const next = await connectThing(plant.node(visit % 2), thing, options)
      expect(next.connack).toMatchObject({ returnCode: 0, sessionPresent: !clean })
      await client.untilClosed()
      await next.publish(`things/${thing.thingToken}/write`, reading(visit))
      client = next
    }
    expect(await stored(plant.node(0), thing)).toEqual(numbers(10, 1))
    await client.ping()
  })

  it('has its will written once if its connection is lost', async () => {
    const thing = await newThing()
    const will = { topic: `things/${thing.thingToken}/write`, payload: reading('lost'), qos: 1 } as const
    const listener = await connectThing(plant.node(1), thing)
    const topic = `things/${thing.thingId}/values/n`
    await listener.subscribe(topic)
    await (await connectThing(plant.node(0), thing, { clientId: 'board', will })).destroy()
    await listener.next(isMessageOn(topic))
    expect(await stored(plant.node(1), thing)).toEqual(['lost'])
  })

  it('has no part in the topics of the host, nor the users of the host in its own', async () => {
    const thing = await newThing()
    const panels = [await connectUser(plant.node(0), 'panel'), await connectUser(plant.node(1), 'panel')]
    for (const panel of panels) {
      expect(await panel.subscribeAll(['plant/#', `things/${thing.thingId}/#`, 'things/#'])).toEqual([
        1, 128, 128,
      ])
    }
    const client = await connectThing(plant.node(0), thing)
    expect(await client.subscribeAll(['plant/#', '#'])).toEqual([128, 128])
    await client.publish('plant/press', 'from a thing')
    await client.publish(`things/${thing.thingToken}/write`, reading(1))
    const controller = await connectUser(plant.node(0), 'controller')
    await controller.publish('plant/press', 'from a user')
    for (const panel of panels) {
      await panel.next(isMessageOn('plant/press'))
      expect(messagesOf(panel).map(({ payload }) => payload)).toEqual(['from a user'])
    }
  })
})
