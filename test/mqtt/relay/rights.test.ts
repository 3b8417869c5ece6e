import { describe, expect, it } from 'vitest'
import type { TopicGrant } from '../../../src/core/topics/topic-grant.ts'
import { isMessageOn, isOf } from '../../helpers/mqtt-client.ts'
import { DoorService, eventually } from '../door-service.ts'

const topics = ['house/#']
const all: readonly TopicGrant[] = [
  { filter: 'house/#', access: 'read' },
  { filter: 'house/#', access: 'write' },
]
const one: readonly TopicGrant[] = [{ filter: 'house/one', access: 'read' }]

describe('topics that a thing is given', () => {
  it('end at once when they are withdrawn, with what its session was owed there', async () => {
    const service = await DoorService.start({ topics })
    const thing = await service.createThing()
    await service.things.registry.setTopics(thing.thingId, all)
    const session = { clientId: 'board', clean: false }
    const device = await service.connectThing(thing, session)
    await device.subscribe('house/+')
    await service.things.registry.setTopics(thing.thingId, [...all, ...one])
    await device.ping()
    const publisher = await service.connectTopics(all)
    device.acknowledges = false
    await publisher.publish('house/two', 'owed')
    await device.next(isMessageOn('house/two'))
    await service.things.registry.setTopics(thing.thingId, one)
    await device.untilClosed()
    await eventually(() => service.documents('topic-sessions/')).toEqual([])
    // It is no fault of the device.
    expect(await service.things.refused.list(thing.thingId, 10)).toEqual([])
    await publisher.publish('house/one', 'not subscribed any more')
    const again = await service.connectThing(thing, session)
    expect(await again.subscribeAll(['house/+', 'house/one'])).toEqual([128, 1])
    await publisher.publish('house/two', 'hidden')
    await publisher.publish('house/one', 'seen')
    await again.next(isMessageOn('house/one'))
    expect(again.received.filter(isOf('publish')).map(({ payload }) => String(payload))).toEqual(['seen'])
  })

  it('count from the next connection on, if it had none', async () => {
    const service = await DoorService.start({ topics })
    const thing = await service.createThing()
    const device = await service.connectThing(thing)
    await service.things.registry.setTopics(thing.thingId, all)
    expect(await device.subscribe('house/one')).toBe(128)
    const again = await service.connectThing(thing)
    expect(await again.subscribe('house/one')).toBe(1)
  })

  it('take all that is kept along when the thing is removed', async () => {
    const service = await DoorService.start({ topics })
    const thing = await service.createThing()
    await service.things.registry.setTopics(thing.thingId, all)
    const device = await service.connectThing(thing, { clientId: 'board', clean: false })
    await device.subscribe('house/+')
    await device.disconnect()
    const publisher = await service.connectTopics(all)
    await publisher.publish('house/a', 'owed')
    expect(await service.documents('topic-queue/')).toHaveLength(1)
    await service.things.registry.remove(thing.thingId)
    const left = async () => [...(await service.documents('topic-')), ...(await service.documents('mqtt-'))]
    await eventually(left).toEqual([])
    await publisher.publish('house/a', 'to nobody')
    expect(await left()).toEqual([])
  })

  it('end with a session', async () => {
    const service = await DoorService.start({ topics })
    const { sessions } = service.things
    const minted = await sessions.create([], { access: 'read', topics: all })
    const client = await service.connect({
      ...{ username: 'x', password: minted.sessionToken, clientId: 'app', clean: false },
    })
    await client.subscribe('house/+')
    await sessions.remove(minted.sessionId)
    await client.untilClosed()
    await eventually(() => service.documents('topic-')).toEqual([])
  })

  it('are refused outside of those that are served, and nothing is half done', async () => {
    const service = await DoorService.start({ topics })
    const { registry, sessions } = service.things
    const outside: readonly TopicGrant[] = [...all, { filter: 'garden/#', access: 'read' }]
    const refused = { reason: 'invalid_body', message: expect.stringContaining('garden/#') }
    const { thingId } = await service.createThing()
    await expect(registry.create({ topics: outside })).rejects.toMatchObject(refused)
    await expect(registry.setTopics(thingId, outside)).rejects.toMatchObject(refused)
    await expect(sessions.create('*', { access: 'read', topics: outside })).rejects.toMatchObject(refused)
    await expect(sessions.create([], { access: 'read' })).rejects.toMatchObject({ reason: 'invalid_body' })
    await expect(registry.setTopics('aaaaaaaaaaaaaaaa', all)).rejects.toMatchObject({
      reason: 'unknown_thing',
    })
    expect((await registry.list({ limit: 10 })).things).toEqual([
      expect.not.objectContaining({ topics: expect.anything() }),
    ])
    const many = Array.from({ length: 101 }, (_, n): TopicGrant => ({ filter: `house/${n}`, access: 'read' }))
    await expect(registry.setTopics(thingId, many)).rejects.toMatchObject({ reason: 'invalid_body' })
  })

  it('are not served any more when the option is narrower after a restart', async () => {
    const service = await DoorService.start({ topics: ['house/#', 'garden/#'] })
    const thing = await service.createThing()
    const garden: TopicGrant = { filter: 'garden/#', access: 'read' }
    await service.things.registry.setTopics(thing.thingId, [...all, garden])
    const session = { clientId: 'board', clean: false }
    const device = await service.connectThing(thing, session)
    await device.subscribeTo({ topic: 'house/a', qos: 1 }, { topic: 'garden/a', qos: 1 })
    const next = await service.restart({ topics })
    const again = await next.connectThing(thing, session)
    expect(again.connack.sessionPresent).toBe(true)
    expect(await again.subscribe('garden/a')).toBe(128)
    await again.publish('house/a', 'still')
    await again.next(isMessageOn('house/a'))
    const last = await next.restart()
    const off = await last.connectThing(thing, session)
    expect(await off.subscribe('house/a')).toBe(128)
  })
})
