import type { QoS } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import type { Commit } from '../../../src/core/ports.ts'
import type { Thing } from '../../helpers/http-client.ts'
import type { MqttClient } from '../../helpers/mqtt-client.ts'
import { DoorService, reading, writeTopicOf } from '../door-service.ts'
import { isMark, messagesOf, numbers, passed, post, valuesOf } from '../messages.ts'

async function start() {
  const service = await DoorService.start()
  const thing = await service.createThing()
  const subscriber = await service.connectThing(thing)
  await subscriber.subscribeAll([`things/${thing.thingId}/values/+`, `v2/things/${thing.thingId}`])
  const seen = async () => {
    await passed(service, thing, subscriber)
    return messagesOf(subscriber)
      .filter(message => !isMark(message))
      .map(({ topic, payload }) => [topic.replace(thing.thingId, 'I'), JSON.parse(payload)])
  }
  return { service, thing, subscriber, seen }
}

/** Every commit of a thing from now on, in commit order. */
function commitsOf({ things }: DoorService, { thingId }: Thing): Commit[] {
  const commits: Commit[] = []
  things.records.onCommit(commit => {
    if (commit.thingId === thingId) commits.push(commit)
  })
  return commits
}

describe('the messages of a write', () => {
  it('come in the order of its records, then that of the whole write', async () => {
    const { service, thing, seen } = await start()
    const datetimes = ['20260103000000', '20260101000000', '20260102000000']
    const keys = ['b', 'a', 'b', 'c', 'a', 'b']
    const values = keys.map((key, value) => ({ key, value, datetime: datetimes[value % 3] }))
    await post(service, thing, { values })
    const topics = (await seen()).map(([topic, payload]) => [topic, payload.value])
    expect(topics).toEqual([
      ...keys.map((key, value) => [`things/I/values/${key}`, value]),
      ['v2/things/I', undefined],
    ])
  })

  it('are those of its good records where the write is partial', async () => {
    const { service, thing, seen } = await start()
    const values = [{ key: 'a', value: 1 }, { key: 'no key', value: 2 }, { key: 'b' }, { key: 'c', value: 3 }]
    await post(service, thing, { values, partial: true })
    expect(await seen()).toMatchObject([
      ['things/I/values/a', { value: 1 }],
      ['things/I/values/c', { value: 3 }],
      ['v2/things/I', [{ key: 'a' }, { key: 'c' }]],
    ])
  })

  it('are none where it was refused', async () => {
    const { service, thing, seen } = await start()
    await service.refuse(thing)
    const writer = await service.connectThing(thing)
    await writer.publish(writeTopicOf(thing.thingId), { values: [{ key: 'a', value: 1 }, { key: '' }] })
    await writer.publish(writeTopicOf(thing.thingId), 'nonsense')
    expect(await seen()).toEqual([])
  })
})

describe('writes', () => {
  it('through both doors at every QoS reach every subscriber in commit order, none lost or doubled', async () => {
    const service = await DoorService.start()
    const [a, b] = [await service.createThing(), await service.createThing()]
    const commits = [commitsOf(service, a), commitsOf(service, b)]
    const admin = { username: 'operator', password: service.adminKey }
    const subscribers: { client: MqttClient; things: readonly Thing[] }[] = []
    for (const url of [service.mqttUrl, service.webSocketUrl]) {
      for (const qos of [0, 1] as const) {
        const everything = await service.connect({ url, ...admin })
        await everything.subscribe('things/+/values/+', qos)
        subscribers.push({ client: everything, things: [a, b] })
        for (const thing of [a, b]) {
          const own = await service.connect({ url, username: thing.thingToken })
          await own.subscribe(`things/${thing.thingId}/values/#`, qos)
          subscribers.push({ client: own, things: [thing] })
        }
      }
    }
    const perWriter = 60
    const writers = [a, b].flatMap((thing, which) =>
      ([0, 1, 2, 'HTTP'] as const).map(async door => {
        const value = (count: number) => `${which} ${door} ${count}`
        if (door === 'HTTP') {
          for (const count of numbers(perWriter)) await post(service, thing, reading(value(count)))
          return
        }
        const client = await service.connectThing(thing)
        const sending = numbers(perWriter).map(count =>
          client.publish(writeTopicOf(thing.thingToken), reading(value(count)), { qos: door as QoS }),
        )
        await Promise.all(sending)
        await client.publish(writeTopicOf(thing.thingToken), reading(value(perWriter)))
      }),
    )
    await Promise.all(writers)
    for (const [index, thing] of [a, b].entries()) {
      const committed = commits[index]?.flatMap(({ records }) =>
        records.map(({ value }) => JSON.parse(value)),
      )
      expect(committed).toHaveLength(4 * perWriter + 3)
      for (const { client, things } of subscribers) {
        if (!things.includes(thing)) continue
        await passed(service, thing, client)
        expect(valuesOf(client, 'n').filter(value => String(value).startsWith(`${index} `))).toEqual(
          committed,
        )
      }
    }
  })

  it('of one group commit reach a subscriber in commit order, each thing with its own', async () => {
    const service = await DoorService.start()
    const things = await Promise.all(numbers(20).map(() => service.createThing()))
    const admin = await service.connect({ username: 'operator', password: service.adminKey })
    await admin.subscribeAll(['things/+/values/+', 'v2/things/+'])
    const order: string[] = []
    service.things.records.onCommit(({ thingId, writeNumber }) => order.push(`${writeNumber} ${thingId}`))
    const told: string[] = []
    await Promise.all(things.flatMap(thing => numbers(10).map(value => post(service, thing, reading(value)))))
    const [thing] = things
    if (!thing) throw new Error('no thing')
    await passed(service, thing, admin)
    for (const { topic, payload } of messagesOf(admin, '/n'))
      told.push(`${topic} ${JSON.parse(payload).value}`)
    const expected = order.map(entry => `things/${entry.split(' ')[1]}/values/n`).slice(0, 200)
    expect(told.map(entry => entry.split(' ')[0])).toEqual(expected)
    expect(new Set(told).size).toBe(200)
    // The message of the whole write is behind those of its records.
    const topics = messagesOf(admin)
      .filter(message => !isMark(message))
      .map(({ topic }) => topic)
    const pairs = topics.flatMap((topic, index) => (index % 2 === 0 ? [[topic, topics[index + 1]]] : []))
    const together = ([values = '', whole = '']: (string | undefined)[]) =>
      `v2/${values.split('/').slice(0, 2).join('/')}` === whole
    expect(pairs.filter(pair => !together(pair))).toEqual([])
  })
})

describe.each(['HTTP', 'MQTT'] as const)('a write over %s', door => {
  async function open() {
    const { service, thing, seen } = await start()
    const writer = await service.connectThing(thing)
    const send = async (body: object) => {
      if (door === 'HTTP') await post(service, thing, body)
      else await writer.publish(writeTopicOf(thing.thingToken), body)
    }
    const later = async () => {
      const client = await service.connectThing(thing)
      await client.subscribe(`things/${thing.thingId}/values/#`)
      // Live messages are behind the retained ones.
      await passed(service, thing, client)
      return messagesOf(client)
        .filter(message => !isMark(message))
        .map(({ payload, retain }) => [JSON.parse(payload).value, retain])
    }
    return { service, thing, seen, send, later }
  }

  it('with store=false is told live, and to nobody later', async () => {
    const { service, thing, seen, send, later } = await open()
    await send(reading(1))
    await send({ ...reading(2), store: false })
    expect(await seen()).toMatchObject([
      ['things/I/values/n', { value: 1 }],
      ['v2/things/I', [{ value: 1 }]],
      ['things/I/values/n', { value: 2 }],
      ['v2/things/I', [{ value: 2 }]],
    ])
    expect(await later()).toEqual([[1, true]])
    expect(await service.values(thing, 'n')).toEqual([1])
  })

  it('with broadcast=false is told to nobody, and to a later subscriber as retained', async () => {
    const { seen, send, later } = await open()
    await send({ ...reading(1), broadcast: false })
    expect(await seen()).toEqual([])
    expect(await later()).toEqual([[1, true]])
  })

  it('with both flags false is told to nobody', async () => {
    const { seen, send, later } = await open()
    await send({ ...reading(1), store: false, broadcast: false })
    expect(await seen()).toEqual([])
    expect(await later()).toEqual([])
  })

  it('that is sent again is told once: by datetime, by write id, and as far as it is new', async () => {
    const { seen, send } = await open()
    const record = (value: unknown) => ({ key: 'n', value, datetime: '20260101000000' })
    await send({ values: [record(1)] })
    await send({ values: [record(1)] })
    await send({ values: [record({ b: 1, a: 2 }), record(1), record(2)] })
    await send({ values: [record({ a: 2, b: 1 }), record(2)] })
    await send({ ...reading('once'), id: 'x' })
    await send({ ...reading('other'), id: 'x' })
    await send({ ...reading('live'), id: 'y', store: false })
    await send({ ...reading('live'), id: 'y', store: false })
    const told = (await seen()).map(([topic, payload]) =>
      topic === 'v2/things/I' ? payload.map(({ value }: { value: unknown }) => value) : payload.value,
    )
    expect(told).toEqual([1, [1], { b: 1, a: 2 }, 2, [{ b: 1, a: 2 }, 2], 'once', ['once'], 'live', ['live']])
  })
})
