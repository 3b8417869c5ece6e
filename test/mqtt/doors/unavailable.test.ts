import { describe, expect, it, onTestFinished } from 'vitest'
import { ThingwireError } from '../../../src/errors.ts'
import { alterPuts } from '../../helpers/altered-driver.ts'
import { openMqtt } from '../../helpers/mqtt-client.ts'
import { DoorService, eventually, reading, writeTopicOf } from '../door-service.ts'

describe('while no client can be served, CONNECT', () => {
  it('is refused with 3 if the service is stopping, and those who are in go on', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const before = await service.connectThing(thing)
    service.drain()
    for (const password of [thing.thingToken, service.adminKey, 'unknown', undefined]) {
      const credential = password === undefined ? {} : { username: 'x', password }
      const client = await service.connect(credential)
      expect(client.connack.returnCode).toBe(3)
      await client.untilClosed()
    }
    await before.publish(writeTopicOf(thing.thingToken), reading(1))
    const will = { topic: writeTopicOf(thing.thingToken), payload: reading('will') }
    expect((await service.connectThing(thing, { will })).connack.returnCode).toBe(3)
    expect(await service.documents('mqtt-wills/')).toEqual([])
  })

  it('is refused with 3 if the store is away, and let in when it is back', async () => {
    let isAway = false
    const service = await DoorService.start({
      alter: store => {
        const { isReady } = store
        Object.assign(store, { isReady: () => !isAway && isReady() })
      },
    })
    const thing = await service.createThing()
    isAway = true
    expect((await service.connectThing(thing)).connack.returnCode).toBe(3)
    expect((await service.connect()).connack.returnCode).toBe(3)
    expect((await service.connectThing(thing, { protocolVersion: 5 })).connack.reasonCode).toBe(0x88)
    isAway = false
    expect((await service.connectThing(thing)).connack.returnCode).toBe(0)
  })

  it('is refused with 3 if the store hangs, and leaves nothing behind', async () => {
    let release = () => {}
    let hanging: Promise<void> | undefined
    const service = await DoorService.start({
      alter: ({ documents }) => {
        const get = documents.get.bind(documents)
        documents.get = async name => {
          await hanging
          return await get(name)
        }
      },
    })
    const thing = await service.createThing()
    hanging = new Promise(resolve => {
      release = resolve
    })
    onTestFinished(release)
    const will = { topic: writeTopicOf(thing.thingToken), payload: reading('will') }
    const options = { clientId: 'board', username: 'device', password: thing.thingToken }
    const client = await openMqtt({ url: service.mqttUrl })
    expect(await client.connect({ ...options, will })).toMatchObject({ returnCode: 3 })
    await client.untilClosed()
    release()
    const next = await service.connect({ ...options, clean: false, will })
    expect(next.connack).toMatchObject({ returnCode: 0, sessionPresent: false })
    await eventually(() => service.documents('mqtt-wills/')).toHaveLength(1)
    await next.publish(writeTopicOf(thing.thingToken), reading(1))
    expect(await service.values(thing, 'n')).toEqual([1])
  })
})

describe('a persistent session that its client leaves while the store fails', () => {
  it('is kept as left when it works again, though CONNECT was refused meanwhile', async () => {
    let isAway = false
    const service = await DoorService.start({
      alter: store =>
        alterPuts(store, put => async (...given) => {
          if (isAway) throw new ThingwireError('store_unavailable')
          return await put(...given)
        }),
    })
    const thing = await service.createThing()
    const session = { clientId: 'board', clean: false }
    const first = await service.connectThing(thing, session)
    await first.subscribe(`things/${thing.thingId}/values/n`)
    isAway = true
    await first.destroy()
    for (const _ of [1, 2]) {
      const refused = await service.connectThing(thing, session)
      expect(refused.connack.returnCode).toBe(3)
      await refused.untilClosed()
    }
    isAway = false
    const name = `mqtt-sessions/${encodeURIComponent(`thing.${thing.thingId}:board`)}`
    await eventually(() => service.things.documents.get(name)).toMatchObject({ isInUse: false })
    const last = await service.connectThing(thing, session)
    expect(last.connack).toMatchObject({ returnCode: 0, sessionPresent: true })
  })
})
