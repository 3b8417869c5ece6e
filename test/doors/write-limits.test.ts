import { describe, expect, it } from 'vitest'
import { ask, type Thing, write } from '../helpers/http-client.ts'
import { isMessageOn, isOf, type MqttClient, publishPacket } from '../helpers/mqtt-client.ts'
import { DoorService, eventually, reading, writeTopicOf } from '../mqtt/door-service.ts'

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, number) => number)
}

/** Sends writes of one number each, without waiting for their acks. */
function send(client: MqttClient, { thingToken }: Thing, values: readonly number[], qos: 0 | 1 | 2): void {
  const topic = writeTopicOf(thingToken)
  const packets = values.map(value => {
    const numbered = qos === 0 ? {} : { messageId: value + 1 }
    return publishPacket(topic, reading(value), { qos, ...numbered })
  })
  client.send(...packets)
}

/** A debt of a thing that may write one record a second: what it owes beyond the burst, seconds. */
async function owe(service: DoorService, thing: Thing, seconds: number): Promise<void> {
  const values = numbers(seconds + 5).map(value => ({ key: 'debt', value }))
  expect((await write(service, thing, { values })).status).toBe(201)
}

async function refusals(service: DoorService, { thingId }: Thing): Promise<string[]> {
  return (await service.things.refused.list(thingId, 100)).map(({ reason }) => reason)
}

const slow = { recordsPerSecond: 1 }

describe('a thing that writes more than it may', () => {
  it.each([1, 2] as const)(
    'gets its acks late over MQTT at QoS %i, in order, and loses nothing',
    async qos => {
      const service = await DoorService.start({ limits: { writesPerSecond: 20 } })
      const thing = await service.createThing()
      const client = await service.connectThing(thing)
      const values = numbers(120)
      send(client, thing, values, qos)
      const last = await client.next(isOf(qos === 1 ? 'puback' : 'pubrec', values.length))
      expect(last).toBeDefined()
      expect(client.acknowledgements.map(ack => Number(ack.split(' ')[1]))).toEqual(
        values.map(value => value + 1),
      )
      expect(await service.values(thing, 'n')).toEqual(values)
      const held = service.things.limits.met.get('write_rate_exceeded') ?? 0
      expect(held).toBeGreaterThan(0)
      expect(held).toBeLessThan(20)
    },
  )

  it('is told 429 and when to come again over HTTP, and its neighbour is served', async () => {
    const service = await DoorService.start({ limits: slow })
    const [thing, neighbour] = [await service.createThing(), await service.createThing()]
    await owe(service, thing, 1_000)
    const answer = await write(service, thing, reading(1))
    expect(answer.status).toBe(429)
    expect(await answer.json()).toMatchObject({ reason: 'record_rate_exceeded' })
    const seconds = Number(answer.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(900)
    expect(seconds).toBeLessThanOrEqual(1_000)
    expect((await write(service, neighbour, reading(1))).status).toBe(201)
  })

  it('has what it sends at QoS 0 dropped past 30 s of debt, reported a little and counted', async () => {
    const service = await DoorService.start({ limits: slow })
    const thing = await service.createThing()
    const client = await service.connectThing(thing)
    await client.subscribe(`things/${thing.thingToken}/errors`)
    await owe(service, thing, 1_000)
    send(client, thing, numbers(500), 0)
    const message = await client.next(isMessageOn(`things/${thing.thingToken}/errors`))
    expect(JSON.parse(message.payload.toString())).toMatchObject({
      door: 'mqtt',
      reason: 'record_rate_exceeded',
      excerpt: JSON.stringify(reading(0)),
    })
    await client.ping()
    expect(service.things.limits.met.get('record_rate_exceeded')).toBe(500)
    expect((await refusals(service, thing)).length).toBeLessThan(100)
    expect(await service.values(thing, 'n')).toEqual([])
  })

  it.each([1, 2] as const)('is closed without an ack past 30 s of debt at QoS %i', async qos => {
    const service = await DoorService.start({ limits: slow })
    const thing = await service.createThing()
    const client = await service.connectThing(thing)
    await owe(service, thing, 1_000)
    send(client, thing, numbers(5), qos)
    await client.untilClosed()
    expect(client.acknowledgements).toEqual([])
    expect(await service.values(thing, 'n')).toEqual([])
    // Nobody waits for the list: the connection may be closed before it is written.
    await eventually(() => refusals(service, thing)).toEqual(['record_rate_exceeded'])
  })

  it('has nothing of another thing stored that came in one piece behind it', async () => {
    const service = await DoorService.start({ limits: slow })
    const [thing, neighbour] = [await service.createThing(), await service.createThing()]
    const client = await service.connectThing(thing)
    const to = ({ thingToken }: Thing, value: number) =>
      publishPacket(writeTopicOf(thingToken), reading(value), { qos: 1, messageId: value })
    client.send(to(thing, 1), to(neighbour, 2))
    await client.next(isOf('puback', 2))
    await owe(service, thing, 1_000)
    client.send(to(thing, 3), to(neighbour, 4))
    await client.untilClosed()
    expect(client.acknowledgements).toEqual(['puback 1', 'puback 2'])
    expect(await service.values(neighbour, 'n')).toEqual([2])
  })

  it.each(['HTTP', 'MQTT'])('is not held up for what the operator writes over %s', async door => {
    const service = await DoorService.start({ limits: slow })
    const { adminKey } = service
    const thing = await service.createThing()
    const client = await service.connect({ username: 'operator', password: adminKey })
    const path = `/v2/things/${thing.thingId}`
    const counted = numbers(20)
    for (const value of counted) {
      if (door === 'HTTP') await ask(service, 'POST', path, reading(value))
      else await client.publish(writeTopicOf(thing.thingId), reading(value))
    }
    expect(await service.values(thing, 'n')).toEqual(counted)
    expect(service.things.limits.met.get('record_rate_exceeded')).toBe(0)
    // Whoever sends it: a token in the address is its own credential.
    await owe(service, thing, 1_000)
    const headers = { authorization: `Bearer ${adminKey}` }
    const body = JSON.stringify(reading(1))
    const byToken = `${service.url}/v2/things/${thing.thingToken}`
    expect((await fetch(byToken, { method: 'POST', headers, body })).status).toBe(429)
    await ask(service, 'POST', path, reading(20))
  })

  it('has what waits stored and acknowledged when the server stops', async () => {
    const service = await DoorService.start({ limits: slow })
    const thing = await service.createThing()
    const client = await service.connectThing(thing)
    await owe(service, thing, 20)
    send(client, thing, [0, 1, 2], 1)
    await eventually(async () => service.things.limits.met.get('record_rate_exceeded')).toBe(3)
    expect(client.acknowledgements).toEqual([])
    const again = await service.restart()
    expect(client.acknowledgements).toEqual(['puback 1', 'puback 2', 'puback 3'])
    expect(await again.values(thing, 'n')).toEqual([0, 1, 2])
  })

  it('leaves nothing behind when it is removed while it waits', async () => {
    const service = await DoorService.start({ limits: slow })
    const thing = await service.createThing()
    const client = await service.connectThing(thing)
    await owe(service, thing, 20)
    send(client, thing, [0, 1, 2], 1)
    await eventually(async () => service.things.limits.met.get('record_rate_exceeded')).toBe(3)
    await service.things.registry.remove(thing.thingId)
    await client.untilClosed()
    const again = await service.restart()
    // The data goes in the background; a write that waited must not bring any back.
    await eventually(() => again.things.records.resources(thing.thingId)).toEqual([])
  })
})

describe('a thing that has as many resources as it may', () => {
  it('has a write that would make more acked, dropped and reported over MQTT, refused with 429 over HTTP', async () => {
    const service = await DoorService.start({ limits: { resourcesPerThing: 2 } })
    const thing = await service.createThing()
    const client = await service.connectThing(thing)
    const topic = writeTopicOf(thing.thingToken)
    await client.publish(topic, { values: [...reading(1, 'a').values, ...reading(1, 'b').values] })
    const more = { values: [...reading(2, 'a').values, ...reading(2, 'c').values] }
    await client.publish(topic, more)
    await client.publish(topic, { values: [{ key: '$settings.name', value: 'x' }] }, { qos: 2 })
    const answer = await write(service, thing, { ...more, partial: true })
    expect(answer.status).toBe(429)
    expect(await answer.json()).toMatchObject({ reason: 'too_many_resources' })
    await client.publish(topic, reading(3, 'a'))
    expect(await service.values(thing, 'a')).toEqual([1, 3])
    expect(await service.things.records.resources(thing.thingId)).toEqual(['a', 'b'])
    expect(await refusals(service, thing)).toEqual(numbers(3).map(() => 'too_many_resources'))
    expect(service.things.limits.met.get('too_many_resources')).toBe(3)
  })
})
