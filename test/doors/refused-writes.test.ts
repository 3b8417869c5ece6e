import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorsTopic, writeTopic } from '../../src/mqtt/topics.ts'
import { createThing, type Thing, write } from '../helpers/http-client.ts'
import {
  type ConnectOptions,
  encodePackets,
  isMessageOn,
  isOf,
  type MqttClient,
  publishPacket,
} from '../helpers/mqtt-client.ts'
import { mqttOfTest } from '../helpers/of-test.ts'
import { ReadBack, type RefusedWrite } from './read-back.ts'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

const everyQos = [0, 1, 2] as const
const bad = { values: [{ key: '', value: 1 }] }
const good = { values: [{ key: 'reading', value: 1 }] }

async function connect(options: ConnectOptions): Promise<MqttClient> {
  return await mqttOfTest({ url: service.mqttUrl, ...options })
}

function refusedOf(thing: Thing): Promise<readonly RefusedWrite[]> {
  return new ReadBack(service, thing).refusedWrites()
}

/** The next message on the thing's `errors`. */
async function told(client: MqttClient, ref: string): Promise<RefusedWrite> {
  const { payload } = await client.next(isMessageOn(errorsTopic(ref)))
  return JSON.parse(payload.toString()) as RefusedWrite
}

describe('a write that is refused over MQTT', () => {
  for (const qos of everyQos) {
    it(`at QoS ${qos} is acknowledged, told on errors as it is listed, and leaves the connection open`, async () => {
      const thing = await createThing(service)
      const client = await connect({ username: thing.thingToken })
      expect(await client.subscribe(errorsTopic(thing.thingId))).toBe(1)
      const begun = await serverTime(thing)
      await client.publish(writeTopic(thing.thingId), { ...bad, id: 'w1' }, { qos })
      const item = await told(client, thing.thingId)
      expect(item).toEqual({
        datetime: expect.any(String),
        door: 'mqtt',
        reason: 'invalid_key',
        message: expect.any(String),
        errors: [{ index: 0, field: 'key', reason: 'invalid_key', message: expect.any(String) }],
        id: 'w1',
        excerpt: JSON.stringify({ ...bad, id: 'w1' }),
      })
      expect(Date.parse(item.datetime)).toBeGreaterThanOrEqual(begun)
      // Also says of the one at QoS 0 that it is dealt with.
      await client.publish(writeTopic(thing.thingId), good)
      expect(await refusedOf(thing)).toEqual([item])
      expect(await new ReadBack(service, thing).records('reading', 'asc')).toHaveLength(1)
    })
  }

  it('is told to who listens by token and to who listens by id', async () => {
    const thing = await createThing(service)
    const byToken = await connect({})
    const byId = await connect({ username: 'operator', password: service.adminKey })
    expect(await byToken.subscribe(errorsTopic(thing.thingToken))).toBe(1)
    expect(await byId.subscribe(errorsTopic(thing.thingId))).toBe(1)
    await byToken.publish(writeTopic(thing.thingToken), bad)
    const item = await told(byToken, thing.thingToken)
    expect(await told(byId, thing.thingId)).toEqual(item)
  })

  it('shows no token in what is told of it', async () => {
    const thing = await createThing(service)
    const client = await connect({ username: thing.thingToken })
    await client.subscribe(errorsTopic(thing.thingId))
    await client.publish(writeTopic(thing.thingToken), { token: thing.thingToken })
    expect((await told(client, thing.thingId)).excerpt).toBe('{"token":"[redacted]"}')
  })
})

describe('a write that is refused over HTTP', () => {
  it('is told on errors too', async () => {
    const thing = await createThing(service)
    const client = await connect({ username: thing.thingToken })
    await client.subscribe(errorsTopic(thing.thingId))
    expect((await write(service, thing, bad)).status).toBe(400)
    const item = await told(client, thing.thingId)
    expect(item).toMatchObject({ door: 'http', reason: 'invalid_key' })
    expect(await refusedOf(thing)).toEqual([item])
  })
})

describe('the errors of a thing', () => {
  it('cannot be subscribed to by another thing', async () => {
    const [thing, other] = await Promise.all([createThing(service), createThing(service)])
    const client = await connect({ username: other.thingToken })
    expect(await client.subscribe(errorsTopic(thing.thingId))).toBe(128)
    await write(service, thing, bad)
    await client.ping()
    expect(client.received.filter(isOf('publish'))).toEqual([])
  })

  it('are told at most 10 times a second, and all listed up to 100', async () => {
    const [thing, other] = await Promise.all([createThing(service), createThing(service)])
    const client = await connect({ username: 'operator', password: service.adminKey })
    await client.subscribe(errorsTopic(thing.thingId))
    await client.subscribe(errorsTopic(other.thingId))
    const begun = performance.now()
    const refusal = (number: number) => JSON.stringify({ values: number })
    const numbers = Array.from({ length: 120 }, (_, index) => index + 1)
    client.send(
      ...numbers.map(number =>
        publishPacket(writeTopic(thing.thingId), refusal(number), { qos: 1, messageId: number }),
      ),
    )
    await client.next(isOf('puback', 120))
    await client.publish(writeTopic(other.thingId), bad, { messageId: 121 })
    expect(await told(client, other.thingId)).toMatchObject({ reason: 'invalid_key' })
    const seconds = (performance.now() - begun) / 1000

    expect(client.acknowledgements).toEqual([...numbers, 121].map(number => `puback ${number}`))
    const toldOf = client.received
      .filter(isMessageOn(errorsTopic(thing.thingId)))
      .map(({ payload }) => (JSON.parse(payload.toString()) as RefusedWrite).excerpt)
    expect(toldOf.slice(0, 10)).toEqual(numbers.slice(0, 10).map(refusal))
    expect(toldOf.length).toBeLessThanOrEqual(10 * (Math.floor(seconds) + 1))
    expect((await refusedOf(thing)).map(({ excerpt }) => excerpt)).toEqual(
      numbers.toReversed().slice(0, 100).map(refusal),
    )
  })

  it('are told again once there are fewer', async () => {
    const thing = await createThing(service)
    const client = await connect({ username: thing.thingToken })
    await client.subscribe(errorsTopic(thing.thingId))
    const toldOf = () => client.received.filter(isMessageOn(errorsTopic(thing.thingId))).length
    const deadline = Date.now() + 20_000
    while (toldOf() <= 10 && Date.now() < deadline) {
      await client.publish(writeTopic(thing.thingId), bad)
      await client.ping()
    }
    expect(toldOf()).toBeGreaterThan(10)
  })
})

describe('a publish of a thing on a topic of its own that is no write topic', () => {
  const topics: readonly ((ref: string) => string)[] = [
    ref => `things/${ref}`,
    ref => `things/${ref}/values/temperature`,
    ref => `things/${ref}/values/$geo`,
    ref => `things/${ref}/errors`,
    ref => `things/${ref}/writes/now`,
    ref => `v2/things/${ref}/write`,
  ]

  for (const qos of everyQos) {
    it(`at QoS ${qos} is acknowledged, dropped and reported`, async () => {
      const thing = await createThing(service)
      const client = await connect({ username: thing.thingToken })
      for (const [index, topic] of topics.entries()) {
        await client.publish(topic(thing.thingId), `no write ${index}`, { qos })
        await client.publish(topic(thing.thingToken), `no write ${index}`, { qos })
      }
      // Acknowledged behind the ones at QoS 0.
      await client.publish(writeTopic(thing.thingId), good)
      const refused = await refusedOf(thing)
      expect(refused).toHaveLength(2 * topics.length)
      for (const item of refused) expect(item).toMatchObject({ door: 'mqtt', reason: 'not_a_write_topic' })
      expect(refused.map(({ excerpt }) => excerpt)).toEqual(
        topics.flatMap((_, index) => [`no write ${index}`, `no write ${index}`]).toReversed(),
      )
      expect(JSON.stringify(refused)).not.toContain(thing.thingToken)
      const told = refused.map(({ message }) => /^`([^`]+)`/.exec(String(message))?.[1])
      expect(told).toEqual(topics.flatMap(topic => [topic('<ref>'), topic('<ref>')]).toReversed())
    })
  }

  it('is not relayed and not retained', async () => {
    const thing = await createThing(service)
    const client = await connect({ username: thing.thingToken })
    const filter = `things/${thing.thingId}/#`
    expect(await client.subscribe(filter)).toBe(1)
    await client.publish(`things/${thing.thingId}/errors`, 'forged', { retain: true })
    await client.publish(`things/${thing.thingId}/values/temperature`, 'forged', { retain: true, qos: 2 })
    const reported = [await told(client, thing.thingId), await told(client, thing.thingId)]
    expect(reported.map(({ reason }) => reason)).toEqual(['not_a_write_topic', 'not_a_write_topic'])

    const later = await connect({ username: thing.thingToken })
    expect(await later.subscribe(filter)).toBe(1)
    for (const each of [client, later]) {
      await each.ping()
      expect(
        each.received.filter(isOf('publish')).filter(({ payload }) => String(payload) === 'forged'),
      ).toEqual([])
    }
  })

  it('is reported of an anonymous connection by the token in the topic', async () => {
    const thing = await createThing(service)
    const client = await connect({})
    await client.publish(`things/${thing.thingToken}/values/temperature`, good)
    expect(await refusedOf(thing)).toMatchObject([{ reason: 'not_a_write_topic' }])
  })
})

describe('a publish anywhere else', () => {
  const unknownToken = 'u'.repeat(43)
  const unknownId = 'a'.repeat(16)
  const topics: readonly (readonly [what: string, topic: (other: Thing) => string])[] = [
    ['to another thing by its id', ({ thingId }) => writeTopic(thingId)],
    ['to another thing by its id in the older spelling', ({ thingId }) => `v2/things/${thingId}`],
    ['on a topic of another thing that is no write topic', ({ thingId }) => `things/${thingId}/errors`],
    ['to an unknown token', () => writeTopic(unknownToken)],
    ['to an unknown token on what is no write topic', () => `things/${unknownToken}/values/temperature`],
    ['to an unknown id', () => writeTopic(unknownId)],
    ['on foo/bar', () => 'foo/bar'],
    ['on things', () => 'things'],
    ['on $SYS/x', () => '$SYS/x'],
    ['on a topic of activation', () => 'v2/activations/code/x'],
  ]

  for (const [what, topic] of topics) {
    it(`${what} is acknowledged, dropped and reported to the sender alone`, async () => {
      for (const qos of everyQos) {
        const [thing, other] = await Promise.all([createThing(service), createThing(service)])
        const client = await connect({ username: thing.thingToken })
        await client.publish(topic(other), good, { qos })
        // Acknowledged behind the one at QoS 0.
        await client.publish(writeTopic(thing.thingId), good)
        const readBack = new ReadBack(service, other)
        expect(await readBack.keys()).toEqual([])
        expect(await readBack.refusedWrites()).toEqual([])
        const reported = await refusedOf(thing)
        expect(reported).toMatchObject([{ door: 'mqtt', reason: 'not_a_write_topic' }])
        expect(JSON.stringify(reported)).not.toContain(unknownToken)
      }
    })
  }

  it('by id on an anonymous connection closes it without an ack', async () => {
    const thing = await createThing(service)
    const client = await connect({})
    client.send(publishPacket(writeTopic(thing.thingId), good, { messageId: 7 }))
    await client.untilClosed()
    expect(client.acknowledgements).toEqual([])
    expect(await new ReadBack(service, thing).keys()).toEqual([])
  })

  it('with a wildcard in it closes the connection, and nothing behind it is taken', async () => {
    const thing = await createThing(service)
    const client = await connect({ username: thing.thingToken })
    const to = (topic: string, messageId: number, qos: 1 | 2 = 1) =>
      publishPacket(topic, good, { messageId, qos })
    const bytes = encodePackets(
      to(writeTopic(thing.thingId), 1),
      to(writeTopic(thing.thingId), 2, 2),
      to('foo/_', 3),
      to(writeTopic(thing.thingId), 4),
    )
    bytes[bytes.indexOf('foo/_') + 4] = '#'.charCodeAt(0)
    client.sendBytes(bytes)
    await client.untilClosed()
    const records = await new ReadBack(service, thing).records('reading', 'asc')
    expect(records.length).toBeLessThanOrEqual(2)
    expect(['puback 1', 'pubrec 2']).toEqual(expect.arrayContaining([...client.acknowledgements]))
  })
})

/** By the clock of receipt times, milliseconds. */
async function serverTime({ thingToken }: Thing): Promise<number> {
  const response = await fetch(`${service.url}/v2/utils/date?thingToken=${thingToken}`)
  const [{ value } = { value: '' }] = (await response.json()) as { value: string }[]
  return Date.parse(value)
}
