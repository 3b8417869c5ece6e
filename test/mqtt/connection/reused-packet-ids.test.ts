import { describe, expect, it } from 'vitest'
import type { Thing } from '../../helpers/http-client.ts'
import { encodePackets, isOf, type MqttClient, publishPacket } from '../../helpers/mqtt-client.ts'
import { DoorService, reading, writeTopicOf } from '../door-service.ts'

/** Contract §4.4 (d): a device that restarts counts its packet ids from 1 again. */

const session = { clientId: 'board', clean: false }
const messageId = 1

interface Sent {
  readonly value?: number
  readonly dup?: boolean
  readonly topic: (thing: Thing) => string
}

const token = ({ thingToken }: Thing) => writeTopicOf(thingToken)
const id = ({ thingId }: Thing) => writeTopicOf(thingId)
const wholeOfToken = ({ thingToken }: Thing) => `v2/things/${thingToken}`
const wholeOfId = ({ thingId }: Thing) => `v2/things/${thingId}`

const first = { value: 1, topic: token }

const cases: readonly (readonly [string, Sent, readonly number[]])[] = [
  ['another reading without DUP', { value: 2, topic: token }, [1, 2]],
  ['another reading with DUP', { value: 2, dup: true, topic: token }, [1, 2]],
  ['the same reading without DUP', { value: 1, topic: token }, [1, 1]],
  ['the same packet with DUP', { value: 1, dup: true, topic: token }, [1]],
  ['it with DUP under the id of the thing', { value: 1, dup: true, topic: id }, [1]],
  ['it with DUP on v2/things/<token>', { value: 1, dup: true, topic: wholeOfToken }, [1]],
  ['it with DUP on v2/things/<id>', { value: 1, dup: true, topic: wholeOfId }, [1]],
  ['it without DUP under the id of the thing', { value: 1, topic: id }, [1, 1]],
  ['another reading with DUP on v2/things/<id>', { value: 3, dup: true, topic: wholeOfId }, [1, 3]],
]

/** Where the second packet is sent. */
const ways = {
  'on the same connection': async (client: MqttClient) => client,
  'after a cut': async (client: MqttClient, service: DoorService, thing: Thing) => {
    await client.destroy()
    return await service.connectThing(thing, session)
  },
  'after a takeover': (_client: MqttClient, service: DoorService, thing: Thing) =>
    service.connectThing(thing, session),
} as const

const sendTo = async (client: MqttClient, thing: Thing, { value, dup = false, topic }: Sent) => {
  await client.publishUntilPubrec(topic(thing), reading(value), { messageId, dup })
}

describe.each(Object.entries(ways))('a QoS 2 packet id that is not released, %s', (_, way) => {
  it.each(cases)('%s: stored as it has to be', async (_name, second, values) => {
    const service = await DoorService.start()
    const thing = await service.createThing()
    const client = await service.connectThing(thing, session)
    await sendTo(client, thing, first)
    const then = await way(client, service, thing)
    await sendTo(then, thing, second)
    await then.release(messageId)
    expect(await service.values(thing, 'n')).toEqual(values)
    expect(await service.documents('mqtt-in-flight/')).toEqual([])
    expect(await service.things.refused.list(thing.thingId, 10)).toEqual([])
  })
})

it('a packet id stands for the newest write that came under it, over a restart', async () => {
  let service = await DoorService.start()
  const thing = await service.createThing()
  const client = await service.connectThing(thing, session)
  await sendTo(client, thing, first)
  await sendTo(client, thing, { value: 2, topic: token })
  service = await service.restart()
  const next = await service.connectThing(thing, session)
  await sendTo(next, thing, { value: 2, dup: true, topic: id })
  expect(await service.values(thing, 'n')).toEqual([1, 2])
  await sendTo(next, thing, { value: 1, dup: true, topic: token })
  await next.release(messageId)
  expect(await service.values(thing, 'n')).toEqual([1, 2, 1])
})

it('packets under one id in one segment are each dealt with, in their order', async () => {
  const service = await DoorService.start()
  const thing = await service.createThing()
  const client = await service.connectThing(thing, session)
  const packet = (value: number, dup = false) =>
    publishPacket(token(thing), reading(value), { qos: 2, messageId, dup })
  const packets = [packet(1), packet(1, true), packet(2), packet(2, true), packet(1, true)]
  client.sendBytes(encodePackets(...packets, { cmd: 'pubrel', messageId }))
  await client.next(isOf('pubcomp', messageId))
  expect(client.acknowledgements).toEqual([...packets.map(() => 'pubrec 1'), 'pubcomp 1'])
  expect(await service.values(thing, 'n')).toEqual([1, 2, 1])
  expect(await service.documents('mqtt-in-flight/')).toEqual([])
})

it('a packet with DUP for another thing of the session is another write', async () => {
  const service = await DoorService.start()
  const things = [await service.createThing(), await service.createThing()]
  const client = await service.connectSession(things, 'write', session)
  for (const [index, thing] of things.entries())
    await sendTo(client, thing, { value: 1, dup: index > 0, topic: id })
  await client.release(messageId)
  for (const thing of things) expect(await service.values(thing, 'n')).toEqual([1])
})

it('a refused write under an id does not swallow the next one', async () => {
  const service = await DoorService.start()
  const thing = await service.createThing()
  const client = await service.connectThing(thing, session)
  await client.publishUntilPubrec(token(thing), 'no JSON', { messageId })
  await sendTo(client, thing, { value: 1, topic: token })
  await client.release(messageId)
  expect(await service.values(thing, 'n')).toEqual([1])
  expect(await service.things.refused.list(thing.thingId, 10)).toHaveLength(1)
})
