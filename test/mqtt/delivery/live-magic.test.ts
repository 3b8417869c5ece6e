import { describe, expect, it } from 'vitest'
import type { Thing } from '../../helpers/http-client.ts'
import type { MqttClient } from '../../helpers/mqtt-client.ts'
import { DoorService, writeTopicOf } from '../door-service.ts'
import { isMark, latestOverHttp, type Message, messagesOf, passed, post } from '../messages.ts'

const session = { clientId: 'board', clean: false }

async function start() {
  const service = await DoorService.start()
  const thing = await service.createThing()
  const subscriber = await service.connectThing(thing)
  await subscriber.subscribeAll([`things/${thing.thingId}/values/+`, `v2/things/${thing.thingId}`])
  return { service, thing, subscriber }
}

/** What a client is told of what has been written, as soon as that is applied. */
async function toldSince(
  service: DoorService,
  thing: Thing,
  client: MqttClient,
  before: number,
): Promise<Message[]> {
  await service.things.magic.whenApplied()
  await passed(service, thing, client)
  return messagesOf(client)
    .slice(before)
    .filter(message => !isMark(message))
}

const geo = (value: unknown, more: object = {}) => ({ values: [{ key: '$geo', value, ...more }] })
const point = (long: number, lat: number) => ({ type: 'Point', coordinates: [long, lat] })

describe('a write of $geo', () => {
  const forms = {
    'as GeoJSON': [geo(point(2, 1)), '[{"key":"$geo","value":{"type":"Point","coordinates":[2,1]}}]'],
    'as a pair': [geo([2, 1]), '[{"key":"$geo","value":[2,1]}]'],
    'with a height': [geo([2, 1, 100]), '[{"key":"$geo","value":[2,1,100]}]'],
    'as the position of a record': [
      geo(null, { geo: { lat: 1, long: 2 } }),
      '[{"key":"$geo","geo":{"lat":1,"long":2},"value":null}]',
    ],
    'with a datetime': [
      geo([2, 1], { datetime: '20260102030405' }),
      '[{"key":"$geo","datetime":"20260102030405","value":[2,1]}]',
    ],
  } as const

  it.each(Object.entries(forms))(
    '%s is told as it was sent, then as the new state, as REST gives it',
    async (_name, [body, whole]) => {
      const { service, thing, subscriber } = await start()
      await (await service.connectThing(thing)).publish(writeTopicOf(thing.thingId), body)
      const told = await toldSince(service, thing, subscriber, 0)
      expect(told.map(({ topic, payload }) => [topic, payload])).toEqual([
        [`v2/things/${thing.thingId}`, whole],
        [`things/${thing.thingId}/values/$geo`, await latestOverHttp(service, thing, '$geo')],
      ])
      for (const { qos, retain } of told) expect({ qos, retain }).toEqual({ qos: 1, retain: false })
      expect(JSON.parse(told[1]?.payload ?? '{}').value).toEqual(point(2, 1))
    },
  )

  it('that is late announces nothing, but is told as a write', async () => {
    const { service, thing, subscriber } = await start()
    await post(service, thing, geo([1, 1], { datetime: '20260103000000' }))
    const before = (await toldSince(service, thing, subscriber, 0)).length
    expect(before).toBe(2)
    await post(service, thing, geo([2, 2], { datetime: '20260102000000' }))
    const count = messagesOf(subscriber).length
    const told = await toldSince(service, thing, subscriber, 0)
    expect(count).toBeGreaterThan(0)
    expect(told.map(({ topic }) => topic).filter(topic => topic.endsWith('/$geo'))).toHaveLength(1)
    expect(told.filter(({ topic }) => topic.startsWith('v2/'))).toHaveLength(2)
  })
})

describe('a write of $settings', () => {
  it('is told as the whole new document, of a path too', async () => {
    const { service, thing, subscriber } = await start()
    const bodies = [
      { key: '$settings', value: { a: 1, b: { c: 2 } } },
      { key: '$settings.b.d', value: 'x' },
      { key: '$settings.a', value: null },
    ]
    const documents: unknown[] = []
    for (const body of bodies) {
      const before = messagesOf(subscriber).length
      await post(service, thing, { values: [body] })
      const told = await toldSince(service, thing, subscriber, before)
      expect(told.map(({ topic }) => topic)).toEqual([
        `v2/things/${thing.thingId}`,
        `things/${thing.thingId}/values/$settings`,
      ])
      expect(JSON.parse(told[0]?.payload ?? '')).toEqual([body])
      expect(told[1]?.payload).toBe(await latestOverHttp(service, thing, '$settings'))
      documents.push(JSON.parse(told[1]?.payload ?? '').value)
    }
    expect(documents).toEqual([{ a: 1, b: { c: 2 } }, { a: 1, b: { c: 2, d: 'x' } }, { b: { c: 2, d: 'x' } }])
  })
})

describe('a state', () => {
  it('that was changed without broadcast is told to nobody, and is there for a later subscriber', async () => {
    const { service, thing, subscriber } = await start()
    await post(service, thing, { ...geo([1, 1]), broadcast: false })
    expect(await toldSince(service, thing, subscriber, 0)).toEqual([])
    const later = await service.connectThing(thing)
    await later.subscribe(`things/${thing.thingId}/values/+`)
    await passed(service, thing, later)
    expect(messagesOf(later)[0]).toMatchObject({ topic: `things/${thing.thingId}/values/$geo`, retain: true })
  })

  it('that is deleted is told with an empty payload, a part of it with what is left', async () => {
    const { service, thing, subscriber } = await start()
    await post(service, thing, {
      values: [
        { key: '$settings', value: { a: 1, b: 2 } },
        { key: '$geo', value: [1, 1] },
      ],
    })
    await toldSince(service, thing, subscriber, 0)
    const headers = { authorization: `Bearer ${service.adminKey}` }
    const payloads: string[] = []
    for (const key of ['$settings.a', '$settings', '$geo']) {
      const before = messagesOf(subscriber).length
      const url = `${service.url}/v2/things/${thing.thingId}/resources/${key}`
      expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(200)
      const told = await toldSince(service, thing, subscriber, before)
      payloads.push(...told.map(({ topic, payload }) => `${topic.split('/').at(-1)} ${payload}`))
      expect(told[0]?.payload ?? '').toBe((await latestOverHttp(service, thing, key.replace('.a', ''))) ?? '')
    }
    expect(payloads).toHaveLength(3)
    expect(payloads[0]).toContain('"value":{"b":2}')
    expect(payloads.slice(1)).toEqual(['$settings ', '$geo '])
  })

  it('is missed by a session that was away like a record, in its place', async () => {
    const { service, thing } = await start()
    const { thingId } = thing
    const first = await service.connectThing(thing, session)
    await first.subscribeAll([`things/${thingId}/values/#`, `v2/things/${thingId}`])
    await passed(service, thing, first)
    await first.disconnect()
    const live = await service.connectThing(thing)
    await live.subscribeAll([`things/${thingId}/values/#`, `v2/things/${thingId}`])
    for (const value of [1, 2, 3]) {
      await post(service, thing, {
        values: [
          { key: 'n', value },
          { key: '$settings.v', value },
        ],
      })
      await post(service, thing, geo([value, value]))
    }
    const told = await toldSince(service, thing, live, 0)
    const second = await service.connectThing(thing, session)
    expect(await toldSince(service, thing, second, 0)).toEqual(told)
    expect(told).toHaveLength(3 * 5)
  })
})
