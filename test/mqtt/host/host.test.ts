import { once } from 'node:events'
import { Aedes, type Client } from 'aedes'
import { generate, type Packet } from 'mqtt-packet'
import { beforeEach, describe, expect, test } from 'vitest'
import { createToken } from '../../../src/core/token.ts'
import { attachThings } from '../../../src/mqtt/index.ts'
import { isMessageOn, isOf, type MqttClient } from '../../helpers/mqtt-client.ts'
import { mqttOfTest } from '../../helpers/of-test.ts'
import { connectUser, depth, functionsOf, type OwnHost, openOwnHost, storedDepths } from './own-host.ts'

/** `attachThings` on the broker of a host that has topics of its own and keeps them. */

let host: OwnHost
beforeEach(async () => {
  host = await openOwnHost()
})

describe('the clients of a host', () => {
  let stock: { seen: unknown[]; calls: OwnHost['calls'] }
  beforeEach(async () => {
    const plain = await openOwnHost()
    stock = { seen: await hostTraffic(plain, await plain.serve()), calls: plain.calls }
  })

  test('see the same, and its hooks are called with the same, as without attachThings()', async () => {
    const detach = attachThings(host.broker, host.things)
    expect(await hostTraffic(host, await host.serve())).toEqual(stock.seen)
    expect(host.calls).toEqual(stock.calls)
    await detach()
  })

  test('see the same after detach(), through the handle that a server was given before it', async () => {
    const detach = attachThings(host.broker, host.things)
    const url = await host.serve()
    await detach()
    expect(await hostTraffic(host, url)).toEqual(stock.seen)
    expect(host.calls).toEqual(stock.calls)
  })

  test('see the same after attachThings() was called again', async () => {
    await attachThings(host.broker, host.things)()
    const detach = attachThings(host.broker, host.things)
    expect(await hostTraffic(host, await host.serve())).toEqual(stock.seen)
    expect(host.calls).toEqual(stock.calls)
    await detach()
  })
})

describe('a SUBSCRIBE of a client of the host', () => {
  test('is answered with a code for each filter, named twice, refused by the host, of a thing or no filter', async () => {
    attachThings(host.broker, host.things)
    const user = await connectUser(await host.serve(), 'panel')
    const { thingToken } = host
    const filters = ['plant/a', 'closed/a', 'plant/a', `things/${thingToken}/errors`, 'plant/#/a', 'closed/a']
    expect(await user.subscribeAll(filters, 2)).toEqual([2, 128, 2, 2, 128, 128])
    await user.publish('plant/a', 'once')
    await user.next(isMessageOn('plant/a'))
    await user.ping()
    expect(user.received.filter(isMessageOn('plant/a'))).toHaveLength(1)
  })
})

test('a client of the host that speaks MQTT 3.1 is answered when it sends something again with DUP', async () => {
  attachThings(host.broker, host.things)
  const user = await mqttOfTest({
    url: await host.serve(),
    protocolVersion: 3,
    clientId: 'old',
    username: 'old',
    password: 'old password',
  })
  const again = (packet: Packet) => {
    const bytes = generate(packet)
    bytes[0] = (bytes[0] ?? 0) | 0x08
    user.sendBytes(bytes)
  }
  again({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'plant/#', qos: 2 }] })
  expect(await user.next(isOf('suback', 1))).toMatchObject({ granted: [2] })
  const messageId = await user.publishUntilPubrec('plant/a', 'once', { messageId: 2 })
  again({ cmd: 'pubrel', messageId })
  await user.next(isOf('pubcomp', 2))
  await user.next(isMessageOn('plant/a'))
  again({ cmd: 'unsubscribe', messageId: 3, unsubscriptions: ['plant/#'] })
  await user.next(isOf('unsuback', 3))
})

test('MQTT 5 is for clients with a credential of Thingwire, whom the broker sees as clients of 3.1.1', async () => {
  const seen: unknown[] = []
  const hook = host.broker.preConnect.bind(host.broker)
  host.broker.preConnect = (client, packet, done) => {
    seen.push([packet.protocolVersion, packet.properties])
    hook(client, packet, done)
  }
  attachThings(host.broker, host.things)
  const open = { url: await host.serve(), protocolVersion: 5, properties: { receiveMaximum: 9 } } as const
  const thing = await mqttOfTest({ ...open, username: host.thingToken })
  expect(thing.connack.reasonCode).toBe(0)
  await thing.publish(`things/${host.thingToken}/write`, depth(1))
  expect(await storedDepths(host)).toEqual([1])
  for (const user of [{}, { username: 'panel', password: 'panel password' }]) {
    const refused = await mqttOfTest({ ...open, ...user })
    expect(refused.connack.reasonCode).toBe(0x84)
    await refused.untilClosed()
  }
  expect(seen).toEqual([1, 2, 3].map(() => [4, undefined]))
})

describe('a thing at a host', () => {
  test('is not a matter of the hooks of the host, but for the one that may keep an address out', async () => {
    attachThings(host.broker, host.things)
    const { thingToken } = host
    const thing = await mqttOfTest({ url: await host.serve(), username: thingToken, clean: false })
    expect(thing.connack.returnCode).toBe(0)
    expect(await thing.subscribe(`things/${thingToken}/errors`)).toBe(1)
    for (const qos of [0, 1, 2] as const) {
      await thing.publish(`things/${thingToken}/write`, depth(qos), { qos })
      await thing.publish(`v2/things/${thingToken}`, depth(qos + 3), { qos })
    }
    await thing.publish(`things/${thingToken}/write`, 'no JSON')
    await thing.publish(`things/${thingToken}/values/depth`, 'no write topic')
    await thing.next(isMessageOn(`things/${thingToken}/errors`))
    expect(await storedDepths(host)).toEqual([5, 4, 3, 2, 1, 0])
    // The broker tells all that it carries itself, its own topics too.
    const called = host.calls.map(({ hook }) => hook).filter(hook => hook !== 'published')
    expect(called).toEqual(['preConnect'])
  })

  test('has no part in the topics of the host, whatever the host allows', async () => {
    attachThings(host.broker, host.things)
    const url = await host.serve()
    const thing = await mqttOfTest({ url: url, username: host.thingToken })
    const panel = await connectUser(url, 'panel')
    await panel.subscribe('plant/#')
    expect(await thing.subscribeAll(['plant/#', '#'])).toEqual([128, 128])
    // Acknowledged, dropped and on the list of the thing (contract §7.7).
    await thing.publish('plant/press', 'from a thing')
    await panel.publish('plant/press', 'from a user')
    expect(await panel.next(isMessageOn('plant/press'))).toMatchObject({
      payload: Buffer.from('from a user'),
    })
  })

  test('is not seen by a client of the host, whatever the host lets it subscribe to', async () => {
    attachThings(host.broker, host.things)
    const { thingId, thingToken } = host
    const url = await host.serve()
    const panel = await connectUser(url, 'panel')
    expect(await panel.subscribe('#')).toBe(1)
    expect(await panel.subscribe('+/+/errors')).toBe(1)
    const things = [`things/${thingId}/#`, 'things/+/errors', `v2/things/${thingId}`]
    expect(await panel.subscribeAll(things)).toEqual([128, 128, 128])
    const thing = await mqttOfTest({ url: url, username: thingToken })
    await thing.subscribe(`things/${thingToken}/errors`)
    await thing.publish(`things/${thingToken}/write`, depth(1))
    await thing.publish(`things/${thingToken}/write`, 'no JSON')
    await thing.next(isMessageOn(`things/${thingToken}/errors`))
    await panel.publish('plant/press', 'the panel sees its own')
    await panel.next(isMessageOn('plant/press'))
    const topics = panel.received.flatMap(packet => (packet.cmd === 'publish' ? [packet.topic] : []))
    expect(topics.filter(topic => !topic.startsWith('$SYS/'))).toEqual(['plant/press'])
  })

  test('does not take over the session of a client of the host that has its client id', async () => {
    attachThings(host.broker, host.things)
    const url = await host.serve()
    const panel = await connectUser(url, 'panel')
    const thing = await mqttOfTest({ url: url, username: host.thingToken, clientId: 'panel' })
    await panel.ping()
    await thing.ping()
  })

  test('is seen by the host with its thing, its client id and an id of the connection', async () => {
    attachThings(host.broker, host.things)
    const url = await host.serve()
    const ids: string[] = []
    for (let n = 0; n < 2; n++) {
      const ready = once(host.broker, 'clientReady')
      await mqttOfTest({ url: url, username: host.thingToken, clientId: 'pump' })
      const [client] = (await ready) as [Client]
      ids.push(client.id)
    }
    expect(ids[0]).not.toBe(ids[1])
    for (const id of ids) expect(id).toMatch(new RegExp(`^thing\\.${host.thingId}:pump#[0-9a-f-]{36}$`))
  })
})

describe('a client of the host', () => {
  test('writes for the thing whose token it has', async () => {
    attachThings(host.broker, host.things)
    const controller = await connectUser(await host.serve(), 'controller')
    for (const qos of [0, 1, 2] as const) {
      await controller.publish(`things/${host.thingToken}/write`, depth(qos), { qos })
    }
    await controller.publish('plant/press', 'still connected', { qos: 2 })
    expect(await storedDepths(host)).toEqual([2, 1, 0])
  })

  test('is disconnected when it writes for a thing that does not exist', async () => {
    attachThings(host.broker, host.things)
    const controller = await connectUser(await host.serve(), 'controller')
    await expect(controller.publish(`things/${createToken()}/write`, depth(1))).rejects.toThrow()
  })

  test('writes once at QoS 2, sent again before it was released', async () => {
    attachThings(host.broker, host.things)
    const controller = await connectUser(await host.serve(), 'controller')
    const topic = `things/${host.thingToken}/write`
    const undated = { values: [{ key: 'depth', value: 1 }] }
    const messageId = await controller.publishUntilPubrec(topic, undated)
    await controller.publish(topic, undated, { qos: 2, dup: true, messageId })
    expect(await storedDepths(host)).toEqual([1])
  })
})

describe('attachThings() refuses', () => {
  test('a broker that does not listen yet', () => {
    const broker = new Aedes()
    const before = functionsOf(broker)
    expect(() => attachThings(broker, host.things)).toThrow()
    expect(functionsOf(broker)).toEqual(before)
  })

  test('a broker that is closed', async () => {
    const broker = await Aedes.createBroker()
    const closed = once(broker, 'closed')
    broker.close()
    await closed
    expect(() => attachThings(broker, host.things)).toThrow()
  })

  test('a broker to which things are attached already', async () => {
    const detach = attachThings(host.broker, host.things)
    const attached = functionsOf(host.broker)
    expect(() => attachThings(host.broker, host.things)).toThrow()
    expect(functionsOf(host.broker)).toEqual(attached)
    await detach()
  })
})

/**
 * What clients of a host do among themselves: retained messages, every QoS, a will, a persistent session, refusals.
 *
 * @returns what they saw, to be compared with what they see at another host
 */
async function hostTraffic({ broker }: OwnHost, url: string): Promise<unknown[]> {
  const seen: unknown[] = []
  const see = async (client: MqttClient, topic: string) => {
    const { payload, qos, retain, dup } = await client.next(isMessageOn(topic))
    seen.push({ topic, payload: payload.toString(), qos, retain, dup })
    if (qos === 2) await client.next(isOf('pubrel'))
  }

  let panel = await connectUser(url, 'panel', { clean: false })
  seen.push(panel.connack.returnCode, panel.connack.sessionPresent)
  for (const filter of ['plant/#', 'closed/door']) seen.push(await panel.subscribeAll([filter], 2))
  const will = { topic: 'plant/controller/gone', payload: 'for good', qos: 1, retain: true } as const
  const controller = await connectUser(url, 'controller', { will })
  for (const qos of [0, 1, 2] as const) {
    await controller.publish(`plant/press/${qos}`, `at ${qos}`, { qos, retain: qos === 1 })
    await see(panel, `plant/press/${qos}`)
  }

  const nameless = await mqttOfTest({ url: url, clientId: '' })
  seen.push(await nameless.subscribe('plant/press/+'))
  await see(nameless, 'plant/press/1')
  await gone(broker, () => nameless.disconnect())

  await panel.ping()
  await gone(broker, () => panel.destroy())
  await controller.publish('plant/saw/1', 'missed', { qos: 1 })
  await controller.publish('plant/saw/2', 'missed too', { qos: 2 })
  panel = await connectUser(url, 'panel', { clean: false })
  seen.push(panel.connack.sessionPresent)
  await see(panel, 'plant/saw/1')
  await see(panel, 'plant/saw/2')

  await gone(broker, () => controller.destroy())
  await see(panel, 'plant/controller/gone')
  const stranger = await connectUser(url, 'stranger', { password: 'guess' })
  seen.push(stranger.connack.returnCode)
  await stranger.closed
  await gone(broker, async () => {
    await panel.publish('closed/door', 'open').catch(() => seen.push('closed without an ack'))
  })
  await panel.closed
  return seen
}

/** Resolves when the broker has noticed that a client went away. */
async function gone(broker: Aedes, leave: () => Promise<unknown>): Promise<void> {
  const noticed = once(broker, 'clientDisconnect')
  await leave()
  await noticed
}
