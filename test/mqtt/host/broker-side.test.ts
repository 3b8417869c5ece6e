import { once } from 'node:events'
import type { Client, Subscription } from 'aedes'
import { beforeEach, describe, expect, it } from 'vitest'
import { attachThings } from '../../../src/mqtt/index.ts'
import { isMessageOn, isOf } from '../../helpers/mqtt-client.ts'
import { mqttOfTest } from '../../helpers/of-test.ts'
import { messagesOf } from '../messages.ts'
import { connectUser, depth, type OwnHost, openOwnHost, storedDepths } from './own-host.ts'

/** What a host sees and does through its broker of connections that the broker does not read itself. */

let host: OwnHost
let url: string
beforeEach(async () => {
  host = await openOwnHost()
  attachThings(host.broker, host.things)
  url = await host.serve()
})

/** Has every method of the host's persistence do this instead. */
function breakPersistence(instead: () => Promise<unknown>): void {
  const persistence: object = Reflect.get(host.broker, 'persistence')
  const names = [
    'subscriptionsByClient',
    'cleanSubscriptions',
    'addSubscriptions',
    'delWill',
    'cleanIncoming',
  ]
  for (const name of names) Reflect.set(persistence, name, instead)
}

/** Has the host's persistence answer nobody who connects before what is returned is called. */
function delayPersistence(): () => void {
  let answer = () => {}
  const answering = new Promise<void>(resolve => {
    answer = resolve
  })
  breakPersistence(() => answering)
  return answer
}

/** The client of the next connection that the broker lets in. */
async function nextClient(): Promise<Client> {
  const [client] = (await once(host.broker, 'client')) as [Client]
  return client
}

describe('a thing', () => {
  it.each([
    ['fails', () => Promise.reject(new Error('away'))],
    ['never answers', () => new Promise<never>(() => {})],
  ])('connects, writes and subscribes while the persistence of the host %s', async (_case, instead) => {
    breakPersistence(instead)
    const { thingToken } = host
    const thing = await mqttOfTest({ url: url, username: thingToken, clean: false })
    expect(thing.connack.returnCode).toBe(0)
    expect(await thing.subscribe(`things/${thingToken}/values/#`)).toBe(1)
    await thing.publish(`things/${thingToken}/write`, depth(1), { qos: 2 })
    await thing.next(isMessageOn(`things/${thingToken}/values/depth`))
    await thing.ping()
    await thing.disconnect()
    expect(await storedDepths(host)).toEqual([1])
  })

  it('that has gone before the persistence of the host answers is counted until then, and no longer', async () => {
    const answer = delayPersistence()
    const coming = nextClient()
    const thing = await mqttOfTest({ url: url, username: host.thingToken })
    await thing.disconnect()
    const gone = once(host.broker, 'clientDisconnect')
    answer()
    expect(await gone).toEqual([await coming])
    expect(host.broker.connectedClients).toBe(0)
  })

  it('that is there longer than its keep-alive before the persistence of the host answers can be closed by it', async () => {
    const answer = delayPersistence()
    const thing = await mqttOfTest({ url: url, username: host.thingToken, keepalive: 1 })
    for (let value = 0; value < 4; value++) {
      await new Promise(resolve => setTimeout(resolve, 800))
      await thing.publish(`things/${host.thingToken}/write`, depth(value))
    }
    const coming = once(host.broker, 'clientReady') as Promise<[Client]>
    answer()
    const [client] = await coming
    const gone = once(host.broker, 'clientDisconnect')
    client.close()
    await thing.closed
    expect(await gone).toEqual([client])
    expect(host.broker.connectedClients).toBe(0)
  })

  it('is counted, told of and can be closed by the host', async () => {
    const coming = nextClient()
    const ready = once(host.broker, 'clientReady')
    const thing = await mqttOfTest({ url: url, username: host.thingToken })
    const client = await coming
    expect(await ready).toEqual([client])
    expect(host.broker.connectedClients).toBe(1)
    expect(client.conn).toMatchObject({ remoteAddress: '127.0.0.1', remotePort: expect.any(Number) })
    const gone = once(host.broker, 'clientDisconnect')
    client.close()
    await thing.closed
    expect(await gone).toEqual([client])
    expect(host.broker.connectedClients).toBe(0)
  })

  it('gets what the host sends to it alone, and acknowledges it to the host', async () => {
    const coming = nextClient()
    const thing = await mqttOfTest({ url: url, username: host.thingToken })
    const client = await coming
    const packet = {
      cmd: 'publish',
      topic: 'plant/order',
      payload: 'stop',
      dup: false,
      retain: false,
    } as const
    await new Promise(resolve => client.publish({ ...packet, qos: 1 }, resolve))
    const { messageId = 0 } = await thing.next(isMessageOn('plant/order'))
    const acked = once(host.broker, 'ack')
    thing.send({ cmd: 'puback', messageId })
    await acked
  })

  it('is not told to be silent while it writes, and is when it sends nothing', async () => {
    const silent = once(host.broker, 'keepaliveTimeout')
    const coming = nextClient()
    const thing = await mqttOfTest({ url: url, username: host.thingToken, keepalive: 1 })
    const client = await coming
    for (let value = 0; value < 4; value++) {
      await new Promise(resolve => setTimeout(resolve, 800))
      await thing.publish(`things/${host.thingToken}/write`, depth(value))
    }
    expect(await silent).toEqual([client])
    await thing.closed
  })
})

describe('a client of the host', () => {
  it('is subscribed filter by filter, and answered once', async () => {
    const events: Subscription[][] = []
    host.broker.on('subscribe', subscriptions => events.push(subscriptions))
    const panel = await connectUser(url, 'panel', { clean: false })
    expect(await panel.subscribeAll(['plant/a', 'closed/door', 'plant/b', 'plant/a'], 1)).toEqual([
      1, 128, 1, 1,
    ])
    await panel.ping()
    expect(events.map(told => told.map(({ topic, qos }) => [topic, qos]))).toEqual([
      [['plant/a', 1]],
      [['closed/door', 128]],
      [['plant/b', 1]],
    ])
  })

  it('gets retained messages behind SUBACK', async () => {
    const panel = await connectUser(url, 'panel')
    for (const topic of ['plant/a', 'plant/b']) await panel.publish(topic, 'kept', { retain: true })
    const later = await connectUser(url, 'later')
    await later.subscribeAll(['plant/a', 'plant/b'])
    for (const topic of ['plant/a', 'plant/b']) await later.next(isMessageOn(topic))
    expect(later.received.map(({ cmd }) => cmd).slice(0, 2)).toEqual(['connack', 'suback'])
  })

  it('that has a session is told that it does not find the filter of a thing in it again', async () => {
    const panel = await connectUser(url, 'panel', { clean: false })
    const topic = `things/${host.thingToken}/values/depth`
    expect(await panel.subscribeAll([topic, 'plant/#'])).toEqual([128, 1])
    await panel.disconnect()
    const again = await connectUser(url, 'panel', { clean: false })
    expect(again.connack.sessionPresent).toBe(true)
    await again.publish(`things/${host.thingToken}/write`, depth(1))
    await again.publish('plant/press', 'on')
    await again.next(isMessageOn('plant/press'))
    expect(messagesOf(again).map(({ topic }) => topic)).toEqual(['plant/press'])
  })

  it('is unsubscribed from what is the host’s and from what is a thing’s in one packet', async () => {
    const panel = await connectUser(url, 'panel')
    const topic = `things/${host.thingToken}/values/depth`
    await panel.subscribeAll(['plant/#', topic])
    panel.send({ cmd: 'unsubscribe', messageId: 9, unsubscriptions: ['plant/#', topic, 'a/#/b'] })
    await panel.next(isOf('unsuback', 9))
    await panel.publish(`things/${host.thingToken}/write`, depth(1))
    await panel.publish('plant/press', 'on')
    await panel.ping()
    expect(messagesOf(panel)).toEqual([])
  })
})
