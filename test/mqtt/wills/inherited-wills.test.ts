import { describe, expect, it } from 'vitest'
import type { ConnectOptions } from '../../helpers/mqtt-client.ts'
import { DoorService, eventually, reading, writeTopicOf } from '../door-service.ts'

/** Milliseconds; long enough for a few clients to come back on a busy machine. */
const willGrace = 10_000

/** test/fault/wills.test.ts has the same with processes that are killed. */
describe('the will of a client that was connected when the service stopped', () => {
  it('is written once after willGrace, unless the client is back by then', async () => {
    let service = await DoorService.start()
    const [a, b] = [await service.createThing(), await service.createThing()]
    const extra = await service.things.registry.addToken(a.thingId)
    const thing = { username: 'device', password: a.thingToken }
    const topicOfA = writeTopicOf(a.thingToken)
    const rows: Record<string, ConnectOptions> = {
      gone: thing,
      back: thing,
      'back with another token': thing,
      'another thing is back': thing,
      'admin is back': { username: 'operator', password: service.adminKey },
      'anonymous, gone': {},
      'anonymous, back with its token': {},
      'anonymous, back with its token in a will': {},
      'anonymous, back without its token': {},
      'anonymous, back with another token': {},
      'a thing with its client id is back': {},
      'removed token': { username: extra.thingToken },
    }
    for (const [clientId, options] of Object.entries(rows)) {
      const will = { topic: topicOfA, payload: reading(clientId) }
      if (clientId === 'removed token') will.topic = writeTopicOf(a.thingId)
      expect((await service.connect({ clientId, will, ...options })).connack.returnCode).toBe(0)
    }
    service = await service.restart({ willGrace })
    const started = performance.now()
    expect(await service.documents('mqtt-wills/')).toHaveLength(12)
    await service.things.registry.removeToken(a.thingId, extra.tokenId)
    const { thingToken } = await service.things.registry.addToken(a.thingId)
    const comeBack = (clientId: string, options = rows[clientId]) => service.connect({ clientId, ...options })
    await comeBack('back')
    await comeBack('back with another token', { username: thingToken })
    await comeBack('another thing is back', { username: b.thingToken })
    await comeBack('admin is back')
    const withToken = await comeBack('anonymous, back with its token')
    await withToken.subscribe(`things/${a.thingToken}/errors`)
    const will = { topic: topicOfA, payload: reading('a new will') }
    await comeBack('anonymous, back with its token in a will', { will })
    await comeBack('anonymous, back without its token')
    const withAnother = await comeBack('anonymous, back with another token')
    await withAnother.publish(writeTopicOf(b.thingToken), reading(1))
    await comeBack('a thing with its client id is back', thing)
    expect(performance.now() - started, 'this machine is too slow for willGrace').toBeLessThan(willGrace)
    expect(await service.values(a, 'n')).toEqual([])
    await service.committed(a, 6)
    // But for the new one.
    await eventually(() => service.documents('mqtt-wills/')).toHaveLength(1)
    expect((await service.values(a, 'n')).toSorted()).toEqual([
      'a thing with its client id is back',
      'anonymous, back with another token',
      'anonymous, back without its token',
      'anonymous, gone',
      'another thing is back',
      'gone',
    ])
    expect(await service.things.refused.list(a.thingId, 10)).toEqual([])
  })

  it('is kept over several stops, and written at once with a willGrace of 0', async () => {
    let service = await DoorService.start()
    const thing = await service.createThing()
    await service.connectThing(thing, {
      will: { topic: writeTopicOf(thing.thingId), payload: reading('gone') },
    })
    service = await service.restart()
    service = await service.restart()
    expect(await service.values(thing, 'n')).toEqual([])
    expect(await service.documents('mqtt-wills/')).toHaveLength(1)
    service = await service.restart({ willGrace: 0 })
    await eventually(() => service.documents('mqtt-wills/')).toEqual([])
    expect(await service.values(thing, 'n')).toEqual(['gone'])
    service = await service.restart({ willGrace: 0 })
    await (await service.connectThing(thing)).ping()
    expect(await service.values(thing, 'n')).toEqual(['gone'])
  })
})
