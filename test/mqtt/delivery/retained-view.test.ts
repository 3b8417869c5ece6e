import type { Packet } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import type { Thing } from '../../helpers/http-client.ts'
import { isOf, type MqttClient } from '../../helpers/mqtt-client.ts'
import { DoorService, reading, writeTopicOf } from '../door-service.ts'
import {
  isMark,
  latestOverHttp,
  type Message,
  messagesOf,
  nextOn,
  numbers,
  passed,
  post,
  valueIn,
} from '../messages.ts'

const session = { clientId: 'board', clean: false }

async function start() {
  const service = await DoorService.start()
  const thing = await service.createThing()
  const values = (rest: string) => `things/${thing.thingId}/values/${rest}`
  return { service, thing, values }
}

/** What a client gets as retained for one SUBSCRIBE of these filters, `<rest>` being that of `things/<id>/<rest>`. */
async function retainedFor(
  service: DoorService,
  thing: Thing,
  client: MqttClient,
  ...rests: string[]
): Promise<Message[]> {
  const before = messagesOf(client).length
  const filters = [...rests, 'values/mark'].map(rest => `things/${thing.thingId}/${rest}`)
  expect(await client.subscribeAll(filters)).toEqual(filters.map(() => 1))
  // Live messages are behind the retained ones.
  await passed(service, thing, client)
  return messagesOf(client)
    .slice(before)
    .filter(message => !isMark(message))
}

const record = (key: string, value: unknown, day: number) => ({
  key,
  value,
  datetime: `202601${String(day).padStart(2, '0')}000000`,
})

async function remove({ url, adminKey }: DoorService, { thingId }: Thing, keyAndQuery: string) {
  const headers = { authorization: `Bearer ${adminKey}` }
  const path = `${url}/v2/things/${thingId}/resources/${keyAndQuery}`
  const response = await fetch(path, { method: 'DELETE', headers })
  expect(response.status).toBe(200)
}

describe('SUBSCRIBE', () => {
  const filters = {
    'values/a': ['a'],
    'values/+': ['a', 'b', 'c'],
    'values/#': ['a', 'b', 'c'],
    'values/b/#': ['b'],
    '+/c': ['c'],
    '+/+': ['a', 'b', 'c'],
    '+/#': ['a', 'b', 'c'],
    'values/nothing': [],
    'values/a/b': [],
    values: [],
    errors: [],
    write: [],
  }

  it.each(Object.entries(filters))(
    'is answered with the latest of each resource that %s selects, with RETAIN, as REST gives it, behind SUBACK',
    async (filter, keys) => {
      const { service, thing } = await start()
      const other = await service.createThing()
      await post(service, other, { values: [record('a', 'of another thing', 9)] })
      await post(service, thing, { values: [record('b', 'late', 2), record('a', { x: [1, 'ä'] }, 1)] })
      await post(service, thing, {
        values: [record('b', 'early', 1), { ...record('c', 1, 1), geo: { lat: 1, long: 2 } }],
      })
      await post(service, thing, { values: [record('c', 'the same datetime, later', 1)] })
      await post(service, thing, { values: [reading(5, 'a').values[0]], store: false })
      const client = await service.connectThing(thing)
      const seen = await retainedFor(service, thing, client, filter)
      const expected = await Promise.all(
        keys.map(async key => ({
          topic: `things/${thing.thingId}/values/${key}`,
          payload: await latestOverHttp(service, thing, key),
          qos: 1,
          retain: true,
          dup: false,
        })),
      )
      const byTopic = (a: { topic: string }, b: { topic: string }) => (a.topic < b.topic ? -1 : 1)
      expect(seen.filter(({ topic }) => !topic.endsWith('/date')).sort(byTopic)).toEqual(expected)
      const commands = client.received.map(({ cmd }: Packet) => cmd)
      expect(commands.slice(0, 2)).toEqual(['connack', 'suback'])
    },
  )

  it.each([0, 1, 2] as const)(
    'at QoS %i is answered with retained messages at that QoS, 1 at most',
    async qos => {
      const { service, thing, values } = await start()
      await post(service, thing, { values: [record('a', 1, 1), record('b', 2, 1)] })
      const client = await service.connectThing(thing)
      expect(await client.subscribeAll([values('+'), `things/${thing.thingId}/date`], qos)).toEqual([
        qos,
        qos,
      ])
      await passed(service, thing, client)
      const retained = messagesOf(client).filter(({ retain }) => retain)
      expect(retained.map(({ qos }) => qos)).toEqual(numbers(3).map(() => Math.min(1, qos)))
    },
  )

  it('is answered with each resource once, at the highest QoS, where its filters overlap', async () => {
    const { service, thing, values } = await start()
    await post(service, thing, { values: [record('a', 1, 1), record('b', 2, 1), record('c', 3, 1)] })
    const orders: (readonly (readonly [string, 0 | 1 | 2])[])[] = [
      [
        [values('a'), 0],
        [values('+'), 0],
        [values('b'), 1],
        [values('#'), 0],
        [values('mark'), 0],
      ],
      [
        [values('b'), 2],
        [values('#'), 0],
        [values('+'), 0],
      ],
      [
        [values('#'), 0],
        [values(`b`), 1],
        [`things/${thing.thingToken}/values/b`, 1],
      ],
    ]
    for (const order of orders) {
      const client = await service.connectThing(thing)
      const subscriptions = order.map(([topic, qos]) => ({ topic, qos }))
      client.send({ cmd: 'subscribe', messageId: 5, subscriptions })
      await client.next(isOf('suback', 5))
      await passed(service, thing, client)
      const seen = messagesOf(client)
        .filter(({ retain }) => retain)
        .map(({ payload, qos }) => [JSON.parse(payload).key, qos])
      expect(seen.sort()).toEqual([
        ['a', 0],
        ['b', 1],
        ['c', 0],
      ])
    }
  })

  it('is answered again when it comes again, with what is latest then', async () => {
    const { service, thing } = await start()
    const client = await service.connectThing(thing)
    for (const value of numbers(3)) {
      await post(service, thing, { values: [record('a', value, value + 1)] })
      const seen = await retainedFor(service, thing, client, 'values/a')
      expect(seen.filter(({ retain }) => retain).map(({ payload }) => valueIn(payload))).toEqual([value])
      if (value === 1) await client.unsubscribe(`things/${thing.thingId}/values/a`)
    }
  })

  it('is answered for each of several in one segment', async () => {
    const { service, thing, values } = await start()
    await post(service, thing, { values: [record('a', 1, 1), record('b', 2, 1)] })
    const filters = [values('a'), values('b'), values('+'), values('mark'), values('a')]
    const pipelined = filters.map(
      (topic, index): Packet => ({
        cmd: 'subscribe',
        messageId: index + 1,
        subscriptions: [{ topic, qos: 1 }],
      }),
    )
    const client = await service.connectThing(thing, { pipelined })
    await client.next(isOf('suback', filters.length))
    await passed(service, thing, client)
    const keys = messagesOf(client)
      .filter(({ retain }) => retain)
      .map(({ payload }) => JSON.parse(payload).key)
    expect(keys).toEqual(['a', 'b', 'a', 'b', 'a'])
  })

  it('by the admin for every thing is answered with those of every thing that there is', async () => {
    const { service, thing } = await start()
    const [other, removed] = [await service.createThing(), await service.createThing()]
    for (const each of [thing, other, removed]) {
      await post(service, each, { values: [record('a', each.thingId, 1), record('b', 1, 1)] })
    }
    await service.things.registry.remove(removed.thingId)
    const expected = [thing, other].map(({ thingId }) => thingId).sort()
    for (const filter of ['things/+/values/a', 'things/+/values/+', 'things/+/values/#', 'things/+/#']) {
      const admin = await service.connect({ username: 'operator', password: service.adminKey })
      await admin.subscribeAll([filter, `things/${thing.thingId}/values/mark`])
      await passed(service, thing, admin)
      const seen = messagesOf(admin, '/a').map(({ topic, payload }) => [
        topic.split('/')[1],
        valueIn(payload),
      ])
      expect(seen.sort()).toEqual(expected.map(thingId => [thingId, thingId]))
      expect(messagesOf(admin, '/b')).toHaveLength(filter.endsWith('/a') ? 0 : 2)
    }
  })

  it('is answered with thousands, each once, however slowly they are read, and live messages behind them', async () => {
    const { service, thing, values } = await start()
    const keys = numbers(3_000).map(key => `key-${key}`)
    await post(service, thing, { values: keys.map(key => record(key, 'x'.repeat(200), 1)) })
    for (const qos of [0, 1] as const) {
      const client = await service.connectThing(thing)
      await client.subscribe(values('#'), qos)
      client.stream.pause()
      for (const value of numbers(20)) await post(service, thing, reading(value))
      client.stream.resume()
      await passed(service, thing, client)
      const seen = messagesOf(client).filter(message => !isMark(message) && !message.topic.endsWith('/n'))
      expect(seen.map(({ payload }) => JSON.parse(payload).key).sort()).toEqual(keys.toSorted())
      const live = messagesOf(client, '/n').filter(({ retain }) => !retain)
      expect(live.map(({ payload }) => valueIn(payload))).toEqual(numbers(20))
      expect(messagesOf(client).findLastIndex(({ retain }) => retain)).toBeLessThan(
        messagesOf(client).findIndex(({ retain, topic }) => topic.endsWith('/n') && !retain),
      )
    }
  })
})

describe('a session that is found again', () => {
  it('is sent nothing as retained that its client has acknowledged', async () => {
    const { service, thing, values } = await start()
    await post(service, thing, { values: [record('a', 1, 1)] })
    const first = await service.connectThing(thing, session)
    await first.subscribeAll([values('#'), `things/${thing.thingId}/date`])
    await passed(service, thing, first)
    expect(messagesOf(first).filter(({ retain }) => retain)).toHaveLength(2)
    await first.disconnect()
    const second = await service.connectThing(thing, session)
    await passed(service, thing, second)
    expect(messagesOf(second).filter(message => !isMark(message))).toEqual([])
  })
})

describe('a session that is found again before it has acknowledged what was retained', () => {
  it('is sent what is latest now, with RETAIN, behind what it missed', async () => {
    const { service, thing, values } = await start()
    await post(service, thing, { values: [record('a', 1, 1), record('b', 1, 1)] })
    const first = await service.connect({ acknowledges: false, username: thing.thingToken, ...session })
    await first.subscribeAll([values('a'), values('b')])
    for (const _ of numbers(2)) await first.next(isOf('publish'))
    await first.destroy()
    await post(service, thing, { values: [record('a', 2, 2)] })
    for (const restarts of [false, true]) {
      const current = restarts ? await service.restart() : service
      const second = await current.connect({ acknowledges: false, username: thing.thingToken, ...session })
      await second.subscribe(values('mark'))
      await passed(current, thing, second)
      const seen = messagesOf(second).filter(message => !isMark(message))
      expect(seen.map(({ topic, payload, retain }) => [topic, valueIn(payload), retain])).toEqual([
        [values('a'), 2, false],
        [values('a'), 2, true],
        [values('b'), 1, true],
      ])
      await second.destroy()
    }
  })
})

describe('a client', () => {
  it('cannot set or clear what others get as retained', async () => {
    const { service, thing, values } = await start()
    const writer = await service.connectThing(thing)
    const topics = [writeTopicOf(thing.thingToken), `v2/things/${thing.thingId}`, values('a'), values('b')]
    await writer.publish(writeTopicOf(thing.thingId), { values: [record('a', 1, 2)] }, { retain: true })
    await writer.publish(writeTopicOf(thing.thingId), { values: [record('a', 0, 1)] }, { retain: true })
    for (const topic of [...topics, `things/${thing.thingId}/errors`, `things/${thing.thingId}/date`]) {
      for (const qos of [0, 1, 2] as const) {
        await writer.publish(topic, 'of a client', { qos, retain: true })
        await writer.publish(topic, '', { qos, retain: true })
      }
    }
    const will = { topic: writeTopicOf(thing.thingId), payload: 'no write', qos: 1, retain: true } as const
    await (await service.connectThing(thing, { will })).destroy()
    const client = await service.connectThing(thing)
    const seen = await retainedFor(service, thing, client, '#')
    const retained = seen.filter(({ retain, topic }) => retain && !topic.endsWith('/date'))
    expect(retained.map(({ topic, payload }) => [topic, valueIn(payload)])).toEqual([[values('a'), 1]])
    expect(messagesOf(client).filter(({ payload }) => payload === 'of a client')).toEqual([])
  })
})

describe('deleting records', () => {
  it('is told live with the new latest, or an empty payload, if the latest was among them', async () => {
    const { service, thing, values } = await start()
    await post(service, thing, { values: numbers(5).map(index => record('a', index, index + 1)) })
    await post(service, thing, { values: [record('b', 'b', 1)] })
    const client = await service.connectThing(thing)
    await client.subscribeAll([values('+'), `v2/things/${thing.thingId}`])
    await passed(service, thing, client)
    const steps: readonly (readonly [query: string, told: readonly unknown[]])[] = [
      ['a?endDate=20260102000000', []],
      ['a?startDate=20260103000000&endDate=20260104000000', []],
      ['a?startDate=20270101000000', []],
      ['a?startDate=20260105000000', [3]],
      ['a', [undefined]],
      ['a', []],
    ]
    for (const [query, told] of steps) {
      const before = messagesOf(client).length
      await remove(service, thing, query)
      await passed(service, thing, client)
      const seen = messagesOf(client)
        .slice(before)
        .filter(message => !isMark(message))
      expect(seen.map(({ payload }) => valueIn(payload))).toEqual(told)
      for (const { topic, payload, qos, retain } of seen) {
        expect({ topic, qos, retain }).toEqual({ topic: values('a'), qos: 1, retain: false })
        expect(payload).toBe((await latestOverHttp(service, thing, 'a')) ?? '')
      }
      const later = await retainedFor(service, thing, await service.connectThing(thing), 'values/+')
      const expected = [await latestOverHttp(service, thing, 'a'), await latestOverHttp(service, thing, 'b')]
      expect(later.map(({ payload }) => payload)).toEqual(expected.filter(payload => payload !== undefined))
    }
  })

  it('is told to a session that was away, in its place', async () => {
    const { service, thing, values } = await start()
    const first = await service.connectThing(thing, session)
    await first.subscribe(values('a'))
    await first.disconnect()
    await post(service, thing, { values: [record('a', 1, 1), record('a', 2, 2)] })
    await remove(service, thing, 'a?startDate=20260102000000')
    await remove(service, thing, 'a')
    await post(service, thing, { values: [record('a', 3, 3)] })
    const second = await service.connectThing(thing, session)
    const seen: unknown[] = []
    for (const _ of numbers(5)) seen.push(valueIn((await nextOn(second, '/a')).payload))
    expect(seen).toEqual([1, 2, 1, undefined, 3])
  })
})

it('things/<ref>/limits is sent once, with RETAIN, to who subscribes to it by name', async () => {
  const { service, thing } = await start()
  const client = await service.connectThing(thing)
  await retainedFor(service, thing, client, '#', '+')
  expect(messagesOf(client, '/limits')).toEqual([])
  const seen = await retainedFor(service, thing, client, 'limits')
  expect(seen).toMatchObject([{ payload: '{"maxPacketSize":1048576,"meta":true}', qos: 1, retain: true }])
})

describe('things/<ref>/date', () => {
  const dateForm = /^\[\{"key":"date","value":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"\}\]$/

  it.each(['date', '+', '#', '+/#'])('is sent once, with RETAIN, to who subscribes to %s', async rest => {
    const { service, thing } = await start()
    const before = new Date()
    const client = await service.connectThing(thing)
    const seen = (await retainedFor(service, thing, client, rest)).filter(({ topic }) =>
      topic.endsWith('/date'),
    )
    expect(seen).toEqual([
      {
        topic: `things/${thing.thingId}/date`,
        payload: expect.stringMatching(dateForm),
        qos: 1,
        retain: true,
        dup: false,
      },
    ])
    const [{ value } = { value: '' }] = JSON.parse(seen[0]?.payload ?? '[]') as { value: string }[]
    expect(Date.parse(value)).toBeGreaterThanOrEqual(before.getTime() - 1)
    expect(Date.parse(value)).toBeLessThanOrEqual(Date.now())
    await post(service, thing, reading(1))
    await passed(service, thing, client)
    expect(messagesOf(client, '/date')).toHaveLength(1)
  })

  it('is sent once where filters overlap, and again for each SUBSCRIBE', async () => {
    const { service, thing } = await start()
    const client = await service.connectThing(thing)
    for (const count of [1, 2]) {
      await retainedFor(service, thing, client, 'date', '+', '#')
      expect(messagesOf(client, '/date')).toHaveLength(count)
    }
  })

  it('is sent under the spelling of the subscription, for every thing that was named', async () => {
    const { service, thing } = await start()
    const other = await service.createThing()
    const client = await service.connect()
    const topics = [`things/${thing.thingToken}/date`, `things/${other.thingToken}/date`]
    await client.subscribeAll(topics)
    for (const topic of topics)
      await client.next(packet => packet.cmd === 'publish' && packet.topic === topic)
  })
})
