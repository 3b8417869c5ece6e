import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createToken } from '../../../src/core/token.ts'
import type { Thing } from '../../helpers/http-client.ts'
import { isMessageOn, type MqttClient } from '../../helpers/mqtt-client.ts'
import { DoorService, reading, writeTopicOf } from '../door-service.ts'

/** Milliseconds in which a connection without a credential has to use a token. */
const proofDeadline = 60_000

type Use = (client: MqttClient, thing: Thing, service: DoorService) => Promise<void>

const uses = {
  'a write at QoS 0': async (client, thing, service) => {
    const committed = service.committed(thing)
    await client.publish(writeTopicOf(thing.thingToken), reading('used'), { qos: 0 })
    await committed
  },
  'a write at QoS 1': (client, { thingToken }) => client.publish(writeTopicOf(thingToken), reading('used')),
  'a write that is refused': (client, { thingToken }) => client.publish(writeTopicOf(thingToken), 'no JSON'),
  'a subscription': async (client, { thingToken }) => {
    expect(await client.subscribe(`things/${thingToken}/errors`)).toBe(1)
  },
} satisfies Record<string, Use>

describe('an anonymous connection', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    return () => vi.useRealTimers()
  })

  it('is closed 60 s after it was opened if it has used no token', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const idle = await service.connect()
    const guessing = await service.connect()
    const wrong = [`things/${createToken()}/errors`, `things/${thing.thingId}/errors`, 'things/+/errors', '#']
    vi.advanceTimersByTime(proofDeadline - 1)
    expect(await guessing.subscribeAll(wrong)).toEqual([128, 128, 128, 128])
    await idle.ping()
    vi.advanceTimersByTime(1)
    await idle.untilClosed()
    await guessing.untilClosed()
  })

  it.each(Object.entries(uses))('is not if it has used one: %s', async (_use, use) => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const client = await service.connect()
    vi.advanceTimersByTime(proofDeadline - 1)
    await use(client, thing, service)
    vi.advanceTimersByTime(proofDeadline)
    await client.ping()
  })

  it('is not if the topic of its will holds one', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const client = await service.connect({
      will: { topic: writeTopicOf(thing.thingToken), payload: reading('x') },
    })
    vi.advanceTimersByTime(2 * proofDeadline)
    await client.ping()
  })

  it('is the only one for which that counts', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const clients = [
      await service.connectThing(thing),
      await service.connect({ username: 'operator', password: service.adminKey }),
    ]
    vi.advanceTimersByTime(2 * proofDeadline)
    for (const client of clients) await client.ping()
  })

  it('is closed at once, without an ack, when it publishes under an unknown token or by id', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    for (const ref of [createToken(), thing.thingId]) {
      const client = await service.connect()
      client.send({ cmd: 'pingreq' })
      await expect(client.publish(writeTopicOf(ref), reading('no'))).rejects.toThrow()
      await client.untilClosed()
      expect(client.acknowledgements).toEqual([])
    }
    expect(await service.values(thing, 'n')).toEqual([])
  })
})

describe('an anonymous connection with the client id of an older one', () => {
  const clientId = 'board'

  it.each(Object.entries(uses))(
    'closes it when both have used a token of one thing, with %s',
    async (_use, use) => {
      const service = await DoorService.start()
      const thing = await service.createThing()
      const { thingToken } = await service.things.registry.addToken(thing.thingId)
      const older = await service.connect({ clientId })
      await use(older, { ...thing, thingToken }, service)
      const newer = await service.connect({ clientId })
      await older.ping()
      await use(newer, thing, service)
      await older.untilClosed()
      await use(newer, thing, service)
      await newer.ping()
    },
  )

  it('closes it not for another thing, nor for another client id or none', async () => {
    const service = await DoorService.start()
    const [a, b] = [await service.createThing(), await service.createThing()]
    const use = uses['a write at QoS 1']
    const rows: [id: string, thing: Thing][] = [
      [clientId, a],
      [clientId, b],
      ['other', a],
      ['', a],
      ['', a],
    ]
    const clients: MqttClient[] = []
    for (const [id, thing] of rows) {
      const client = await service.connect({ clientId: id })
      await use(client, thing)
      clients.push(client)
    }
    // Nor does a thing with a credential.
    await use(await service.connectThing(a, { clientId }), a)
    for (const client of clients) await client.ping()
  })

  it('closes it when it has used tokens of several things, for each of them', async () => {
    const service = await DoorService.start()
    const [a, b] = [await service.createThing(), await service.createThing()]
    const use = uses['a write at QoS 1']
    const gateway = await service.connect({ clientId })
    await use(gateway, a)
    await use(gateway, b)
    await use(await service.connect({ clientId }), b)
    await gateway.untilClosed()
    await use(await service.connect({ clientId }), a)
  })

  it('is not itself closed when the older one uses its token later: that one is', async () => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const older = await service.connect({ clientId })
    const newer = await service.connect({ clientId })
    await uses['a subscription'](newer, thing)
    older.send({
      cmd: 'subscribe',
      messageId: 1,
      subscriptions: [{ topic: `things/${thing.thingToken}/errors`, qos: 0 }],
    })
    await older.untilClosed()
    await service.refuse(thing)
    await newer.next(isMessageOn(`things/${thing.thingToken}/errors`))
  })
})
