import { once } from 'node:events'
import { beforeEach, describe, expect, test } from 'vitest'
import { attachThings } from '../../../src/mqtt/index.ts'
import { encodePackets, isMessageOn, isOf, openMqtt, publishPacket } from '../../helpers/mqtt-client.ts'
import { mqttOfTest } from '../../helpers/of-test.ts'
import { connectUser, depth, functionsOf, type OwnHost, openOwnHost, storedDepths } from './own-host.ts'

/** What `attachThings` and `detach` do to a host that runs on before, between and after them. */

let host: OwnHost
beforeEach(async () => {
  host = await openOwnHost()
})

describe('detach()', () => {
  test('puts back everything on the broker', async () => {
    const before = functionsOf(host.broker)
    const detach = attachThings(host.broker, host.things)
    expect(functionsOf(host.broker)).not.toEqual(before)
    const url = await host.serve()
    const thing = await mqttOfTest({ url: url, username: host.thingToken })
    await thing.publish(`things/${host.thingToken}/write`, depth(1))
    await detach()
    expect(functionsOf(host.broker)).toEqual(before)
    await detach()
    expect(functionsOf(host.broker)).toEqual(before)
  })

  test('closes the connections of things and leaves those of the host, which go on', async () => {
    const detach = attachThings(host.broker, host.things)
    const url = await host.serve()
    const thing = await mqttOfTest({ url: url, username: host.thingToken })
    const panel = await connectUser(url, 'panel')
    await panel.subscribe('plant/#', 2)
    const will = { topic: 'plant/gone', payload: 'controller', qos: 1 } as const
    const controller = await connectUser(url, 'controller', { will })
    await controller.publish('plant/press', 'before')
    await panel.next(isMessageOn('plant/press'))
    const openId = await controller.publishUntilPubrec('plant/saw', 'begun before')
    await detach()
    await thing.closed
    await controller.release(openId)
    for (const qos of [0, 1, 2] as const) {
      await controller.publish('plant/press', `after, at ${qos}`, { qos })
      expect(await panel.next(isMessageOn('plant/press'))).toMatchObject({ qos })
    }
    await controller.destroy()
    await panel.next(isMessageOn('plant/gone'))
  })

  test('leaves the wills of things to the next attachThings(), which writes them unless the thing is back', async () => {
    const detach = attachThings(host.broker, host.things)
    const url = await host.serve()
    for (const [value, clientId] of ['gone', 'back'].entries()) {
      const will = { topic: `things/${host.thingToken}/write`, payload: depth(value) }
      await mqttOfTest({ url: url, username: host.thingToken, clientId, will })
    }
    await detach()
    expect(await storedDepths(host)).toEqual([])
    const detachAgain = attachThings(host.broker, host.things, { willGrace: 500 })
    await mqttOfTest({ url: await host.serve(), username: host.thingToken, clientId: 'back' })
    await expect.poll(() => storedDepths(host)).toEqual([0])
    await detachAgain()
  })

  test('leaves it to the host what becomes of things/…', async () => {
    const detach = attachThings(host.broker, host.things)
    const url = await host.serve()
    const panel = await connectUser(url, 'panel')
    await detach()
    const topic = `things/${host.thingToken}/write`
    expect(await panel.subscribe(topic)).toBe(1)
    await panel.publish(topic, depth(1))
    await panel.next(isMessageOn(topic))
    expect(await host.things.records.resources(host.thingId)).toEqual([])
  })

  test('loses nothing of what a client of the host has sent', async () => {
    const { authorizePublish } = host.broker
    host.broker.authorizePublish = (...given) => setImmediate(() => authorizePublish(...given))
    const detach = attachThings(host.broker, host.things)
    const controller = await connectUser(await host.serve(), 'controller')
    // More than are read ahead, and the last one cut in two.
    const bytes = encodePackets(...Array.from({ length: 600 }, (_, index) => plantPacket(index + 1)))
    controller.sendBytes(bytes.subarray(0, -10))
    await controller.next(isOf('puback', 1))
    await detach()
    controller.sendBytes(bytes.subarray(-10))
    await controller.next(isOf('puback', 600))
    expect(new Set(controller.acknowledgements).size).toBe(600)
  })

  test('finishes pending writes and acknowledges what is stored, and nothing else', async () => {
    const detach = attachThings(host.broker, host.things)
    const thing = await mqttOfTest({ url: await host.serve(), username: host.thingToken })
    const topic = `things/${host.thingToken}/write`
    const writes = Array.from({ length: 600 }, (_, index) => {
      return publishPacket(topic, { values: [{ key: 'depth', value: index }] }, { messageId: index + 1 })
    })
    thing.sendBytes(encodePackets(...writes))
    await thing.next(isOf('puback', 1))
    await detach()
    await thing.closed
    expect((await storedDepths(host)).length).toBe(thing.acknowledgements.length)
  })

  test('waits for a client that the host is authenticating, which then goes on', async () => {
    const { asked, decide } = authenticateLater()
    const detach = attachThings(host.broker, host.things)
    const connecting = connectUser(await host.serve(), 'panel')
    await asked
    const detached = detach()
    decide()
    await detached
    const panel = await connecting
    expect(panel.connack.returnCode).toBe(0)
    await panel.publish('plant/press', 'goes on')
  })

  test('leaves to the host a client that connects while it waits', async () => {
    const { asked, decide } = authenticateLater()
    const detach = attachThings(host.broker, host.things)
    const url = await host.serve()
    const connecting = connectUser(url, 'panel')
    await asked
    const detached = detach()
    const accepted = host.nextConnection()
    const connectingToo = connectUser(url, 'controller')
    await accepted
    decide()
    await detached
    const topic = `things/${host.thingToken}/write`
    const panel = await connecting
    const controller = await connectingToo
    expect(await panel.subscribe(topic)).toBe(1)
    await controller.publish(topic, depth(1))
    await panel.next(isMessageOn(topic))
  })

  test('leaves a connection on which nothing was said yet', async () => {
    const detach = attachThings(host.broker, host.things)
    const panel = await openMqtt({ url: await host.serve() })
    await detach()
    await panel.connect({ clientId: 'panel', username: 'panel', password: 'panel password' })
    expect(panel.connack.returnCode).toBe(0)
    await panel.disconnect()
  })
})

describe('attachThings()', () => {
  test('can be called again after detach(), and tells each refused write once', async () => {
    await attachThings(host.broker, host.things)()
    const detach = attachThings(host.broker, host.things)
    const { thingToken } = host
    const thing = await mqttOfTest({ url: await host.serve(), username: thingToken })
    await thing.subscribe(`things/${thingToken}/errors`)
    await thing.publish(`things/${thingToken}/write`, depth(1))
    await thing.publish(`things/${thingToken}/write`, 'no JSON')
    await thing.next(isMessageOn(`things/${thingToken}/errors`))
    await thing.ping()
    expect(thing.received.filter(isMessageOn(`things/${thingToken}/errors`))).toHaveLength(1)
    expect(await storedDepths(host)).toEqual([1])
    await detach()
  })

  test('keeps persistent sessions of the host from before it, as detach() does from before that', async () => {
    const before = await connectUser(await host.serve(), 'panel', { clean: false })
    await before.subscribe('plant/#', 1)
    await before.disconnect()
    const detach = attachThings(host.broker, host.things)
    const url = await host.serve()
    const controller = await connectUser(url, 'controller')
    await controller.publish('plant/press', 'missed')
    const between = await connectUser(url, 'panel', { clean: false })
    expect(between.connack.sessionPresent).toBe(true)
    await between.next(isMessageOn('plant/press'))
    await between.subscribe('office/#', 1)
    await between.disconnect()
    await detach()
    await controller.publish('office/door', 'missed too')
    const after = await connectUser(url, 'panel', { clean: false })
    expect(after.connack.sessionPresent).toBe(true)
    await after.next(isMessageOn('office/door'))
  })

  test('leaves clients that were connected before it', async () => {
    const panel = await connectUser(await host.serve(), 'panel')
    const detach = attachThings(host.broker, host.things)
    expect(await panel.subscribe('plant/#', 2)).toBe(2)
    await panel.publish('plant/press', 'goes on', { qos: 2 })
    await panel.next(isMessageOn('plant/press'))
    await detach()
    await panel.publish('plant/press', 'goes on again')
    await panel.next(isMessageOn('plant/press'))
  })

  test('refuses connections through a handle that a server was given before it, and says so', async () => {
    const url = await host.serve()
    attachThings(host.broker, host.things)
    const refused = once(host.broker, 'connectionError')
    const warned = once(process, 'warning')
    await expect(connectUser(url, 'panel')).rejects.toThrow()
    expect((await refused)[1]).toBeInstanceOf(Error)
    expect(String(await warned)).toMatch(/call attachThings first, then create the server/)
  })
})

/** The first CONNECT is decided on by the host when the test wants it to; later ones at once. */
function authenticateLater() {
  const { authenticate } = host.broker
  let decide: (() => void) | undefined
  const asked = new Promise<void>(resolve => {
    host.broker.authenticate = (...given) => {
      if (decide) return authenticate(...given)
      decide = () => authenticate(...given)
      resolve()
    }
  })
  return { asked, decide: () => decide?.() }
}

/** A message of the host's own, with the packet id `messageId`. */
function plantPacket(messageId: number) {
  return publishPacket('plant/press', `turn ${messageId}`, { messageId })
}
