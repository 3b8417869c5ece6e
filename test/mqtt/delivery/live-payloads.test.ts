import type { QoS } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import { isOf, type MqttClient } from '../../helpers/mqtt-client.ts'
import { DoorService, writeTopicOf } from '../door-service.ts'
import { isMark, latestOverHttp, messagesOf, nextOn, passed, post } from '../messages.ts'

/** A record as it is written, and what the message of the whole write has of it: text, to be equal to the letter. */
const records: Readonly<Record<string, readonly [written: string, whole: string]>> = {
  'a number': ['{"key":"n","value":21.5}', '{"key":"n","value":21.5}'],
  'a number in another notation': ['{"key":"n","value":1.50e1}', '{"key":"n","value":15}'],
  'negative zero': ['{"key":"n","value":-0}', '{"key":"n","value":0}'],
  'a boolean': ['{"key":"n","value":false}', '{"key":"n","value":false}'],
  'an empty string': ['{"key":"n","value":""}', '{"key":"n","value":""}'],
  'a string with everything': [
    '{"key":"n","value":"\\"\\\\\\/\\u0000\\n ä€😀 \\ud800"}',
    '{"key":"n","value":"\\"\\\\/\\u0000\\n ä€😀 \\ud800"}',
  ],
  'an object with spaces': [
    ' { "value" : { "b" : [ 1 , null ] , "a" : {} } , "key" : "n" } ',
    '{"key":"n","value":{"b":[1,null],"a":{}}}',
  ],
  'an array': ['{"key":"n","value":[true,"x",{"y":null}]}', '{"key":"n","value":[true,"x",{"y":null}]}'],
  'a key with every symbol': ['{"key":"a.B-9_","value":1}', '{"key":"a.B-9_","value":1}'],
  'a position': [
    '{"value":1,"geo":{"long":-2.22,"lat":41.5},"key":"n"}',
    '{"key":"n","geo":{"lat":41.5,"long":-2.22},"value":1}',
  ],
  'a position alone': [
    '{"key":"n","value":null,"geo":{"lat":0,"long":180}}',
    '{"key":"n","geo":{"lat":0,"long":180},"value":null}',
  ],
  'a position of strings': [
    '{"key":"n","value":1,"geo":{"lat":"41.50","long":"-2"}}',
    '{"key":"n","geo":{"lat":41.5,"long":-2},"value":1}',
  ],
  'a datetime in the short form': [
    '{"key":"n","value":1,"datetime":"20260102030405"}',
    '{"key":"n","datetime":"20260102030405","value":1}',
  ],
  'a datetime with a T': [
    '{"key":"n","value":1,"datetime":"20260102T030405"}',
    '{"key":"n","datetime":"20260102T030405","value":1}',
  ],
  'a datetime with milliseconds': [
    '{"key":"n","value":1,"datetime":"20260102030405678"}',
    '{"key":"n","datetime":"20260102030405678","value":1}',
  ],
  'a datetime with a zone': [
    '{"key":"n","value":1,"datetime":"2026-01-02T03:04:05.6789+02:00","geo":{"lat":1,"long":2}}',
    '{"key":"n","geo":{"lat":1,"long":2},"datetime":"2026-01-02T03:04:05.6789+02:00","value":1}',
  ],
  'a datetime of null': ['{"key":"n","value":1,"datetime":null}', '{"key":"n","value":1}'],
  'fields that nobody knows': ['{"key":"n","value":1,"unit":"m"}', '{"key":"n","value":1}'],
}

const doors = ['HTTP', 'MQTT'] as const

async function start() {
  const service = await DoorService.start()
  const thing = await service.createThing()
  const subscriber = await service.connectThing(thing)
  const writer = await service.connectThing(thing)
  const send = async (door: (typeof doors)[number], body: string, qos: QoS = 1) => {
    if (door === 'MQTT') return await writer.publish(writeTopicOf(thing.thingToken), body, { qos })
    const url = `${service.url}/v2/things/${thing.thingToken}`
    expect((await fetch(url, { method: 'POST', body })).status).toBe(201)
  }
  return { service, thing, subscriber, send }
}

describe.each(doors)('a record that came over %s', door => {
  it.each(Object.entries(records))(
    'is told as REST gives it, and in the message of its write as written: %s',
    async (_name, [written, whole]) => {
      const { service, thing, subscriber, send } = await start()
      await subscriber.subscribeAll([`things/${thing.thingId}/values/+`, `v2/things/${thing.thingId}`])
      await send(door, `{"values":[${written}]}`)
      const array = await nextOn(subscriber, `v2/things/${thing.thingId}`)
      expect(array).toEqual({
        topic: `v2/things/${thing.thingId}`,
        payload: `[${whole}]`,
        qos: 1,
        retain: false,
        dup: false,
      })
      const { key } = JSON.parse(whole) as { key: string }
      const topic = `things/${thing.thingId}/values/${key}`
      expect(messagesOf(subscriber)[0]).toEqual({
        topic,
        payload: await latestOverHttp(service, thing, key),
        qos: 1,
        retain: false,
        dup: false,
      })
    },
  )
})

describe('a live message', () => {
  it('has the QoS that was granted, 1 at most, and no RETAIN, whatever its write came with', async () => {
    const { service, thing, send } = await start()
    const subscribers: MqttClient[] = []
    for (const granted of [0, 1, 2] as const) {
      const client = await service.connectThing(thing)
      expect(await client.subscribe(`things/${thing.thingId}/#`, granted)).toBe(granted)
      expect(await client.subscribe(`v2/things/${thing.thingId}`, granted)).toBe(granted)
      subscribers.push(client)
    }
    const writer = await service.connectThing(thing)
    const body = { values: [{ key: 'n', value: 1 }] }
    const topics = [writeTopicOf(thing.thingToken), `v2/things/${thing.thingId}`]
    for (const topic of topics) {
      for (const qos of [0, 1, 2] as const) {
        for (const retain of [false, true]) await writer.publish(topic, body, { qos, retain })
      }
    }
    await send('HTTP', JSON.stringify(body))
    await service.refuse(thing)
    const [witness] = subscribers
    if (!witness) throw new Error('no subscriber')
    await passed(service, thing, witness, ...subscribers)
    for (const [granted, client] of subscribers.entries()) {
      const messages = messagesOf(client).filter(({ topic }) => !topic.endsWith('/date'))
      expect(messages.filter(({ topic }) => topic.endsWith('/n'))).toHaveLength(13)
      expect(messages.filter(({ topic }) => topic.endsWith('/errors'))).toHaveLength(1)
      for (const { qos, retain, dup } of messages) {
        expect({ qos, retain, dup }).toEqual({ qos: Math.min(1, granted), retain: false, dup: false })
      }
    }
  })

  const overlapping: readonly (readonly [string, readonly (readonly [filter: string, qos: QoS][])[]])[] = [
    [
      'in one SUBSCRIBE',
      [
        [
          ['values/n', 0],
          ['values/+', 1],
          ['values/#', 0],
        ],
      ],
    ],
    [
      'in one SUBSCRIBE, the higher QoS first',
      [
        [
          ['#', 2],
          ['values/n', 0],
        ],
      ],
    ],
    ['one after the other', [[['values/n', 1]], [['+/n', 0]], [['#', 0]]]],
    ['the higher QoS last', [[['values/n', 0]], [['values/#', 1]]]],
  ]

  it.each(overlapping)(
    'comes once, at the highest QoS, where filters overlap: %s',
    async (_name, packets) => {
      const { service, thing, subscriber } = await start()
      for (const [index, filters] of packets.entries()) {
        const subscriptions = filters.map(([rest, qos]) => ({
          topic: `things/${thing.thingId}/${rest}`,
          qos,
        }))
        subscriber.send({ cmd: 'subscribe', messageId: 100 + index, subscriptions })
        await subscriber.next(isOf('suback', 100 + index))
      }
      const witness = await service.connectThing(thing)
      await witness.subscribe(`things/${thing.thingId}/values/mark`)
      await post(service, thing, {
        values: [
          { key: 'n', value: 1 },
          { key: 'n', value: 2 },
        ],
      })
      for (const _ of [1, 2]) await nextOn(subscriber, '/n')
      await passed(service, thing, witness, subscriber)
      const messages = messagesOf(subscriber, '/n').map(({ payload, qos }) => [
        JSON.parse(payload).value,
        qos,
      ])
      expect(messages).toEqual([
        [1, 1],
        [2, 1],
      ])
    },
  )

  it('comes at the lower QoS again once the higher filter is replaced', async () => {
    const { service, thing, subscriber } = await start()
    const filter = `things/${thing.thingId}/values/+`
    const seen: unknown[] = []
    for (const granted of [1, 0, 2, 0] as const) {
      await subscriber.subscribe(filter, granted)
      await post(service, thing, { values: [{ key: 'n', value: granted }] })
      seen.push((await nextOn(subscriber, '/n')).qos)
    }
    expect(seen).toEqual([1, 0, 1, 0])
  })

  it('is about nothing but the keys and kinds that the filters select', async () => {
    const { service, thing } = await start()
    const selections: readonly (readonly [filter: string, topics: readonly string[]])[] = [
      ['things/I/values/a', ['things/I/values/a']],
      ['things/I/values/+', ['things/I/values/a', 'things/I/values/b']],
      ['things/I/values/#', ['things/I/values/a', 'things/I/values/b']],
      ['things/I/values/a/#', ['things/I/values/a']],
      ['things/I/+/b', ['things/I/values/b']],
      ['things/I/+/+', ['things/I/values/a', 'things/I/values/b']],
      ['things/I/+', []],
      ['things/I/values', []],
      ['things/I/values/A', []],
      ['things/I/values/a/b', []],
      ['things/I/write', []],
      ['things/I/#', ['things/I/values/a', 'things/I/values/b']],
      ['v2/things/I', ['v2/things/I']],
      ['v2/things/I/#', ['v2/things/I']],
      ['v2/things/I/+', []],
    ]
    const spell = (text: string) => text.replace('I', thing.thingId)
    const clients: MqttClient[] = []
    for (const [filter] of selections) {
      const client = await service.connectThing(thing)
      expect(await client.subscribe(spell(filter))).toBe(1)
      clients.push(client)
    }
    const witness = await service.connectThing(thing)
    await witness.subscribe(`things/${thing.thingId}/values/mark`)
    await post(service, thing, {
      values: [
        { key: 'a', value: 1 },
        { key: 'b', value: 2 },
      ],
    })
    await passed(service, thing, witness, ...clients)
    const seen = clients.map(client =>
      messagesOf(client)
        .filter(message => !isMark(message) && !message.retain)
        .map(({ topic }) => topic),
    )
    expect(seen).toEqual(selections.map(([, topics]) => topics.map(spell)))
  })
})
