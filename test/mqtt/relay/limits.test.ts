import { describe, expect, it } from 'vitest'
import type { TopicGrant } from '../../../src/core/topics/topic-grant.ts'
import { acceptedSockets } from '../../helpers/accepted-sockets.ts'
import { isMessageOn, isOf, type Message, publishPacket } from '../../helpers/mqtt-client.ts'
import { DoorService, eventually } from '../door-service.ts'

const topics = ['house/#']
const grants: readonly TopicGrant[] = [
  { filter: 'house/#', access: 'read' },
  { filter: 'house/#', access: 'write' },
]

describe('limits hold for other topics', () => {
  it('a subscriber that does not read delays nobody, and is disconnected', async () => {
    const service = await DoorService.start({ topics, drainTimeout: 60_000 })
    const [stuck, healthy, publisher] = [
      await service.connectTopics(grants),
      await service.connectTopics(grants),
      await service.connectTopics(grants),
    ]
    for (const client of [stuck, healthy]) await client.subscribe('house/#', 1)
    stuck.stream.pause()
    const payload = Buffer.alloc(200_000, 'x')
    for (let n = 0; n < 100; n++) {
      await publisher.publish(`house/${n}`, payload)
      await healthy.next(isMessageOn(`house/${n}`))
    }
    stuck.stream.resume()
    await stuck.untilClosed()
    expect(stuck.received.filter(isOf('publish')).length).toBeLessThan(100)
  })

  it.each(['retained', 'kept'])(
    'a subscriber that takes nothing of what is %s is disconnected after drainTimeout',
    async kind => {
      const service = await DoorService.start({ topics, drainTimeout: 1_000 })
      const { sessionToken: password } = await service.things.sessions.create([], {
        access: 'read',
        topics: grants,
      })
      const session = { username: 'x', password, clientId: 'stuck', clean: false }
      if (kind === 'kept') {
        const leaving = await service.connect(session)
        await leaving.subscribe('house/#', 1)
        await leaving.disconnect()
      }
      const publisher = await service.connectTopics(grants)
      const payload = Buffer.alloc(1_000_000, 'x')
      for (let n = 0; n < 14; n++)
        await publisher.publish(`house/${n}`, payload, { retain: kind === 'retained' })
      const accepted = acceptedSockets()
      const stuck = await service.connect(session)
      const cut = new Promise<void>(resolve => accepted.at(-1)?.once('close', () => resolve()))
      if (kind === 'retained')
        stuck.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'house/#', qos: 1 }] })
      stuck.stream.pause()
      await cut
      stuck.stream.resume()
      await stuck.untilClosed()
      expect(stuck.received.filter(isOf('publish')).length).toBeLessThan(14)
    },
  )

  it('what is retained stops with UNSUBACK, and comes whole by the next SUBSCRIBE', async () => {
    const service = await DoorService.start({ topics })
    const publisher = await service.connectTopics(grants)
    const payload = Buffer.alloc(1_000_000, 'x')
    for (let n = 0; n < 20; n++) await publisher.publish(`house/${n}`, payload, { retain: true })
    const client = await service.connectTopics(grants)
    const count = () => client.received.filter(isOf('publish')).length
    await client.subscribe('house/#', 1)
    await client.next(isOf('publish'))
    await client.unsubscribe('house/#')
    const before = count()
    await client.ping()
    // What was on its way may still come (MQTT-3.10.4-3).
    expect(count()).toBeLessThan(before + 3)
    expect(count()).toBeLessThan(20)
    await client.subscribe('house/#', 1)
    // The second SUBSCRIBE to a filter takes the place of the first.
    await client.subscribe('house/#', 1)
    await publisher.publish('house/end', 'end')
    await client.next(isMessageOn('house/end'))
    for (let n = 0; n < 20; n++) await client.next(isMessageOn(`house/${n}`))
    const leaving = await service.connectTopics(grants)
    await leaving.subscribe('house/#', 2)
    await leaving.next(isOf('publish'))
    await leaving.destroy()
    await client.ping()
  })

  it('a session whose client does not read finds all of it when it comes again', async () => {
    const service = await DoorService.start({ topics, drainTimeout: 60_000 })
    const { sessionToken: password } = await service.things.sessions.create([], {
      access: 'read',
      topics: grants,
    })
    const session = { username: 'x', password, clientId: 'slow', clean: false }
    const stuck = await service.connect(session)
    await stuck.subscribe('house/#', 1)
    stuck.stream.pause()
    const publisher = await service.connectTopics(grants)
    const payload = (n: number) => Buffer.concat([Buffer.from(`${n} `), Buffer.alloc(200_000, 'x')])
    for (let n = 0; n < 70; n++) await publisher.publish('house/n', payload(n))
    stuck.stream.resume()
    await stuck.untilClosed()
    const seen = stuck.received.filter(isOf('publish')).length
    const again = await service.connect(session)
    await publisher.publish('house/end', 'end')
    await again.next(isMessageOn('house/end'))
    const numbers = again.received
      .filter(isMessageOn('house/n'))
      .map(({ payload }) => Number(payload.toString('latin1', 0, payload.indexOf(' '))))
    // What it had received before, it may have acknowledged.
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, n) => 70 - numbers.length + n))
    expect(numbers.length).toBeGreaterThanOrEqual(70 - seen)
  })

  it('subscriptions to things and to other topics count together', async () => {
    const service = await DoorService.start({ topics, limits: { subscriptionsPerConnection: 3 } })
    const thing = await service.createThing()
    await service.things.registry.setTopics(thing.thingId, grants)
    const client = await service.connectThing(thing)
    const values = (key: string) => `things/${thing.thingId}/values/${key}`
    expect(await client.subscribeAll([values('a'), 'house/a', 'house/b', 'house/c'])).toEqual([1, 1, 1, 128])
    expect(await client.subscribeAll([values('b'), 'house/a'])).toEqual([128, 1])
    const message = expect.stringContaining('option subscriptionsPerConnection')
    await eventually(() => service.things.refused.list(thing.thingId, 10)).toContainEqual(
      expect.objectContaining({ reason: 'subscription_refused', message }),
    )
    await client.unsubscribe('house/b')
    expect(await client.subscribeAll([values('b')])).toEqual([1])
  })

  it('a client over its rate is acknowledged late, and its writes are not', async () => {
    const service = await DoorService.start({ topics, limits: { writesPerSecond: 10 } })
    const thing = await service.createThing()
    await service.things.registry.setTopics(thing.thingId, grants)
    const client = await service.connectThing(thing)
    const publishing = Array.from({ length: 70 }, (_, n) => client.publish('house/n', `${n}`))
    await Promise.all(publishing.slice(0, 50))
    expect(client.acknowledgements.length).toBeLessThan(60)
    const other = await service.connectThing(thing)
    await other.publish(`things/${thing.thingId}/write`, { values: [{ key: 'n', value: 1 }] })
    expect(client.acknowledgements.length).toBeLessThan(70)
    await Promise.all(publishing)
  })

  it('what clients send at QoS 0 past 30 s of debt is dropped and reported, and they stay', async () => {
    const service = await DoorService.start({ topics, limits: { writesPerSecond: 1 } })
    const thing = await service.createThing()
    await service.things.registry.setTopics(thing.thingId, grants)
    const clients = await Promise.all(Array.from({ length: 45 }, () => service.connectThing(thing)))
    const [watcher] = clients
    await watcher?.subscribe(`things/${thing.thingId}/errors`)
    for (const client of clients) client.send(publishPacket('house/n', 'x', { qos: 0 }))
    const refused = (await watcher?.next(isMessageOn(`things/${thing.thingId}/errors`))) as Message
    expect(JSON.parse(String(refused.payload))).toMatchObject({ reason: 'write_rate_exceeded' })
    for (const client of clients) client.send(publishPacket('house/n', 'y', { qos: 0 }))
    await Promise.all(clients.map(client => client.ping()))
  })

  it('retained messages have a bound in all, beyond which a new one is acknowledged and reported', async () => {
    const service = await DoorService.start({ topics, limits: { writesPerSecond: 100_000 } })
    const thing = await service.createThing()
    await service.things.registry.setTopics(thing.thingId, grants)
    const client = await service.connectThing(thing)
    const payload = Buffer.alloc(1_000_000, 'x')
    for (let n = 0; n < 67; n++) await client.publish(`house/${n}`, payload, { retain: true })
    await client.publish('house/one more', payload, { retain: true })
    const [refused] = await service.things.refused.list(thing.thingId, 1)
    expect(refused).toMatchObject({ reason: 'too_many_retained', door: 'mqtt' })
    await client.publish('house/0', '', { retain: true })
    await client.publish('house/one more', payload, { retain: true })
    await client.subscribe('house/one more')
    await client.next(isMessageOn('house/one more'))
  })
})
