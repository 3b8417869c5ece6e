import { Aedes } from 'aedes'
import { describe, expect, test } from 'vitest'
import { isMessageOn, isOf } from '../helpers/mqtt-client.ts'
import { accept, connectPacket, openBroker, watch } from './stock-aedes.ts'

/**
 * What src/mqtt takes for granted of a broker's fields, hooks and persistence and is not documented API, one fact a
 * test, on an Aedes that nothing was attached to. seams.test.ts has the same for the reading of a connection.
 */

describe('a broker', () => {
  test('names the version of Aedes', async () => {
    expect(Reflect.get(await openBroker(), 'version')).toMatch(/^1\.2\.\d+$/)
  })

  test('has no persistence, and is closed, until it listens', async () => {
    const broker = new Aedes()
    expect(broker.closed).toBe(true)
    expect(Reflect.get(broker, 'persistence')).toBeUndefined()
    await broker.listen()
    expect(broker.closed).toBe(false)
    expect(Reflect.get(broker, 'persistence')).toBeTypeOf('object')
    await new Promise<void>(resolve => broker.close(resolve))
  })

  test('has handle and the hooks as fields of its own, which can be replaced', async () => {
    const broker = await openBroker()
    const fields = ['handle', 'preConnect', 'authenticate', 'authorizePublish', 'authorizeSubscribe']
    for (const field of [...fields, 'authorizeForward']) {
      expect(Object.getOwnPropertyDescriptor(broker, field)).toMatchObject({
        writable: true,
        configurable: true,
      })
    }
  })

  test('looks its hooks up at each use', async () => {
    const broker = await openBroker()
    const { peer } = await accept(broker)
    const calls = watch(broker, 'authorizePublish')
    await peer.connect()
    await peer.publish('a', '1')
    expect(calls).toHaveLength(1)
  })

  test('limits the client ids of MQTT 3.1 by maxClientsIdLength at each CONNECT', async () => {
    const broker = await openBroker()
    const clientId = 'more than twenty-three characters'
    const connect = { ...connectPacket, protocolId: 'MQIsdp', protocolVersion: 3, clientId } as const
    const refused = await accept(broker)
    refused.peer.send(connect)
    expect(await refused.peer.next(isOf('connack'))).toMatchObject({ returnCode: 2 })
    Reflect.set(broker, 'maxClientsIdLength', 65_535)
    const taken = await accept(broker)
    taken.peer.send(connect)
    expect(await taken.peer.next(isOf('connack'))).toMatchObject({ returnCode: 0 })
  })

  test('keeps the subscriptions of persistent sessions through methods looked up on its persistence', async () => {
    const broker = await openBroker()
    const persistence: object = Reflect.get(broker, 'persistence')
    const calls = (method: string) => watch(persistence, method)
    const added = calls('addSubscriptions')
    const removed = calls('removeSubscriptions')
    const restored = calls('subscriptionsByClient')
    const cleaned = calls('cleanSubscriptions')
    const { peer } = await accept(broker)
    await peer.connect({ clientId: 'peer', clean: false })
    expect(restored).toEqual([[{ id: 'peer' }]])
    await peer.subscribe('a/b', 1)
    expect(added).toMatchObject([[{ id: 'peer' }, [{ topic: 'a/b', qos: 1 }]]])
    peer.send({ cmd: 'unsubscribe', messageId: 9, unsubscriptions: ['a/b'] })
    await peer.next(isOf('unsuback'))
    expect(removed).toMatchObject([[{ id: 'peer' }, ['a/b']]])
    expect(cleaned).toEqual([])
    await (await accept(broker)).peer.connect({ clientId: 'other' })
    expect(cleaned).toMatchObject([[{ id: 'other' }]])
  })
})

describe('the hooks', () => {
  test('preConnect may change CONNECT: client id, will and credentials', async () => {
    const broker = await openBroker()
    broker.preConnect = (_client, packet, done) => {
      Object.assign(packet, { clientId: 'another', username: 'who' })
      delete packet.will
      done(null, true)
    }
    const asked = watch(broker, 'authenticate')
    const { client, peer } = await accept(broker)
    const will = { topic: 'a', payload: 'gone' }
    await peer.connect({ clientId: 'peer', username: 'somebody', will })
    expect(client.id).toBe('another')
    expect(asked[0]?.[1]).toBe('who')
    expect(Reflect.get(client, 'will')).toBeFalsy()
  })

  test('are not asked about MQTT 5, which gets return code 1', async () => {
    const broker = await openBroker()
    const asked = watch(broker, 'authenticate')
    const { peer } = await accept(broker)
    peer.send({ ...connectPacket, protocolVersion: 5 })
    expect(await peer.next(isOf('connack'))).toMatchObject({ returnCode: 1 })
    expect(asked).toEqual([])
  })

  test.each([2, 3, 4, 5])(
    'refuse a CONNECT with return code %i if authenticate says so',
    async returnCode => {
      const broker = await openBroker()
      broker.authenticate = (_client, _username, _password, done) => {
        done(Object.assign(new Error('refused'), { returnCode }), false)
      }
      const { peer } = await accept(broker)
      expect(await peer.connect()).toMatchObject({ returnCode })
      await peer.closed
    },
  )

  test('may rename a subscription in place, and so change what is stored and matched', async () => {
    const broker = await openBroker()
    broker.authorizeSubscribe = (_client, subscription, done) => {
      done(null, Object.assign(subscription, { topic: 'inside' }))
    }
    const added = watch(Reflect.get(broker, 'persistence'), 'addSubscriptions')
    const { client, peer } = await accept(broker)
    await peer.connect({ clean: false })
    await peer.subscribe('outside')
    expect(added).toMatchObject([[{ id: client.id }, [{ topic: 'inside' }]]])
    await peer.publish('inside', '1')
    await peer.next(isMessageOn('inside'))
  })

  test('may put another packet in the place of one that is forwarded, or none', async () => {
    const broker = await openBroker()
    broker.authorizeForward = (_client, packet) => {
      return packet.topic === 'secret' ? null : { ...packet, topic: 'outside' }
    }
    const { peer } = await accept(broker)
    await peer.connect()
    await peer.subscribe('#')
    await peer.publish('secret', '1')
    await peer.publish('inside', '2')
    expect(await peer.next(isOf('publish'))).toMatchObject({ topic: 'outside', payload: Buffer.from('2') })
  })
})

describe('the persistence', () => {
  test('is given all filters of a SUBSCRIBE, those that were refused too', async () => {
    const broker = await openBroker()
    broker.authorizeSubscribe = (_client, subscription, done) => {
      done(null, subscription.topic === 'refused' ? null : subscription)
    }
    const added = watch(Reflect.get(broker, 'persistence'), 'addSubscriptions')
    const { peer } = await accept(broker)
    await peer.connect({ clean: false })
    expect(await peer.subscribeAll(['granted', 'refused'])).toEqual([1, 128])
    expect(added.at(-1)?.[1]).toMatchObject([{ topic: 'granted' }, { topic: 'refused' }])
  })

  test('tells by the subscriptions of a client whether it has a session, and each is authorised again', async () => {
    const broker = await openBroker()
    const persistence: object = Reflect.get(broker, 'persistence')
    Reflect.set(persistence, 'subscriptionsByClient', async () => [{ topic: 'mark', qos: 0 }])
    broker.authorizeSubscribe = (_client, _subscription, done) => done(null, null)
    const asked = watch(broker, 'authorizeSubscribe')
    const { client, peer } = await accept(broker)
    expect(await peer.connect({ clean: false })).toMatchObject({ sessionPresent: true })
    expect(asked).toMatchObject([[client, { topic: 'mark' }, expect.any(Function)]])
  })
})
