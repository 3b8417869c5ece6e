import { Readable } from 'node:stream'
import { Aedes } from 'aedes'
import { describe, expect, test } from 'vitest'
import { encodePackets, isMessageOn, isOf } from '../helpers/mqtt-client.ts'
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
    const { peer } = await accept(broker)
    await peer.connect({ clientId: 'peer', clean: false })
    expect(restored).toEqual([[{ id: 'peer' }]])
    await peer.subscribe('a/b', 1)
    expect(added).toMatchObject([[{ id: 'peer' }, [{ topic: 'a/b', qos: 1 }]]])
    await peer.unsubscribe('a/b')
    expect(removed).toMatchObject([[{ id: 'peer' }, ['a/b']]])
  })

  test('says that a client is ready, once, behind CONNACK', async () => {
    const broker = await openBroker()
    const ready: unknown[] = []
    const { client, peer } = await accept(broker)
    broker.on('clientReady', client => {
      ready.push(client)
      client.conn.write(encodePackets({ cmd: 'pingresp' }))
    })
    await peer.connect()
    await peer.next(isOf('pingresp'))
    expect(ready).toEqual([client])
    expect(peer.received.map(({ cmd }) => cmd)).toEqual(['connack', 'pingresp'])
  })

  test('says nothing of that of a client that is refused', async () => {
    const broker = await openBroker()
    broker.authenticate = (_client, _username, _password, done) => done(null, false)
    let isReady = false
    broker.on('clientReady', () => {
      isReady = true
    })
    const { peer } = await accept(broker)
    await peer.connect()
    await peer.closed
    expect(isReady).toBe(false)
  })

  test('says that a client has subscribed, once for each SUBSCRIBE, right behind SUBACK', async () => {
    const broker = await openBroker()
    broker.authorizeSubscribe = (_client, subscription, done) => {
      done(null, subscription.topic === 'refused' ? null : subscription)
    }
    const clients: unknown[] = []
    broker.on('subscribe', (_subscriptions, client) => {
      clients.push(client)
      client.conn.write(encodePackets({ cmd: 'pingresp' }))
    })
    const { client, peer } = await accept(broker)
    await peer.connect()
    const packets = [['a', 'b', 'refused'], ['refused'], ['a']].map((topics, index) => ({
      cmd: 'subscribe' as const,
      messageId: index + 1,
      subscriptions: topics.map(topic => ({ topic, qos: 1 as const })),
    }))
    peer.sendBytes(encodePackets(...packets))
    for (const _ of packets) await peer.next(isOf('pingresp'))
    expect(clients).toEqual([client, client, client])
    const commands = peer.received.map(({ cmd }) => cmd).slice(1)
    expect(commands).toEqual(['suback', 'pingresp', 'suback', 'pingresp', 'suback', 'pingresp'])
  })

  test('says that behind the callback of subscribe(), which leaves the answer out', async () => {
    const broker = await openBroker()
    broker.authorizeSubscribe = (_client, subscription, done) => {
      done(null, subscription.topic === 'refused' ? null : subscription)
    }
    const { client, peer } = await accept(broker)
    await peer.connect()
    const order: unknown[] = []
    broker.on('subscribe', subscriptions => order.push(subscriptions.map(({ topic, qos }) => [topic, qos])))
    for (const topics of [['a', 'refused'], []]) {
      const subscriptions = topics.map(topic => ({ topic, qos: 1 as const }))
      await new Promise<void>(resolve => {
        client.subscribe({ cmd: 'subscribe', subscriptions }, error => {
          order.push(error)
          setImmediate(resolve)
        })
      })
    }
    await peer.ping()
    const told = [
      ['a', 1],
      ['refused', 128],
    ]
    expect(order).toEqual([undefined, told, undefined, []])
    expect(peer.received.map(({ cmd }) => cmd)).toEqual(['connack', 'pingresp'])
  })

  test('answers a filter that is named twice once, and none at all if one is none', async () => {
    const { peer } = await accept(await openBroker())
    await peer.connect()
    expect(await peer.subscribeAll(['a', 'b', 'a'])).toEqual([1, 1])
    await expect(peer.subscribeAll(['a', '#/b'])).rejects.toThrow()
    await peer.closed
  })

  test('says nothing of that for subscriptions that are restored', async () => {
    const broker = await openBroker()
    const first = await accept(broker)
    await first.peer.connect({ clientId: 'peer', clean: false })
    await first.peer.subscribe('a')
    await first.peer.disconnect()
    let isTold = false
    broker.on('subscribe', () => {
      isTold = true
    })
    const { peer } = await accept(broker)
    expect(await peer.connect({ clientId: 'peer', clean: false })).toMatchObject({ sessionPresent: true })
    await peer.ping()
    expect(isTold).toBe(false)
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
  test('is asked for the retained messages of the filters that were granted, as they were renamed', async () => {
    const broker = await openBroker()
    broker.authorizeSubscribe = (_client, subscription, done) => {
      const granted = Object.assign(subscription, { topic: `inside ${subscription.topic}` })
      done(null, subscription.topic === 'inside refused' ? null : granted)
    }
    const persistence: object = Reflect.get(broker, 'persistence')
    const asked: unknown[] = []
    Reflect.set(persistence, 'createRetainedStreamCombi', (filters: string[]) => {
      asked.push(filters)
      return Readable.from([])
    })
    const { peer } = await accept(broker)
    await peer.connect()
    expect(await peer.subscribeAll(['a', 'refused', 'b'])).toEqual([1, 128, 1])
    await peer.ping()
    expect(asked).toEqual([['inside a', 'inside b']])
    expect(peer.received.filter(isOf('publish'))).toEqual([])
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
