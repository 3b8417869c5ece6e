import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createThing, type Thing, write } from '../helpers/http-client.ts'
import { type ConnectOptions, type MqttClient, publishPacket } from '../helpers/mqtt-client.ts'
import { mqttOfTest } from '../helpers/of-test.ts'
import { ReadBack } from './read-back.ts'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

const datetime = '2026-01-02T03:04:05.000Z'

function reading(value: unknown, more: object = {}): object {
  return { values: [{ key: 'reading', value }], ...more }
}

function dated(value: unknown): object {
  return { values: [{ key: 'reading', value, datetime }] }
}

async function connect(thing: Thing, options: ConnectOptions = {}): Promise<MqttClient> {
  return await mqttOfTest({ url: service.mqttUrl, username: thing.thingToken, ...options })
}

function writeTopic({ thingToken }: Thing): string {
  return `things/${thingToken}/write`
}

async function readings(thing: Thing): Promise<readonly unknown[]> {
  return (await new ReadBack(service, thing).records('reading', 'asc')).map(({ value }) => value)
}

async function answerOverHttp(thing: Thing, body: object): Promise<unknown> {
  const response = await write(service, thing, body)
  return { status: response.status, ...((await response.json()) as object) }
}

const created = { status: 'created', message: 'created' }

describe('a write id', () => {
  for (const qos of [0, 1, 2] as const) {
    it(`that was taken over HTTP has no effect over MQTT at QoS ${qos}`, async () => {
      const thing = await createThing(service)
      await write(service, thing, reading(1, { id: 'w1' }))
      const client = await connect(thing)
      await client.publish(writeTopic(thing), reading(2, { id: 'w1' }), { qos })
      await client.publish(writeTopic(thing), reading(3))
      expect(await readings(thing)).toEqual([1, 3])
    })

    it(`that was taken over MQTT at QoS ${qos} has no effect over HTTP`, async () => {
      const thing = await createThing(service)
      const client = await connect(thing)
      await client.publish(writeTopic(thing), reading(1, { id: 'w1' }), { qos })
      await client.publish(writeTopic(thing), reading(2))
      expect(await answerOverHttp(thing, reading(3, { id: 'w1' }))).toEqual(created)
      expect(await readings(thing)).toEqual([1, 2])
    })
  }

  it('of a partial write over MQTT is answered over HTTP with the records that were refused', async () => {
    const thing = await createThing(service)
    const client = await connect(thing)
    const values = [
      { key: '', value: 0 },
      { key: 'reading', value: 1 },
    ]
    await client.publish(writeTopic(thing), { values, partial: true, id: 'w1' })
    expect(await answerOverHttp(thing, reading(2, { id: 'w1' }))).toMatchObject({
      ...created,
      rejected: [{ index: 0, field: 'key', reason: 'invalid_key' }],
    })
    expect(await readings(thing)).toEqual([1])
  })

  it('of a write that was taken over HTTP acks a body over MQTT that would be refused', async () => {
    const thing = await createThing(service)
    await write(service, thing, reading(1, { id: 'w1' }))
    const client = await connect(thing)
    await client.publish(writeTopic(thing), { values: [{ key: '' }], id: 'w1' })
    expect(await new ReadBack(service, thing).refusedWrites()).toEqual([])
  })

  it('of a write that was refused over MQTT is free over HTTP', async () => {
    const thing = await createThing(service)
    const client = await connect(thing)
    await client.publish(writeTopic(thing), { values: [{ key: '', value: 1 }], id: 'w1' })
    expect(await answerOverHttp(thing, reading(2, { id: 'w1' }))).toEqual(created)
    expect(await readings(thing)).toEqual([2])
  })

  it('sent through both doors at once takes effect once', async () => {
    const thing = await createThing(service)
    const client = await connect(thing)
    await Promise.all(
      Array.from({ length: 10 }, (_, copy) =>
        copy % 2 === 0
          ? write(service, thing, reading(1, { id: 'w1' }))
          : client.publish(writeTopic(thing), reading(1, { id: 'w1' }), { qos: copy % 4 === 1 ? 1 : 2 }),
      ),
    )
    expect(await readings(thing)).toEqual([1])
  })
})

describe('a record with a datetime', () => {
  it('sent again through the other door is stored once and keeps its place', async () => {
    const thing = await createThing(service)
    const client = await connect(thing)
    await client.publish(writeTopic(thing), dated('a'))
    await write(service, thing, dated('b'))
    await write(service, thing, dated('a'))
    await client.publish(writeTopic(thing), dated('b'), { qos: 2 })
    expect(await readings(thing)).toEqual(['a', 'b'])
  })

  it('of another value is ordered by write, whichever door it came through', async () => {
    const thing = await createThing(service)
    const client = await connect(thing)
    const values = ['d', 'c', 'b', 'a']
    for (const [index, value] of values.entries()) {
      if (index % 2 === 0) await client.publish(writeTopic(thing), dated(value))
      else await write(service, thing, dated(value))
    }
    expect(await readings(thing)).toEqual(values)
  })
})

describe('a PUBLISH sent again with DUP', () => {
  it('at QoS 1 without datetime and id is another write', async () => {
    const thing = await createThing(service)
    const client = await connect(thing)
    await client.publish(writeTopic(thing), reading(1), { messageId: 7 })
    await client.publish(writeTopic(thing), reading(1), { messageId: 7, dup: true })
    expect(await readings(thing)).toEqual([1, 1])
  })

  it('at QoS 2 before its PUBREL takes effect once, and is acknowledged again', async () => {
    const thing = await createThing(service)
    const client = await connect(thing)
    const packet = publishPacket(writeTopic(thing), reading(1), { qos: 2, messageId: 7 })
    const again = publishPacket(writeTopic(thing), reading(1), { qos: 2, messageId: 7, dup: true })
    client.send(packet, again)
    await client.publishUntilPubrec(writeTopic(thing), reading(1), { messageId: 7, dup: true })
    await client.release(7)
    expect(client.acknowledgements).toEqual(['pubrec 7', 'pubrec 7', 'pubrec 7', 'pubcomp 7'])
    expect(await readings(thing)).toEqual([1])
  })

  it('at QoS 2 in a session that was resumed takes effect once', async () => {
    const thing = await createThing(service)
    const session = { clientId: 'sender', clean: false }
    const before = await connect(thing, session)
    await before.publishUntilPubrec(writeTopic(thing), reading(1), { messageId: 7 })
    await before.destroy()
    const after = await connect(thing, session)
    expect(after.connack.sessionPresent).toBe(true)
    await after.publishUntilPubrec(writeTopic(thing), reading(1), { messageId: 7, dup: true })
    await after.release(7)
    expect(await readings(thing)).toEqual([1])
  })

  it('at QoS 2 without its session is another write', async () => {
    const thing = await createThing(service)
    const session = { clientId: 'sender', clean: true }
    const before = await connect(thing, session)
    await before.publishUntilPubrec(writeTopic(thing), reading(1), { messageId: 7 })
    await before.destroy()
    const after = await connect(thing, session)
    expect(after.connack.sessionPresent).toBe(false)
    await after.publish(writeTopic(thing), reading(1), { qos: 2, messageId: 7, dup: true })
    expect(await readings(thing)).toEqual([1, 1])
  })

  it('at QoS 2 after its PUBCOMP is another write', async () => {
    const thing = await createThing(service)
    const client = await connect(thing, { clientId: 'sender', clean: false })
    await client.publish(writeTopic(thing), reading(1), { qos: 2, messageId: 7 })
    await client.publish(writeTopic(thing), reading(1), { qos: 2, messageId: 7 })
    expect(await readings(thing)).toEqual([1, 1])
  })
})

describe('a PUBREL', () => {
  it('sent again, or of a packet id that was never seen, is answered with PUBCOMP', async () => {
    const thing = await createThing(service)
    const client = await connect(thing, { clientId: 'sender', clean: false })
    await client.publish(writeTopic(thing), reading(1), { qos: 2, messageId: 7 })
    await client.release(7)
    await client.release(8)
    expect(await readings(thing)).toEqual([1])
  })
})

describe('a refused write at QoS 2', () => {
  it('sent again with DUP before its PUBREL is told once', async () => {
    const thing = await createThing(service)
    const client = await connect(thing)
    const bad = { values: [{ key: '', value: 1 }] }
    await client.publishUntilPubrec(writeTopic(thing), bad, { messageId: 7 })
    await client.publish(writeTopic(thing), bad, { qos: 2, messageId: 7, dup: true })
    expect(await new ReadBack(service, thing).refusedWrites()).toHaveLength(1)
  })
})
