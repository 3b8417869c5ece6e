import { describe, expect, it } from 'vitest'
import { isMessageOn } from '../../helpers/mqtt-client.ts'
import { DoorService, reading, topicsReceived, writeTopicOf } from '../door-service.ts'
import { messagesOf } from '../messages.ts'

const refused = 128

async function start(uses = 1) {
  const service = await DoorService.start()
  const [code = ''] = await service.things.activationCodes.create({ count: 1, uses })
  return { service, code, topic: `v2/activations/${code}/mac-00-11-22` }
}

describe('a SUBSCRIBE to an activation topic', () => {
  it.each([0, 1] as const)('at QoS %i makes a thing, and is answered behind SUBACK', async qos => {
    const { service, topic } = await start()
    const client = await service.connect()
    expect(await client.subscribe(topic, qos)).toBe(qos)
    await client.next(isMessageOn(topic))
    const [message] = messagesOf(client)
    expect(message).toMatchObject({ qos, retain: false })
    const answer = JSON.parse(message?.payload ?? '')
    expect(answer).toEqual({
      status: 'created',
      message: 'thing activated',
      thingToken: expect.stringMatching(/^[\w-]{43}$/),
      thingId: expect.stringMatching(/^[a-z2-7]{16}$/),
    })
    await client.publish(writeTopicOf(answer.thingToken), reading(1))
    expect(await service.values(answer, 'n')).toEqual([1])
  })

  it('is answered to that connection alone', async () => {
    const { service, topic } = await start(2)
    const operator = await service.connect({ username: 'operator', password: service.adminKey })
    expect(await operator.subscribeAll(['v2/activations/+/+', 'v2/#', '#'])).toEqual([
      refused,
      refused,
      refused,
    ])
    const first = await service.connect()
    await first.subscribe(topic)
    await first.next(isMessageOn(topic))
    const second = await service.connect()
    await second.subscribe(topic)
    await second.next(isMessageOn(topic))
    await first.ping()
    await operator.ping()
    expect(topicsReceived(first)).toEqual([topic])
    expect(topicsReceived(operator)).toEqual([])
  })

  it('answers again for the same thing until the token was used, then refuses a spent code', async () => {
    const { service, topic } = await start()
    const activate = async () => {
      const client = await service.connect()
      const granted = await client.subscribe(topic)
      if (granted === refused) return refused
      await client.next(isMessageOn(topic))
      return JSON.parse(messagesOf(client)[0]?.payload ?? '') as { thingId: string; thingToken: string }
    }
    const [first, second] = [await activate(), await activate()]
    if (typeof first === 'number' || typeof second === 'number') throw new Error('the code was refused')
    expect(second.thingId).toBe(first.thingId)
    expect((await service.connect({ username: first.thingToken })).connack.returnCode).toBe(4)
    expect((await service.connect({ username: second.thingToken })).connack.returnCode).toBe(0)
    expect(await activate()).toBe(refused)
  })

  it.each([
    'v2/activations/unknown/x',
    'v2/activations/unknown',
    'v2/activations/+/x',
    'v2/activations//x',
    'v2/activations/#',
  ])('is refused: %s', async topic => {
    const { service } = await start()
    const client = await service.connect()
    expect(await client.subscribe(topic)).toBe(refused)
    await client.ping()
  })

  it('leaves nothing in the session of a client that may come back', async () => {
    const { service, topic } = await start()
    const thing = await service.createThing()
    const client = await service.connectThing(thing, { clientId: 'gateway', clean: false })
    expect(await client.subscribe(topic)).toBe(1)
    await client.next(isMessageOn(topic))
    await client.disconnect()
    const documents = await service.things.documents.list('mqtt-sessions/', { limit: 10 })
    expect(JSON.stringify(documents)).not.toContain('activations')
    expect(documents[0]?.[1]).toMatchObject({ subscriptions: [] })
  })
})
